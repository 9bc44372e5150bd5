#!/usr/bin/env bash
# check_headers <compiler> <include directory>: every header compiles alone, and only the headers for Asio include Asio.
# A header that its own source includes first was compiled alone by the build, and is only scanned: that saves a second
# for each of them.
set -euo pipefail
compiler=$1 include=$2

# The headers that may include Asio. All others must not, because Asio costs five seconds per compiled file.
asio_headers=" net/asio.hpp net/loop/asio.hpp net/loop/asio_guest.hpp net/loop/executor.hpp \
net/connection_pool.hpp net/client/connection_pool.hpp net/engine/asio_wake_ups.hpp "

check() {
  local header=$1 dependencies
  # -MD with -fsyntax-only lists the includes and compiles in one run. Included twice, to test the include guard.
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
find base net threadmodels bus -name '*.hpp' -not -path '*/tests/*' -not -path 'net/engine/uring/*' | sort |
  xargs -P 2 -I{} bash -c 'check "$1"' _ {}
