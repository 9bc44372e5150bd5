#!/usr/bin/env bash
# proxy_others_test <build tree>: the proxy before and behind HAProxy and nginx, with the PROXY protocol in both
# directions, and in place of a server.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs haproxy nginx curl

others=()
end_others() {
  local pid
  for pid in "${others[@]}"; do kill -KILL "$pid" 2> /dev/null || true; done
}
trap 'end_others; cleanup' EXIT

# free_ports <variable...>: below those that the system picks, and nobody listens there. Another program may take one
# before it is used; then what wants it does not start.
last_port=$((20000 + RANDOM % 12000))
free_ports() {
  local variable
  for variable; do
    while ((++last_port)) && (: < "/dev/tcp/127.0.0.1/$last_port") 2> /dev/null; do :; done
    printf -v "$variable" %s "$last_port"
  done
}
await_port() {
  local i
  for ((i = 0; i < 500; ++i)); do
    (: < "/dev/tcp/127.0.0.1/$1") 2> /dev/null && return
    sleep 0.02
  done
  fail "nobody listens on $1: $(cat "$work"/*.log)"
}

# A server that says whom it takes for the client: with the protocol, whom the header names.
start_nginx() {
  free_ports plain_port proxied_port front_port
  cat > "$work/nginx.conf" << CONF
daemon off; master_process off; pid $work/nginx.pid; error_log $work/nginx.log;
events { worker_connections 128; }
http {
  access_log off;
  client_body_temp_path $work/body; proxy_temp_path $work/proxy; fastcgi_temp_path $work/fastcgi;
  uwsgi_temp_path $work/uwsgi; scgi_temp_path $work/scgi;
  server { listen 127.0.0.1:$plain_port; location / { return 200 "plain \$remote_addr\n"; } }
  server {
    listen 127.0.0.1:$proxied_port proxy_protocol;
    location / { return 200 "\$proxy_protocol_addr \$proxy_protocol_server_port\n"; }
  }
  server { listen 127.0.0.1:$front_port; location / { proxy_pass http://127.0.0.1:$1; } }
}
CONF
  nginx -c "$work/nginx.conf" -e "$work/nginx.log" 2> "$work/nginx_start.log" &
  others+=($!)
  await_port "$plain_port"
}

# HAProxy before the port $1 with the protocol of version 1 and of 2, and behind: it hands on to the port $2 what comes
# with a header, which it checks.
start_haproxy() {
  free_ports v1_port v2_port behind_port
  cat > "$work/haproxy.cfg" << CONF
defaults
  mode tcp
  timeout connect 5s
  timeout client 10s
  timeout server 10s
listen v1
  bind 127.0.0.1:$v1_port
  server s 127.0.0.1:$1 send-proxy
listen v2
  bind 127.0.0.1:$v2_port
  server s 127.0.0.1:$1 send-proxy-v2 proxy-v2-options unique-id,crc32c
  unique-id-format %rt
frontend behind
  bind 127.0.0.1:$behind_port accept-proxy
  mode http
  http-request return status 200 content-type text/plain lf-string "%[src] %[dst_port]\n"
CONF
  haproxy -db -f "$work/haproxy.cfg" 2> "$work/haproxy.log" &
  others+=($!)
  await_port "$behind_port"
}

ask() { curl --silent --show-error --max-time 10 "$@"; }
# answers <expected> <port> [option of curl...]
answers() {
  local got
  got=$(ask "${@:3}" "http://127.0.0.1:$2/")
  [[ $got == "$1" ]] || fail "port $2 answers '$got' and not '$1'"
}

# The servers behind know nothing of the proxy's port, and nginx in front does: it comes last.
start_nginx 1
start_haproxy 1
for model in "${models[@]}"; do
  # Header out: the server behind sees the client's address, not the proxy's, and the port that it has called.
  for option in --send-proxy --send-proxy-v2; do
    start proxy --model "$model" --upstream "127.0.0.1:$proxied_port" "$option"
    answers "127.0.0.5 $port" "$port" --interface 127.0.0.5
    stop
    start proxy --model "$model" --upstream "127.0.0.1:$behind_port" "$option"
    answers "127.0.0.5 $port" "$port" --interface 127.0.0.5
    stop
  done
done

others_before=${#others[@]}
for model in "${models[@]}"; do
  # Header in, from HAProxy, and out again: what HAProxy's client was is what nginx sees.
  start proxy --model "$model" --accept-proxy --send-proxy-v2 --upstream "127.0.0.1:$proxied_port"
  start_haproxy "$port"
  answers "127.0.0.6 $v1_port" "$v1_port" --interface 127.0.0.6
  answers "127.0.0.6 $v2_port" "$v2_port" --interface 127.0.0.6
  # Without a header there is no way in.
  ! ask "http://127.0.0.1:$port/" > /dev/null 2>&1 || fail 'a client without a header was served'
  stop
  # nginx in front, and a file through nginx behind.
  start proxy --model "$model" --upstream "127.0.0.1:$plain_port"
  start_nginx "$port"
  answers 'plain 127.0.0.1' "$front_port"
  stop
  while ((${#others[@]} > others_before)); do
    kill -KILL "${others[-1]}"
    wait "${others[-1]}" 2> /dev/null || true
    unset 'others[-1]'
  done
  echo "$model: ok"
done

# The server mode, with and without keep-alive.
start proxy --keep-alive
[[ $(ask -o /dev/null -o /dev/null -w '%{num_connects} ' "http://127.0.0.1:$port/" "http://127.0.0.1:$port/") == '1 0 ' ]] ||
  fail 'the connection is not kept'
stop
start proxy
[[ $(ask -o /dev/null -o /dev/null -w '%{num_connects} ' "http://127.0.0.1:$port/" "http://127.0.0.1:$port/") == '1 1 ' ]] ||
  fail 'the connection is kept'
stop
