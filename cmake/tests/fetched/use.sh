#!/usr/bin/env bash
# use.sh configure|build: configures the project in this folder with this checkout of Quintet, by FetchContent and by
# add_subdirectory. With `build`, builds its program by the former and runs it.
set -euo pipefail
what=$1
checkout=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for way in OFF ON; do
  cmake -S "$checkout/cmake/tests/fetched" -B "$work/$way" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DQUINTET="$checkout" \
    -DBY_SUBDIRECTORY=$way "${@:2}" > "$work/log" 2>&1 || { tail -n 25 "$work/log" >&2; exit 1; }
done
[[ $what == build ]] || exit 0
cmake --build "$work/OFF" --parallel "${QUINTET_JOBS:-$(nproc)}" --target echo
"$work/OFF/echo"
