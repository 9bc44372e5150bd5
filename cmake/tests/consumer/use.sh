#!/usr/bin/env bash
# use.sh [PREFIX]: builds and runs the program in this folder with the Quintet that is installed in PREFIX (default: where
# the system looks), with find_package and then with pkg-config. THOROUGH=ON: also with unusual options.
set -euo pipefail
cd "$(dirname "$0")"
options=(-DTHOROUGH="${THOROUGH:-OFF}")
if (($#)); then
  options+=(-DCMAKE_PREFIX_PATH="$1")
  PKG_CONFIG_PATH=$(find "$1" -name pkgconfig -type d)
  export PKG_CONFIG_PATH
fi
cmake -S . -B build -G Ninja "${options[@]}" > configure.log 2>&1 || { tail -n 25 configure.log >&2; exit 1; }
cmake --build build
ctest --test-dir build --output-on-failure --no-tests=error

# shellcheck disable=SC2046  # the flags are words
c++ -std=c++20 consumer.cpp -o by_pkg_config $(pkg-config --cflags --libs quintet)
# shellcheck disable=SC2046
c++ -std=c++20 bus_consumer.cpp -o bus_by_pkg_config $(pkg-config --cflags --libs quintet-bus)
programs=(by_pkg_config bus_by_pkg_config)
if pkg-config --exists quintet-tls; then
  # shellcheck disable=SC2046
  c++ -std=c++20 tls_consumer.cpp -o tls_by_pkg_config $(pkg-config --cflags --libs quintet-tls)
  programs+=(tls_by_pkg_config)
fi
LD_LIBRARY_PATH=$(pkg-config --variable=libdir quintet)
export LD_LIBRARY_PATH
for program in "${programs[@]}"; do "./$program"; done
includes=$(realpath "$(pkg-config --variable=includedir quintet)")
[[ -e $includes/quintet/base/version.hpp ]] || { echo "pkg-config: $includes has no headers of Quintet" >&2; exit 1; }
