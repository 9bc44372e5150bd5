# shellcheck shell=bash
# SPDX-License-Identifier: BSL-1.0
# lib: the tool that is tested, a place for its files, and a count of what went wrong. Sourced with $1, the build tree.
set -u
bench=$1/benchmarks/quintet-bench
if ! [ -x "$bench" ]; then
  echo "skipped: $bench has not been built; configure with -DQUINTET_BENCHMARKS=ON"
  exit 77
fi
# shellcheck source=cmake/tests/needs.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../cmake/tests/needs.sh"
work=$(mktemp -d)
server=''
trap '[ -z "$server" ] || kill "$server" 2> /dev/null; rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# refused TEXT ARGUMENT...: status 2, nothing on the standard output, and one line with TEXT in it.
refused() {
  local text=$1 status
  shift
  timeout 20 "$bench" "$@" > "$work/out" 2> "$work/err"
  status=$?
  [ $status -eq 2 ] || fail "quintet-bench $*: status $status, not 2"
  [ ! -s "$work/out" ] || fail "quintet-bench $*: wrote to the standard output"
  # Of libraries that were missing when it was built, peers has a line each.
  [ "$(grep -vc 'not built in; install' "$work/err")" -eq 1 ] || fail "quintet-bench $*: not one line: $(cat "$work/err")"
  grep -qF -- "$text" "$work/err" || fail "quintet-bench $*: does not say \"$text\": $(cat "$work/err")"
}

# await PATTERN FILE PROCESS: until a line of FILE matches. Status 1 if the process has ended, or after a minute, which a
# busy machine may take.
await() {
  for _ in $(seq 1200); do
    grep -q -- "$1" "$2" && return
    kill -0 "$3" 2> /dev/null || break
    sleep 0.05
  done
  grep -q -- "$1" "$2"
}

# serve ARGUMENT...: a server, once it listens. Its pid: $server; its addresses: $address, and $priority with --priority-port.
# Its output: $work/serve. Without a server nothing else can be tested, so the test ends.
serve() {
  local last='^listening on '
  case " $*" in *' --priority-port'*) last='^priority on ' ;; esac
  : > "$work/serve"
  "$bench" serve --exit-with-parent "$@" >> "$work/serve" 2>&1 &
  server=$!
  await "$last" "$work/serve" "$server" || { fail "serve $* does not listen: $(cat "$work/serve")"; exit 1; }
  address=$(sed -n 's/^listening on //p' "$work/serve")
  # shellcheck disable=SC2034  # tests use it
  priority=$(sed -n 's/^priority on //p' "$work/serve")
}

# stop_server [SIGNAL]: ends it by SIGTERM or this signal. It must end with status 0.
stop_server() {
  local status
  kill -"${1:-TERM}" "$server"
  wait "$server"
  status=$?
  server=''
  [ $status -eq 0 ] || fail "after SIG${1:-TERM} the server ended with status $status: $(cat "$work/serve")"
}

# judge STATUS COMMAND: that of a command must follow from the sentences in $work/table: 1 if a demand is not met, 3 if one is
# too noisy to say, else 0. Which of them depends on the machine; a failed run never does.
judge() {
  local expected=0
  grep -q 'demanded: .*: too noisy to say' "$work/table" && expected=3
  grep -q 'demanded: .*: not met' "$work/table" && expected=1
  [ "$1" -eq $expected ] || fail "quintet-bench $2: status $1, not $expected: $(tail -3 "$work/err" "$work/table")"
  grep '^failed: ' "$work/err" > "$work/failed" && fail "quintet-bench $2: $(cat "$work/failed")"
}
# measured ARGUMENT...: the tool, with its table in $work/table.
measured() {
  timeout 150 "$bench" "$@" > "$work/table" 2> "$work/err"
  judge $? "$*"
}

# interrupted PATTERN ARGUMENT...: the tool in the background (its pid: $pid) until PATTERN is in $work/err; then Ctrl-C,
# which must end it with status 130.
interrupted() {
  local pattern=$1 status
  shift
  : > "$work/err"  # what an earlier run left there is not to be taken for this one's
  "$bench" "$@" > "$work/table" 2> "$work/err" &
  pid=$!
  await "$pattern" "$work/err" $pid || fail "interrupted: never said $pattern: $(tail -3 "$work/err")"
  kill -INT $pid
  wait $pid
  status=$?
  [ $status -eq 130 ] || fail "interrupted: status $status, not 130: $(tail -3 "$work/err")"
}
