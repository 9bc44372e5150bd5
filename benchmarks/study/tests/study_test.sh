#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# study_test.sh BUILD_DIR: quintet-bench study with the tools that are here, and without any.
# ctest: RUN_SERIAL
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused 'a study has one workload' study --workload echo,mixed
refused 'or 1 to 5' study --models 6
refused '--against: cannot read /nonexistent.json' study --against /nonexistent.json
echo '{"command": "compare", "results": []}' > "$work/other.json"
refused 'of quintet-bench compare, not of study' study --against "$work/other.json"
refused '--rounds' study --rounds 0
refused 'not a layout; it must be one of: adjacent, padded' study --false-sharing --layout apart
refused '--layout' study --layout padded
refused '--models' study --false-sharing --models 2
"$bench" study --help | grep -qF 'quintet-bench study --models' || fail '--help has no example'

# studied OPTION...: a short one that succeeds, in $work/table and $work/study.json.
studied() {
  timeout 120 "$bench" study --quick --workload latency --models 3 --warm-up 50ms --duration 200ms "$@" \
    --json "$work/study.json" > "$work/table" 2> "$work/err" || fail "study $*: status $?: $(tail -3 "$work/err")"
}

# With what there is: each figure has its source; what is not there is told.
studied
for part in 'requests/s' 'context switches' '/proc/PID/task/*/status' 'the client'; do
  grep -qF "$part" "$work/table" || fail "the table lacks $part: $(cat "$work/table")"
done
grep -q 'failed' "$work/table" && fail "something failed: $(cat "$work/table")"
for part in '"command": "study"' '"server": "reactor_pool"' '"source": "the client"' '"not_measured"'; do
  grep -qF "$part" "$work/study.json" || fail "study.json lacks $part"
done
if command -v valgrind > /dev/null && grep -q 'hardware counters' "$work/table"; then
  grep -qE '\+0\.00  simulated' "$work/table" || fail "no simulated caches: $(cat "$work/table")"
fi

# Without any tool: nothing is made up, and the way to get it is told.
mkdir "$work/empty"
cp "$work/study.json" "$work/before.json"
bench=$(realpath "$bench")
tools=$PATH
timeout=$(command -v timeout)
PATH=$work/empty "$timeout" 120 "$bench" study --quick --workload latency --models 3 --duration 200ms \
  --against "$work/before.json" > "$work/table" 2> "$work/err"
status=$?
PATH=$tools
[ $status -eq 0 ] || fail "without tools: status $status: $(tail -3 "$work/err")"
grep -qF 'hardware counters: perf is not installed; apt-get install linux-perf' "$work/table" || fail "perf: $(cat "$work/table")"
grep -qF 'simulated caches: valgrind is not installed; apt-get install valgrind' "$work/table" || fail 'valgrind is not asked for'
grep -qF 'kernel lock waits' "$work/table" && [ "$(grep -c 'kernel lock waits' "$work/table")" -gt 0 ] && fail 'locks are made up'
grep -qF 'before' "$work/table" || fail "no before and after: $(cat "$work/table")"

# On a machine with counters, played by a perf that knows no more than those, its figures are labelled as theirs.
mkdir "$work/fake"
cat > "$work/fake/perf" << 'PERF'
#!/bin/bash
counts() {
  for event in cache-references:2000 cache-misses:100 cycles:9000 instructions:8000; do
    echo "${event#*:},,${event%:*},1000,100.00,," >&2
  done
}
[ "$1" = stat ] || { echo 'Error: No permission to enable cpu-clock event.' >&2; exit 255; }
case $* in
  *' -p '*) trap 'kill $!; counts; exit 0' INT; sleep 60 & wait ;;
  *) counts ;;
esac
PERF
chmod +x "$work/fake/perf"
PATH=$work/fake:$PATH
studied
PATH=$tools
grep -qE ' 2,000 +100 +5\.000 % .* hardware$' "$work/table" || fail "no hardware counters: $(cat "$work/table")"
grep -q 'simulated' "$work/table" && fail 'simulated beside hardware'
grep -qF 'hottest functions of reactor_pool: perf has no permission: as root' "$work/table" || fail "$(cat "$work/table")"

# A planted false sharing is found by such counters, and only by them.
# planted: a short one that succeeds, in $work/table and $work/sharing.json.
planted() {
  timeout 100 "$bench" study --false-sharing --quick --increments 200000 --json "$work/sharing.json" > "$work/table" \
    2> "$work/err" || fail "study --false-sharing: status $?: $(tail -3 "$work/err")"
}
if [ "$(nproc)" -lt 2 ]; then
  planted
  grep -qF 'cannot be shown' "$work/table" || fail "false sharing on one CPU: $(cat "$work/table")"
else
  cat > "$work/fake/perf" << 'PERF'
#!/bin/bash
each=4000
case $* in *' adjacent '*) each=3 ;; esac
while [ "$1" != -- ] && [ $# -gt 1 ]; do shift; done
[ "$1" = -- ] && shift
said=$("$@") || exit
echo "$said"
all=$(sed -nE 's/.*, of ([0-9]+).*/\1/p' <<< "$said")  # on a busy machine more than were asked for
for event in cache-references:$((all / 2)) cache-misses:$((all / each)) cycles:9000 instructions:8000; do
  echo "${event#*:},,${event%:*},1000,100.00,," >&2
done
PERF
  PATH=$work/fake:$tools
  planted
  grep -q 'Found by hardware counters: 0\.[0-9]* cache misses an increment' "$work/table" || fail "planted: $(cat "$work/table")"
  grep -qF '"found": true' "$work/sharing.json" || fail 'sharing.json does not have it'
  sed -i 's/each=3/each=4000/' "$work/fake/perf"
  planted
  grep -qF 'Not found, though there are hardware counters' "$work/table" || fail "made up: $(cat "$work/table")"
  PATH=$work/empty
  "$timeout" 100 "$bench" study --false-sharing --quick --increments 200000 > "$work/table" 2> "$work/err"
  status=$?
  PATH=$tools
  [ $status -eq 0 ] || fail "false sharing without perf: status $status: $(tail -3 "$work/err")"
  grep -qF 'without hardware counters: perf is not installed' "$work/table" || fail "without perf: $(cat "$work/table")"
  grep -qF 'cachegrind does not show it either' "$work/table" || fail 'the simulation is not spoken of'
fi

# Ctrl-C: what was measured is shown and written.
interrupted ' 2 of ' study --models 2 --rounds 50 --duration 200ms --warm-up 50ms --json "$work/partial.json"
grep -q '"interrupted": true' "$work/partial.json" || fail 'interrupted: no results written'
grep -q 'requests/s' "$work/table" || fail 'interrupted: no table printed'

[ $failures -eq 0 ] && echo 'study behaves'
exit $((failures > 0))
