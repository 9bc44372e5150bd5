#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# perf_test.sh BUILD_DIR: each script finds out something about a server under load, or says in one line why not here.
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"
scripts=$(cd "$(dirname "$0")/.." && pwd)

# wrong TEXT ARGUMENT...: status 2 and one line with TEXT.
wrong() {
  local text=$1
  shift
  "$scripts/stat" "$@" > "$work/out" 2> "$work/err"
  [ $? -eq 2 ] || fail "stat $*: not status 2"
  [ "$(wc -l < "$work/err")" -eq 1 ] && grep -qF -- "$text" "$work/err" || fail "stat $*: $(cat "$work/err")"
}
wrong 'process ID'
wrong 'process ID' 12x
wrong 'no process 999999999' 999999999
wrong 'whole number of seconds' $$ 0.5
for script in stat record off-cpu sched lock c2c; do
  "$scripts/$script" --help | grep -q '^Example: ' || fail "$script --help has no example"
  "$scripts/$script" --help | grep -q 'PID \[SECONDS\]' || fail "$script --help does not say what it takes"
done

# The perf of other machines, played by their recorded output: what is missing there, and why.
# played STATUS TEXT: stat prints TEXT and ends with STATUS where perf says what is in $work/played.
mkdir "$work/fake"
printf '#!/bin/bash\n[ "$1" = --version ] && exit\ncat "%s" >&2\ngrep -q ^Error "%s" && exit 255\nexit 0\n' \
  "$work/played" "$work/played" > "$work/fake/perf"
chmod +x "$work/fake/perf"
recordings=$(cd "$scripts/../python/tests/data/perf_stat" && pwd)
played() {
  PATH=$work/fake:$PATH "$scripts/stat" $$ 1 > "$work/out" 2>&1
  [ $? -eq "$1" ] || fail "stat, $2: not status $1"
  grep -qF -- "$2" "$work/out" || fail "stat does not say \"$2\": $(cat "$work/out")"
}
cp "$recordings/hybrid_threads.txt" "$work/played" && played 0 'cycles of all kinds of cores: 602,501,649'
cp "$recordings/intel_multiplexed.txt" "$work/played" && played 0 'counted for only 36 % of the time'
cp "$recordings/arm_user.txt" "$work/played" && played 0 'only user space was counted'
cp "$recordings/vm.txt" "$work/played" && played 0 'cycles, cache-references, cache-misses: not supported: this'
cp "$recordings/denied.txt" "$work/played" && played 3 'perf has no permission'
printf '#!/bin/bash\necho "WARNING: perf not found for kernel 5.15.0-91" >&2; exit 2\n' > "$work/fake/perf"
played 3 'another kernel version (5.15.0-91'

# Two stacks of three samples, as perf prints them.
sample() { printf '%s  1 2.0: 3 cpu-clock:\n%s\n\n' "$1" "$2"; }
inner=$'\tffff handle<a>(b&)+0x1f (/bin/server)\n\t1234 run+0x2 (/bin/server)'
outer=$'\t1234 run+0x2 (/bin/server)'
{ sample loop "$inner"; sample loop "$inner"; sample loop "$outer"; } | "$scripts/fold" | sort > "$work/folded"
printf 'loop;run\t1\nloop;run;handle<a>(b&)\t2\n' | diff - "$work/folded" || fail 'fold'
"$scripts/flame" < "$work/folded" > "$work/flame.svg" || fail 'flame'
[ "$(grep -c '<rect' "$work/flame.svg")" -eq 3 ] || fail 'flame: not a box for each of three functions'
grep -qF 'handle&lt;a&gt;(b&amp;): 2 (66.7 %)' "$work/flame.svg" || fail "flame: $(cat "$work/flame.svg")"
"$scripts/flame" < /dev/null > /dev/null 2>&1 && fail 'flame draws nothing'

serve --model reactor_pool --offload always
"$bench" load "$address" --connections 5 --duration 300 > "$work/loaded" 2>&1 &
load=$!
for script in stat record off-cpu sched lock c2c; do
  (cd "$work" && timeout 60 "$scripts/$script" $server 1 > "out.$script" 2> "err.$script")
  status=$?
  case $status in
    0) [ -s "$work/out.$script" ] || fail "$script says nothing" ;;
    3) [ "$(wc -l < "$work/err.$script")" -eq 1 ] || fail "$script: not one line: $(cat "$work/err.$script")" ;;
    *) fail "$script: status $status: $(cat "$work/err.$script")" ;;
  esac
done
grep -q 'qnt-work' "$work/out.sched" || [ -s "$work/err.sched" ] || fail "sched: $(cat "$work/out.sched")"
kill $load
wait $load 2> /dev/null
stop_server
[ $failures -eq 0 ]
