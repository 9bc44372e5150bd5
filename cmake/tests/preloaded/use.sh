#!/usr/bin/env bash
# use.sh: a preloaded library sees what a server receives and sends, if Quintet is built with QUINTET_LIBC_CALLS.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
c++ -std=c++20 -O2 -shared -fPIC "$here/counting.cpp" -o "$work/counting.so" -ldl
cmake -S "$here/../fetched" -B "$work/tree" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DQUINTET="$(cd "$here/../../.." && pwd)" \
  -DQUINTET_LIBC_CALLS=ON > "$work/log" 2>&1 || { tail -n 25 "$work/log" >&2; exit 1; }
cmake --build "$work/tree" --parallel "${QUINTET_JOBS:-$(nproc)}" --target echo
said=$(QUINTET_ENGINE=epoll LD_PRELOAD="$work/counting.so" "$work/tree/echo")
echo "$said"
[[ $said == *'receives: seen, sends: seen, waits: seen'* ]]
