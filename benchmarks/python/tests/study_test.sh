#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# study_test.sh BUILD_DIR: quintet-bench study with the tools that are here, without any, and with hardware counters.
# ctest: RUN_SERIAL
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused 'a study has one workload' study --workload echo,mixed
refused 'kv:uniform, kv:zipf' study --workload kv:none
refused 'or 1 to 5' study --models 6

# studied PATH OPTION...: a short one that succeeds, in $work/table and $work/study.json.
bench=$(realpath "$bench")
timeout=$(command -v timeout)
studied() {
  local path=$1
  shift
  PATH=$path "$timeout" 120 "$bench" study --quick "$@" --json "$work/study.json" > "$work/table" 2> "$work/err"
  judge $? "study $*"
}
# says TEXT...: each is in the table.
says() {
  local text
  for text; do grep -qF -- "$text" "$work/table" || fail "the table lacks \"$text\": $(cat "$work/table")"; done
}
latency=(--workload latency --models 3 --warm-up 50ms --duration 200ms)

# With what there is: each figure has its source; what is not there is told.
studied "$PATH" "${latency[@]}"
says 'requests/s' 'context switches' '/proc/PID/task/*/status' 'the client'
grep -q 'failed' "$work/table" && fail "something failed: $(cat "$work/table")"
grep -q 'hardware counters' "$work/table" && command -v valgrind > /dev/null && says '+0.00  simulated' 'published: MongoDB'

# Without any tool: nothing is made up, and the way to get it is told.
mkdir "$work/empty"
ln -s /usr/bin/python3 "$work/empty/python3"
studied "$work/empty" "${latency[@]}"
says 'hardware counters: perf is not installed; apt-get install linux-perf' \
  'simulated caches: valgrind is not installed; apt-get install valgrind'
grep -q 'kernel lock waits' "$work/table" && fail 'locks are made up'

# On a machine with counters, played by a perf that knows no more than those, its figures are labelled as theirs.
mkdir "$work/fake"
cat > "$work/fake/perf" << 'PERF'
#!/bin/bash
counts() {
  for event in "cache-references:$1" "cache-misses:$2"; do echo "${event#*:},,${event%:*},1000,100.00,," >&2; done
}
[ "$1" = stat ] || { echo 'Error: No permission to enable cpu-clock event.' >&2; exit 255; }
said=''
for word; do case $word in --control=fifo:*) fifos=${word#*:} ;; esac; done
if [ -n "${fifos:-}" ]; then
  exec 5<> "${fifos%,*}" 6<> "${fifos#*,}"
  trap 'counts 2000 100; exit 130' INT
  while read -r -u 5 _; do echo ack >&6; done
fi
while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
[ $# -gt 1 ] && said=$("${@:2}")
echo "$said"
counts 5000 2
PERF
chmod +x "$work/fake/perf"
studied "$work/fake:$PATH" "${latency[@]}"
grep -qE ' 2,000 +100 +5\.000 % .* hardware$' "$work/table" || fail "no hardware counters: $(cat "$work/table")"
grep -q 'simulated' <(grep -v '^  false sharing' "$work/table") && fail 'simulated beside hardware'
says 'hottest functions of reactor_pool: perf has no permission'

# Ctrl-C: what was measured is shown and written.
interrupted ' 2 of ' study --models 2 --rounds 50 --duration 200ms --warm-up 50ms --json "$work/partial.json"
grep -q '"interrupted": true' "$work/partial.json" || fail 'interrupted: no results written'
says 'requests/s'

[ $failures -eq 0 ] && echo 'study behaves'
exit $((failures > 0))
