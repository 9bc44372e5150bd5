#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# allocators_test.sh BUILD_DIR: quintet-bench allocators as a user meets it: what is installed, what is not, and a
# preload that has no effect.
# With its short windows it measures nothing on a machine that is busy.
# ctest: RUN_SERIAL LABELS long
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused '"hoard" is not allowed; it must be one of: glibc, glibc-huge-pages, tcmalloc, jemalloc, mimalloc' allocators --allocators hoard
refused '"echo" is not allowed; it must be one of: kv, kv-set' allocators --workload echo
refused 'or 1 to 5' allocators --models 6
"$bench" allocators --help | grep -qF 'quintet-bench allocators --models 4' || fail '--help has no example'
needs redis-benchmark
[ -x "$1/examples/kv" ] || skip "$1/examples/kv has not been built; configure with -DQUINTET_EXAMPLES=ON"
if grep -qE '^QUINTET_SANITIZE:[A-Z]+=.+' "$1/CMakeCache.txt" 2> /dev/null; then
  skip 'a sanitizer has an allocator of its own'
fi
refused '/nonexistent/kv' allocators --kv /nonexistent/kv

# faked SCRIPT: an env in a directory of its own, before the others, that does what SCRIPT does.
faked() {
  mkdir -p "$work/fake"
  printf '#!/bin/bash\n%s\n' "$1" > "$work/fake/env"
  chmod +x "$work/fake/env"
}
# shellcheck disable=SC2016  # it is the script's to expand
missing='[[ "$1" == LD_PRELOAD= ]] || { echo "ERROR: ld.so: object from LD_PRELOAD cannot be preloaded: ignored." >&2; exit 0; }
shift; [[ $1 != GLIBC_TUNABLES=* ]] || shift; unset LD_PRELOAD; exec "$@"'
short=(--models 2 --workload kv-set --rounds 1 --duration 50ms --warm-up 50ms)
tools=$PATH

# Of a library that is missing a line says so; one that was named is refused.
faked "$missing"
PATH=$work/fake:$tools
refused 'mimalloc: libmimalloc.so.2 is not installed; apt-get install libmimalloc2.0' allocators --allocators mimalloc
timeout 60 "$bench" allocators "${short[@]}" > "$work/table" 2> "$work/err" || fail "glibc alone: $(tail -3 "$work/err")"
PATH=$tools
for name in libtcmalloc-minimal4 libjemalloc2 libmimalloc2.0; do
  grep -q "is not installed; apt-get install $name" "$work/err" || fail "$name is not asked for: $(cat "$work/err")"
done
grep -q 'single_reactor (glibc)' "$work/table" || fail "glibc is not measured: $(cat "$work/table")"

# A preload without effect is an error, and no figures stand there.
# shellcheck disable=SC2016
faked 'shift; unset LD_PRELOAD; exec "$@"'
PATH=$work/fake:$tools timeout 60 "$bench" allocators "${short[@]}" --allocators jemalloc --json "$work/none.json" \
  > "$work/table" 2> "$work/err"
[ $? -eq 1 ] || fail "a preload without effect: $(tail -3 "$work/err")"
grep -q 'failed: jemalloc was not preloaded' "$work/table" || fail "believed: $(cat "$work/table")"
grep -q '"error": "jemalloc was not preloaded' "$work/none.json" || fail 'believed in the JSON'

# Those that are here, all models, and kv is gone afterwards.
ln -s "$(realpath "$1/examples/kv")" "$work/kv"
timeout 150 "$bench" allocators --kv "$work/kv" --rounds 1 --duration 50ms --warm-up 50ms --json "$work/found.json" \
  > "$work/table" 2> "$work/err"
judge $? allocators
for part in 'kv: 100 connections x 14 B' 'kv-set: 100 connections x 107 B' thread_per_connection loop_per_thread_pool glibc MiB; do
  grep -qF -- "$part" "$work/table" || fail "the table lacks $part: $(cat "$work/table")"
done
for part in '"command": "allocators"' '"allocator": "glibc"' '"failed": 0'; do
  grep -qF "$part" "$work/found.json" || fail "found.json lacks $part"
done
grep -la "$work/[k]v" /proc/[0-9]*/cmdline 2> /dev/null && fail 'kv is still running'
here=$(sed -nE 's/^.*"allocator": "([a-z-]+)".*/\1/p' "$work/found.json" | sort -u | grep -vx glibc | tr '\n' ' ')

# Ctrl-C: what was measured is shown and written.
interrupted ' 2 of ' allocators --rounds 50 --duration 50ms --warm-up 50ms --json "$work/partial.json"
grep -q '"interrupted": true' "$work/partial.json" || fail 'interrupted: no results written'
grep -q 'CPU/req' "$work/table" || fail 'interrupted: no table printed'

[ $failures -eq 0 ] && echo "allocators behaves; beside glibc there were: ${here:-none}"
exit $((failures > 0))
