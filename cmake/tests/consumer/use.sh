#!/usr/bin/env bash
# use.sh [PREFIX]: builds and runs the programs in this folder with the Quintet that is installed in PREFIX (default: where
# the system looks), with find_package and then with pkg-config. THOROUGH=ON: also with unusual options. scripts/lib.sh
# copies the folder (copy_consumer), and adds the first programs of README and of the tutorial.
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

# The command of README and of the tutorial's first step.
# shellcheck disable=SC2046
g++ -std=c++20 readme_echo.cpp -o readme_echo $(pkg-config --cflags --libs quintet)
# shellcheck disable=SC2046
g++ -std=c++20 step1_echo.cpp -o step1_echo $(pkg-config --cflags --libs quintet)
answers() {  # <port>: whether step1_echo listens there, and sends a line back
  { exec 3<> "/dev/tcp/127.0.0.1/$1"; } 2> /dev/null || return
  echo hello >&3
  IFS= read -r -t 20 line <&3 && [[ $line == hello ]]
}
port=$((20000 + RANDOM % 10000))
./step1_echo "127.0.0.1:$port" &
for ((i = 0; i < 100; ++i)); do
  ! answers "$port" || break
  sleep 0.1
done
((i < 100)) || { echo "step1_echo does not answer at port $port" >&2; exit 1; }
kill %1
wait %1
includes=$(realpath "$(pkg-config --variable=includedir quintet)")
[[ -e $includes/quintet/base/version.hpp ]] || { echo "pkg-config: $includes has no headers of Quintet" >&2; exit 1; }
