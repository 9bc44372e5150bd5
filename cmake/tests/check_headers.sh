#!/usr/bin/env bash
# check_headers <compiler> <include directory>: every header compiles alone, and Asio comes in only by the headers made for that.
# A header with a source of its own, which includes it first, has been compiled alone by the build: that takes a second
# for each of them less.
set -euo pipefail
compiler=$1 include=$2

# Who wants Asio asks for it; it costs whoever compiles it five seconds a file.
asio_headers=" net/asio.hpp net/loop/asio.hpp net/loop/asio_guest.hpp net/loop/executor.hpp \
net/connection_pool.hpp net/client/connection_pool.hpp "

check() {
  local header=$1 dependencies
  # -M with -fsyntax-only: what it includes, and whether it compiles, in one run. Twice: it must guard itself.
  local how=(-fsyntax-only -MD -MF /dev/stdout)
  [[ $(grep -m 1 '^#include' "${header%.hpp}.cpp" 2> /dev/null) == "#include \"${header##*/}\"" ]] && how=(-M)
  dependencies=$(printf '#include <quintet/%s>\n#include <quintet/%s>\n' "$header" "$header" |
    "$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -DBOOST_ASIO_NO_DEPRECATED \
      -I"$include" "${how[@]}" -x c++ -) || { echo "$header: does not compile alone" >&2; return 1; }
  if [[ $dependencies == *boost/asio* && $asio_headers != *" $header "* ]]; then
    echo "$header: includes Asio, by way of $(grep -o 'quintet/[^ ]*' <<< "$dependencies" | tr '\n' ' ')" >&2
    return 1
  fi
}
export -f check  # for the shells that xargs starts
export compiler include asio_headers
find base net threadmodels -name '*.hpp' -not -path '*/tests/*' -not -path 'net/engine/uring/*' | sort |
  xargs -P 2 -I{} bash -c 'check "$1"' _ {}
