#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# forecast_test.sh BUILD_DIR: quintet-bench forecast as a user meets it: wrong arguments, a short run, Ctrl-C.
# With its short windows it says nothing about how good a forecast is.
# ctest: RUN_SERIAL LABELS long
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused '--cores: "0" is not a whole number from 1 to 256' forecast --cores 1,0
refused '--connections' forecast --connections 0
refused '--handler: "1s" is out of range; it must be from 1us to 50ms' forecast --handler 1s
refused '"line" is not allowed; it must be one of: lines, spread, slice, spin-share, accept-locked, vfs-locked, away' \
  forecast --assume line=3
refused '--assume: "2" is not a number from 0 to 1' forecast --assume lines=3,spread=2
refused '"" is not a number from 0 to 1000' forecast --assume lines
refused '--rounds' forecast --rounds 0
"$bench" forecast --help | grep -qF 'quintet-bench forecast --cores' || fail '--help has no example'

cpu=$(taskset -cp $$ | sed -E "s/.*: ([0-9]+).*/\1/")
taskset -c "$cpu" "$bench" forecast --quick 2>&1 | grep -qF 'takes two CPUs' || fail 'one CPU: not refused'
if [ "$(nproc)" -lt 2 ]; then
  [ $failures -eq 0 ] && echo 'forecast behaves, as far as one CPU can tell'
  exit $((failures > 0))
fi

needs_module simpy
timeout 200 "$bench" forecast --rounds 1 --duration 150ms --warm-up 50ms --cores 1,24 --connections 200 --handler 100us \
  --assume lines=8,away=20 --json "$work/found.json" > "$work/table" 2> "$work/err"
status=$?
# On a busy machine a thousand threads may not come to anything in so short a time: then their model is left out.
if grep -q '^failed: ' "$work/err"; then
  { [ $status -eq 1 ] && ! grep '^failed: ' "$work/err" | grep -qv 'no request was answered'; } ||
    fail "status $status: $(tail -3 "$work/err")"
else
  judge $status forecast
fi
parts=()
# On a busy machine the runs may not be as simulated: then nothing is forecast.
grep -q '^No forecast: ' "$work/table" || parts=('FORECAST, not measured: echo, 200 connections' 'FORECAST, not measured: cpu:100 us' \
  'forecast loop_per_thread ' 'FORECAST of a shape: short connections' 'FORECAST of a shape: threads' \
  'FORECAST of a shape: loops' '475,000' 'predicted reuse_port_cpu ' 'it falls because' '900,000' '2.57' '-> forecast: ' 'published: ')
for part in 'measured here, by itself' 'Fitted to runs measured here' 'assumed' 'waking a thread' 'held out, requests/s: within 15 %: ' \
  'median error' 'Noise:' "${parts[@]}"; do
  grep -qF -- "$part" "$work/table" || fail "the table lacks $part: $(cat "$work/table")"
done
for part in '"command": "forecast"' '"costs"' '"source": "assumed"' '"held_out"' '"fitted"' '"errors"' '"bound": 0.15' \
  '"forecast"' '"shapes"' '"cpus_shared": true' '"interrupted": false' '"cpu_model"'; do
  grep -qF "$part" "$work/found.json" || fail "found.json lacks $part"
done
if [ ${#parts[@]} -gt 0 ]; then
  grep -qF '"kind": "forecast"' "$work/found.json" && grep -qF '"cores": 24' "$work/found.json" || fail 'found.json has no forecast'
fi
grep -qE 'nan|inf\b' "$work/found.json" "$work/table" && fail 'numbers that are none'

# Ctrl-C: what was measured is shown and written, without a forecast.
interrupted ' 3 of ' forecast --rounds 50 --duration 100ms --warm-up 50ms --json "$work/partial.json"
grep -q '"interrupted": true' "$work/partial.json" || fail 'interrupted: no results written'
grep -q 'measured here, by itself' "$work/table" || fail 'interrupted: no table printed'
grep -q 'FORECAST' "$work/table" && fail 'interrupted: a forecast without its runs'
grep -q 'Simulating' "$work/err" && fail 'interrupted: half a minute more of simulations'

[ $failures -eq 0 ] && echo 'forecast behaves'
exit $((failures > 0))
