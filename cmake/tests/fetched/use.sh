#!/usr/bin/env bash
# use.sh configure|build [OPTION...]: configures the project in this folder with this checkout of Quintet, by FetchContent
# and by add_subdirectory, and builds the program that uses the smallest library. With `build`, also builds the other one
# and runs both. OPTIONs are for cmake.
set -euo pipefail
what=$1
checkout=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for way in OFF ON; do
  cmake -S "$checkout/cmake/tests/fetched" -B "$work/$way" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DQUINTET="$checkout" \
    -DBUILD_SHARED_LIBS=ON -DBY_SUBDIRECTORY=$way "${@:2}" > "$work/log" 2>&1 || { tail -n 25 "$work/log" >&2; exit 1; }
done
programs=(codecs)
[[ $what == configure ]] || programs+=(echo)
cmake --build "$work/OFF" --parallel "${QUINTET_JOBS:-$(nproc)}" --target "${programs[@]}"
for program in "${programs[@]}"; do "$work/OFF/$program"; done
