#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# probes_test.sh BUILD_DIR: contention, memlat, hash and merging as a user meets them. Counts, never times.
# ctest: RUN_SERIAL LABELS long
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused '--threads: "0" is not a whole number from 1 to 1024' contention --threads 0
refused '--threads' contention --threads 2,many
refused '--connections' contention --connections 0
refused 'servers need a CPU each' contention --of kv --threads 1000
refused '--rounds' memlat --rounds 0
refused 'is out of range' memlat --duration 1ms
refused 'may use' memlat --cpus 999
refused 'it must be one of: map-crc32, map-crc64, crc32, crc64, murmur3, crc32c, xxh3' hash --kinds crc32,md5
refused 'it must be one of: map-crc32, map-crc64, crc32, crc64, murmur3, crc32c, xxh3' probe hash --kind md5
refused '"0" is not a number of bytes' hash --sizes 64,0
refused '65536' merging --sizes 8..100000
refused 'model' merging --model 2,3

# has FILE PART...
has() {
  local file=$1 part
  shift
  for part; do grep -qF -- "$part" "$work/$file" || fail "$file lacks $part: $(cat "$work/$file")"; done
}
# stopped PATTERN COMMAND OPTION...: what was measured until Ctrl-C is printed and written.
stopped() {
  interrupted "$@" --json "$work/partial.json"
  grep -q '"interrupted": true' "$work/partial.json" || fail "$2, interrupted: no results written"
  [ -s "$work/table" ] || fail "$2, interrupted: no table printed"
}

measured contention --threads 1,3 --rounds 2 --duration 150ms --warm-up 50ms --json "$work/found.json"
has table 'p99.9' '350,000' '2.57 times' 'Noise:' '-> 3 threads: an io_context each'
has found.json '"command": "contention"' '"peer": "asio-separate"' '"loops": 3' '"ratios"' '"separate_requests_per_s": 900000'
# Where calls can be counted: three threads wake each other through one io_context, and not through three.
futex() { sed -nE "s/^ +3 thread\(s\) +$1 .* ([0-9.]+) +[0-9.]+\$/\1/p" "$work/table"; }
shared=$(futex 'one io_context') separate=$(futex 'an io_context each')
if [ -z "$shared" ] || [ -z "$separate" ]; then echo 'skipped: futex calls were not counted'; shared=''; fi
[ -z "$shared" ] || awk "BEGIN { exit !($separate < 0.01 && $separate < $shared) }" ||
  fail "futex calls a request: shared $shared, separate $separate"
stopped ' 2 of ' contention --threads 2 --rounds 50 --duration 200ms --warm-up 50ms
if command -v redis-benchmark > /dev/null && [ -x "$1/examples/kv" ] && [ "$(nproc)" -gt 1 ]; then
  measured contention --of kv --threads 2 --rounds 1 --duration 50ms --warm-up 50ms --json "$work/found.json"
  has table '-> 2 threads: a kv each has' 'CPU a request of one kv' '45 % more'
  has found.json '"peer": "kv-separate"' '"failed": 0' '"flow_director_percent": 45'
fi

measured memlat --rounds 1 --duration 50ms --json "$work/found.json"
has table 'a load that waits' ' ns' 'Not known:' 'two cores, or two threads of one'
has found.json '"what": "load"' '"median_ns"' '"not_known"' '"cpu_model"' '"interrupted": false'
stopped ' 2 of ' memlat --rounds 200 --duration 50ms

measured hash --sizes 64,16k --rounds 1 --duration 50ms --json "$work/found.json"
has table '16 KiB  published' 'ns for a message of 64 B: map-crc32 ' '-> crc32: ' 'times the speed of map-crc32' '498' '10,970'
has found.json '"command": "hash"' '"verdicts"' '"published"' '"ns_per_hash"' '"cpu_model"' '"interrupted": false'
[ "$(grep -cE '"kind": ".*"(bytes_per_s": [0-9]|error": "not supported)' "$work/found.json")" -eq 14 ] ||
  fail "not seven kinds of two sizes: $(cat "$work/found.json")"
stopped ' 2 of ' hash --rounds 200 --duration 50ms

measured merging --sizes 8..128 --rounds 1 --duration 200ms --json "$work/found.json"
has table 'times as many messages'
sed -n 's/.*"writes_per_message": \([0-9.e-]*\).*/\1/p' "$work/found.json" | xargs > "$work/writes"  # merged, then single
awk '{ exit !(NF == 2 && $1 > 0 && $1 <= 0.01 && $2 > 0.5 && $2 <= 1.1) }' "$work/writes" ||
  fail "writes for a message: $(cat "$work/writes")"
measured merging --sizes 8..16384 --thresholds 512,65536 --rounds 1 --duration 100ms --json "$work/found.json"
has table 'copied below 512 B' '-> copied below 64 KiB: '
has found.json '"merge_threshold": 512' '"flatness": []'
measured merging --latency --rounds 2 --duration 100ms --json "$work/found.json"
has table '64 B, one connection' 'p50' 'times the p50 of a write for each message'
has found.json '"sizes": "64"' '"p50_us"' '"merging": false'
stopped 'a write for each message' merging --sizes 8..128 --rounds 1000 --duration 100ms
exit $((failures > 0))
