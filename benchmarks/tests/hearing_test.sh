#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# hearing_test.sh BUILD: benchmarks/hearing/measure with small numbers. What it counts must be right; no time is judged.
# ctest: TIMEOUT 300
set -u
# shellcheck source=cmake/tests/needs.sh
. "$(dirname "$0")/../../cmake/tests/needs.sh"
measure=$(dirname "$0")/../hearing/measure
[ -x "$1/benchmarks/hearing/quintet-hearing" ] || skip 'quintet-hearing has not been built; configure with -DQUINTET_BENCHMARKS=ON'
small=(--build "$1" --resets 2 --queued 20 --drains 1 --requests 20 --untimed)
"$measure" "${small[@]}" --only reset queued drain || exit 1
needs strace
strace -qq -o /dev/null true 2> /dev/null || skip 'strace may not trace here'
"$measure" "${small[@]}" --only calls
