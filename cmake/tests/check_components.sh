#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# check_components PROGRAM PROGRAM_WITH: the first, an echo server, has no code of the components; the second has some.
set -euo pipefail
components='quintet::(loop_rebalancer|asio_engine|child_process|connection_pool)::|quintet::make_(rebalancer|asio_engine)\('

# Prints the defined functions of the components in a program.
found_in() { nm --demangle --defined-only "$1" | grep -E " [TtWw] .*($components)" || true; }

found=$(found_in "$1")
if [[ -n $found ]]; then
  echo "$1 links no component, and contains:"
  head -20 <<< "$found"
  exit 1
fi
if [[ $(found_in "$2") != *make_asio_engine* || $(found_in "$2") != *make_rebalancer* ]]; then
  echo "$2 links all components, and lacks one: see net/CMakeLists.txt"
  exit 1
fi
