#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# sweep_test.sh BUILD_DIR: quintet-bench sweep as a user meets it: wrong arguments, short sweeps, Ctrl-C.
# With its short windows it measures nothing on a machine that is busy.
# ctest: RUN_SERIAL
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused 'required: AXIS' sweep
refused '"loops" is not allowed; it must be one of: connections, size, pipeline, threads, client-threads, handler-us' sweep loops
refused '--values: "0" is not a whole number from 1 to 20000' sweep connections --values 0,5
refused '--values: "7" is not a number of bytes from 8 to' sweep size --values 7,64
refused 'from 1 to 10000' sweep pipeline --values 1,10001
refused 'whole microseconds from 0us to 50ms' sweep handler-us --values 0us,1s
refused 'give two values or more' sweep connections --values 5
refused '--workload: "echo" has no handler time to vary; write cpu or blocking' sweep handler-us --workload echo
refused 'short connections send one request each' sweep pipeline --workload short
refused 'is not a workload' sweep size --workload ehco
refused 'or 1 to 5; or all' sweep size --models 6
refused '--rounds' sweep size --rounds 0
refused 'is out of range' sweep size --duration 1ms
refused 'it must be one of: automatic, epoll' sweep size --engine kqueue
"$bench" sweep --help | grep -F 'quintet-bench sweep connections' > /dev/null || fail '--help has no example'
(
  ulimit -n 1000
  refused '5000 connections need 5100 open files, and this machine allows 1000 (ulimit -Hn)' sweep connections
  exit $failures
) || failures=$((failures + 1))

# shown FILE TEXT...: each is in the file.
shown() {
  local file=$1 part
  shift
  for part in "$@"; do
    grep -qF -- "$part" "$file" || fail "$file does not have $part: $(head -40 "$file")"
  done
}
# swept AXIS OPTION...: a short sweep that succeeds, in $work/table and $work/sweep.json.
swept() {
  measured sweep "$@" --rounds 1 --duration 250ms --warm-up 50ms --seed 1 --json "$work/sweep.json"
  grep -q '"failed": [1-9]' "$work/sweep.json" && fail "sweep $*: requests failed"
}

swept connections --values 2,10 --models 2
shown "$work/table" 'connections' 'published' '190,000' '##' 'the rise: ' 'the fall: not judged' 'Noise:'
shown "$work/sweep.json" '"command": "sweep"' '"axis": "connections"' '"values": [2, 10]' '"connections": 2' \
  '"connections": 10' '"requests_per_s"' '"server_cpu_us_per_request"' '"p99_us"' '"published"' '"part": "fall", "metric": "requests_per_s", "demand": null, "met": null'

swept size --values 8,4k --models 4 --workload pipeline
shown "$work/table" 'MB/s' '4,096' 'of its peak'
shown "$work/sweep.json" '"message_bytes": 4096' '"pipeline": 64'

# A thread of its own for each request that sleeps, or one after the other: nobody can mistake that.
swept handler-us --workload blocking --values 0,2000 --models 1,2
shown "$work/table" 'thread_per_connection' '0 us' '2 ms' 'serves most requests' 'blocking: '
shown "$work/sweep.json" '"workload": "blocking:2000us"' '"handler_us": 2000' '"leads"' \
  '"server": "thread_per_connection"'

# One request after the other in a thread: their number is what counts.
swept threads --workload blocking:2ms --values 1,4 --models 3
shown "$work/table" 'threads' 'of its peak'
shown "$work/sweep.json" '"axis": "threads"' '"loops": 4' '"workers": "4..4"' '"workers": "1..1"'
refused '--loops and --workers' sweep threads --loops 2

swept connections --values 10,20 --models 2 --client epoll,blocking
shown "$work/table" 'single_reactor (blocking client), 20 connections' 'client CPU' 'client CPU a request' 'bottleneck '
shown "$work/sweep.json" '"client": "blocking"' '"ratios"'
swept connections --values 10,20 --models 2 --pinning on,off
shown "$work/table" 'single_reactor (pinning off), 20 connections' 'server CPU a request'
shown "$work/sweep.json" '"pinning": "off"' '"ratios"'
refused '--pinning' sweep connections --pinning some
refused '--client: the blocking client' sweep client-threads --client blocking

# Threads of the client, and what they cost.
swept client-threads --values 1,2
shown "$work/table" 'client threads' 'client CPU' 'the fewest client threads (1) ' 'server CPU a request' 'bottleneck'
shown "$work/sweep.json" '"axis": "client-threads"' '"client_threads": 1' '"client_threads": 2' '"ratios"'

# Ctrl-C: what was measured is shown and written, and no server or client stays behind. They run by a name of their own.
ln -s "$(realpath "$bench")" "$work/served"
interrupted ' 2 of ' sweep pipeline --values 1,8 --models 2 --rounds 100 --duration 100ms --program "$work/served" \
  --json "$work/partial.json"
shown "$work/partial.json" '"interrupted": true' '"pipeline": 8'
shown "$work/table" 'in flight' 'of its peak'
grep -la "$work/[s]erved" /proc/[0-9]*/cmdline 2> /dev/null && fail 'interrupted: a process stayed behind'

[ $failures -eq 0 ] && echo 'sweep behaves'
exit $((failures > 0))
