#!/usr/bin/env bash
# check_headers <compiler> <include directory>: every header compiles alone, twice, without warnings. A header that its own
# source includes first was compiled alone by the build.
set -euo pipefail
compiler=$1 include=$2

check() {
  local header=$1
  [[ $(grep -m 1 '^#include' "${header%.hpp}.cpp" 2> /dev/null) != "#include \"${header##*/}\"" ]] || return 0
  # Included twice, to test the include guard.
  printf '#include <quintet/%s>\n#include <quintet/%s>\n' "$header" "$header" |
    "$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -DBOOST_ASIO_NO_DEPRECATED \
      -I"$include" -fsyntax-only -x c++ - || { echo "$header: does not compile alone" >&2; return 1; }
}
export -f check  # for the shells that xargs starts
export compiler include
find base net threadmodels bus -name '*.hpp' -not -path '*/tests/*' -not -path 'net/engine/uring/*' | sort |
  xargs -P 2 -I{} bash -c 'check "$1"' _ {}
