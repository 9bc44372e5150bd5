# shellcheck shell=bash disable=SC2034
# lib: starts an example on a port that the system picks, talks to it, stops it. Sourced with $1, the build tree.
set -euo pipefail
examples=$1/examples
work=$(mktemp -d)
server_pid=''
launcher=()  # a command that executes the example with its own arguments, as env does
cleanup() {
  [[ -z $server_pid ]] || kill -KILL "$server_pid" 2> /dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
# shellcheck source=cmake/tests/needs.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../cmake/tests/needs.sh"

# in_background <output> <errors> <example> [option...]: starts it; its pid: server_pid. Both files are empty from here on:
# the shell opens them later, in the new process, and says() must not find what an earlier program left in them.
in_background() {
  : > "$1"
  : > "$2"
  "${launcher[@]}" "$examples/$3" "${@:4}" >> "$1" 2>> "$2" &
  server_pid=$!
}

# start <example> [option...]: sets server_pid, port and priority_port (empty without one).
start() {
  in_background "$work/announced" "$work/errors" "$1" --port 0 "${@:2}"
  local i line=''
  for ((i = 0; i < 500; ++i)); do
    if read -r line < "$work/announced"; then break; fi
    kill -0 "$server_pid" 2> /dev/null || fail "$* ended at once: $(cat "$work/errors")"
    sleep 0.02
  done
  [[ $line =~ ^($1:\ [a-z_,\ ]*|listening\ on\ )127\.0\.0\.1:([0-9]+)(, priority 127\.0\.0\.1:([0-9]+))?$ ]] || fail "$* announced '$line'"
  port=${BASH_REMATCH[2]} priority_port=${BASH_REMATCH[4]:-}
}

# stop [signal]: sends it, and requires an end.
stop() {
  kill -"${1:-TERM}" "$server_pid"
  await_end
}

# await_end [pattern]: the server must exit within ten seconds, with status 0 and nothing on standard error but lines that match.
await_end() {
  local i status=0 allowed=${1:-^$}
  for ((i = 0; i < 500; ++i)); do
    kill -0 "$server_pid" 2> /dev/null || break
    sleep 0.02
  done
  ((i < 500)) || fail 'it does not end'
  wait "$server_pid" || status=$?
  server_pid=''
  ((status == 0)) || fail "exit status $status: $(cat "$work/errors")"
  ! grep -qvE "$allowed" "$work/errors" || fail "printed: $(cat "$work/errors")"
}

# says <pattern> [file]: waits until a line of the program's output, or of the file, matches.
says() {
  local i file=${2:-$work/announced}
  for ((i = 0; i < 500; ++i)); do
    grep -qE "$1" "$file" && return
    sleep 0.02
  done
  fail "it does not print '$1': $(cat "$file")"
}

# warned <pattern>: waits until standard error has such a line, and requires that it has no others. stop() forgives them.
warned() {
  says "$1" "$work/errors"
  ! grep -vE "$1" "$work/errors" || fail 'unexpected lines on standard error'
  : > "$work/errors"
}

# refuses <example> <option...>: it must end at once, with one line on standard error and status 1 or 2.
refuses() {
  local status=0
  "$examples/$1" --listen 127.0.0.1:0 "${@:2}" > "$work/announced" 2> "$work/errors" || status=$?
  [[ $status == [12] && $(wc -l < "$work/errors") == 1 ]] || fail "$*: exit status $status: $(cat "$work/errors")"
}

# python_with <module>: prints the first interpreter that has the module. Debian's packages are for /usr/bin/python3.
python_with() {
  local candidate
  for candidate in "${QUINTET_PYTHON:-python3}" python3 /usr/bin/python3; do
    if "$candidate" -c "import $1" 2> /dev/null; then echo "$candidate"; return; fi
  done
}

# make_certificate: key.pem and cert.pem in $work, for localhost and 127.0.0.1.
make_certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2> /dev/null
}

# talk <port> <printf format> [seconds]: sends the text and prints the reply until the server closes. Default: 1 second.
talk() {
  exec 3<> "/dev/tcp/127.0.0.1/$1"
  # shellcheck disable=SC2059
  printf "$2" >&3
  timeout "${3:-1}" cat <&3 || true
  exec 3<&-
}

# first_line <port> <text>: sends the text, and prints the first line of the reply, however long that takes.
first_line() {
  local line=''
  exec 3<> "/dev/tcp/127.0.0.1/$1"
  # shellcheck disable=SC2059
  printf "$2" >&3
  IFS= read -r -t 20 line <&3 || true
  exec 3<&-
  printf '%s\n' "$line"
}

# The examples that CMake leaves out where their library is missing.
optional=()
# shellcheck disable=SC2034
[[ ! -x $examples/protobuf ]] || optional+=(protobuf)
# The steps that take the common options. Step 1 stands alone.
tutorial=(step2_frames step3_session step4_shared step5_slow step6_limits)
models=(thread_per_connection single_reactor reactor_pool loop_per_thread loop_per_thread_pool)
