#!/usr/bin/env bash
# proxy_others_test <build tree>: the proxy in front of and behind HAProxy and nginx, with the PROXY protocol in both
# directions.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs haproxy nginx curl

others=()
end_others() {
  local pid
  for pid in "${others[@]}"; do kill -KILL "$pid" 2> /dev/null || true; done
}
trap 'end_others; cleanup' EXIT

# free_ports <variable...>: sets each to an unused port below the ephemeral range. Another program may take the port
# before its use; then the server for it does not start.
plain_port='' proxied_port='' front_port='' v1_port='' v2_port='' behind_port=''
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

# run_nginx <directory> <servers> <port that it will listen on>
run_nginx() {
  mkdir "$work/$1"
  cat > "$work/$1/nginx.conf" << CONF
daemon off; master_process off; pid $work/$1/nginx.pid; error_log $work/$1/nginx.log;
events { worker_connections 128; }
http {
  access_log off;
  client_body_temp_path $work/$1/body; proxy_temp_path $work/$1/proxy; fastcgi_temp_path $work/$1/fastcgi;
  uwsgi_temp_path $work/$1/uwsgi; scgi_temp_path $work/$1/scgi;
  $2
}
CONF
  nginx -c "$work/$1/nginx.conf" -e "$work/$1/nginx.log" 2> "$work/nginx.log" &
  others+=($!)
  await_port "$3"
}
# nginx behind the proxy: replies with the client's address, as seen by the socket or as named by the PROXY header.
start_nginx_behind() {
  free_ports plain_port proxied_port
  run_nginx behind "
    server { listen 127.0.0.1:$plain_port; location / { return 200 \"plain \$remote_addr\n\"; } }
    server {
      listen 127.0.0.1:$proxied_port proxy_protocol;
      location / { return 200 \"\$proxy_protocol_addr \$proxy_protocol_server_port\n\"; }
    }" "$plain_port"
}
# start_nginx_before <directory> <port>: nginx in front of the port.
start_nginx_before() {
  free_ports front_port
  run_nginx "$1" "server { listen 127.0.0.1:$front_port; location / { proxy_pass http://127.0.0.1:$2; } }" "$front_port"
}

# start_haproxy <port>: HAProxy in front of the port, with headers of versions 1 and 2. Also behind the proxy: there it
# replies with the addresses of the header.
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
  await_port "$v2_port"
}

ask() { curl --silent --show-error --max-time 10 "$@"; }
# answers <expected> <port> [option of curl...]
answers() {
  local got
  got=$(ask "${@:3}" "http://127.0.0.1:$2/")
  [[ $got == "$1" ]] || fail "port $2 answers '$got' and not '$1'"
}

start_nginx_behind
start_haproxy 1  # nothing listens on port 1
for model in "${models[@]}"; do
  # Header out: the server behind sees the client's address, not the proxy's, and the port that the client called.
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
  # Header in, from HAProxy, and out again: nginx sees the address of HAProxy's client.
  start proxy --model "$model" --accept-proxy --send-proxy-v2 --upstream "127.0.0.1:$proxied_port"
  start_haproxy "$port"
  answers "127.0.0.6 $v1_port" "$v1_port" --interface 127.0.0.6
  answers "127.0.0.6 $v2_port" "$v2_port" --interface 127.0.0.6
  # A client without a header is refused.
  ! ask "http://127.0.0.1:$port/" > /dev/null 2>&1 || fail 'a client without a header was served'
  warned 'a connection is refused: .*PROXY header'
  stop
  # nginx on both sides.
  start proxy --model "$model" --upstream "127.0.0.1:$plain_port"
  start_nginx_before "$model" "$port"
  answers 'plain 127.0.0.1' "$front_port"
  stop
  while ((${#others[@]} > others_before)); do
    kill -KILL "${others[-1]}"
    wait "${others[-1]}" 2> /dev/null || true
    unset 'others[-1]'
  done
  echo "$model: ok"
done
