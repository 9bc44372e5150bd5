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
trap 'rm -rf "$work"' EXIT
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

# interrupted PATTERN ARGUMENT...: the tool in the background (its pid: $pid) until PATTERN is in $work/err; then Ctrl-C,
# which must end it with status 130.
interrupted() {
  local pattern=$1 status
  shift
  : > "$work/err"  # what an earlier run left there is not to be taken for this one's
  "$bench" "$@" > "$work/table" 2> "$work/err" &
  pid=$!
  for _ in $(seq 200); do
    grep -q "$pattern" "$work/err" && break
    sleep 0.05
  done
  kill -INT $pid
  wait $pid
  status=$?
  [ $status -eq 130 ] || fail "interrupted: status $status, not 130: $(tail -3 "$work/err")"
}
