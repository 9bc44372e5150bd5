#!/usr/bin/env bash
# tutorial_pages_test <build tree>: the commands that the tutorial shows print what it shows.
# ctest: TIMEOUT 300
#
# A block ```console has lines "$ COMMAND", each before its output. After <!-- numbers vary --> all numbers of a block
# may differ. The blocks of a page are one session of a shell. The ports of the pages, 71xx, become ports of this test.
# A server that announces nothing has its address on its command line.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
pages=$(dirname "$0")/../../doc/tutorial

# Picks the first digits of ports on which nobody listens.
pick_prefix() {
  local tries port
  for ((tries = 0; tries < 50; ++tries)); do
    prefix=$((200 + RANDOM % 100))
    for port in 01 02 03 04 05 06 07; do
      ! (exec 9<> "/dev/tcp/127.0.0.1/$prefix$port") 2> /dev/null || continue 2
    done
    return
  done
  fail 'finds no free ports'
}

# blocks <page>: prints the blocks; each line begins with "exact " or "vary ".
blocks() {
  awk '/^<!-- numbers vary -->$/ {how = "vary "} /^```console$/ {inside = 1; how = how == "" ? "exact " : how; next}
       /^```$/ && inside {inside = 0; how = ""} inside {print how $0}' "$1"
}

# wait_for_port <port>: waits until somebody listens there.
wait_for_port() {
  local i
  for ((i = 0; i < 500; ++i)); do
    ! (exec 9<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null || return 0
    sleep 0.02
  done
}

# Where nc is missing: `nc -q 1 HOST PORT` sends its input, and prints the answer until the server closes.
command -v nc > /dev/null || nc() {
  python3 -c 'import socket, sys
with socket.create_connection((sys.argv[3], int(sys.argv[4]))) as server:
    server.sendall(sys.stdin.buffer.read())
    server.shutdown(socket.SHUT_WR)
    while some := server.recv(4096):
        sys.stdout.buffer.write(some)' "$@"
}

# perform <command> <page>: runs the command, whose expected output is in $expected, and compares.
perform() {
  local i
  case $1 in
    *' &')
      : > "$work/out"
      if [[ $1 =~ 127\.0\.0\.1:([0-9]+) ]]; then
        eval "${1% &} > $work/out 2>&1 &"
        server_pid=$!
        wait_for_port "${BASH_REMATCH[1]}"
      elif [[ $(cat "$work/expected") =~ 127\.0\.0\.1:([0-9]+) ]]; then
        eval "${1% &} --port ${BASH_REMATCH[1]} > $work/out 2>&1 &"
        server_pid=$!
      else
        fail "$2: '$1' announces no port"
      fi
      for ((i = 0; i < 500; ++i)); do
        (($(wc -l < "$work/out") < $(wc -l < "$work/expected"))) || break
        sleep 0.02
      done
      ;;
    'kill %1') kill -TERM "$server_pid"; end_server "$2" ;;
    'wait %1') end_server "$2" ;;
    *) eval "$1" > "$work/out" 2>&1 || true ;;
  esac
  if [[ $how == vary ]]; then sed -Ei 's/[0-9]+/N/g' "$work/out" "$work/expected"; fi
  diff "$work/expected" "$work/out" >&2 || fail "$2: '$1' prints something else (> is what it prints)"
  : > "$work/out"
}
end_server() {
  : > "$work/out"
  wait "$server_pid" || fail "$1: the server ends with status $?"
  server_pid=''
}

run_page() {
  local line command='' how='' commands=0
  : > "$work/expected"
  while IFS= read -r -u 8 line; do
    if [[ $line == 'exact $ '* || $line == 'vary $ '* ]]; then
      [[ -z $command ]] || perform "$command" "$1"
      how=${line%% *} command=${line#* \$ } commands=$((commands + 1))
      : > "$work/expected"
    else
      echo "${line#* }" >> "$work/expected"
    fi
  done 8< <(blocks "$1" | sed -E "s/\\b71([01][0-9])\\b/$prefix\\1/g; s#build/dev/examples/|\\./(step1_)#$examples/\\1#g")
  [[ -z $command ]] || perform "$command" "$1"
  ((commands > 0)) || fail "$1 shows no command"
  [[ -z $server_pid ]] || fail "$1: does not end its server"
}

pick_prefix
export PSQLRC=/dev/null
for page in "$pages"/*.md; do
  [[ $page != */7_postgres.md ]] || needs psql  # the last page: the others have been tried
  run_page "$page"
done
