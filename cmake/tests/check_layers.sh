#!/usr/bin/env bash
# check_layers: a folder includes only itself and folders before it in the list, by relative paths. base: no Asio.
set -euo pipefail

# Bottom-up. The root of net forwards to its folders, for users: nothing in the library includes it.
folders=(
  base base/build base/metrics base/memory base/work base/encoding base/framing
  net/names net/options net/watch net/engine net/engine/uring net/engine/shm net/engine/filter net/engine/tls net/loop net/secure net/connection net/server net/client net/testing
  threadmodels/placement threadmodels/compute threadmodels bus/messages bus/wires bus/links bus/node bus net
)
failed=0
complain() { printf '%s\n' "$*" >&2; failed=1; }
declare -A rank
for i in "${!folders[@]}"; do rank[${folders[i]}]=$i; done

# Reads each include of a library header: <file>:<line>:<path>.
while IFS=: read -r file line path; do
  from=${file%/*} target=$(realpath --relative-to=. --canonicalize-missing "${file%/*}/$path")
  to=${target%/*}
  [[ -e $target ]] || { complain "$file:$line: there is no $target"; continue; }
  [[ ${rank[$from]-} ]] || { complain "$file: its folder $from is not in check_layers"; continue; }
  [[ ${rank[$to]-} ]] || { complain "$file:$line: $to is not a folder of the library"; continue; }
  [[ $from == net ]] || ((rank[$to] <= rank[$from])) || complain "$file:$line: $from includes $target, which stands above it"
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' base net threadmodels bus --include='*.hpp' --include='*.cpp' |
  grep -vE '^[a-z]+/tests/' | sed -E 's/^([^:]+):([0-9]+):[^"]*"([^"]*)".*/\1:\2:\3/')

# forbid <directory> <pattern of an include's path> <pattern of excepted files> <message>
forbid() {
  local found
  [[ -d $1 ]] || return 0
  if found=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($2)" "$1" --include='*.hpp' --include='*.cpp' |
    grep -vE "^$3"); then
    complain "$4"$'\n'"$found"
  fi
}
for layer in base net threadmodels bus; do
  forbid "$layer" 'quintet/' "$layer/tests/" 'the library includes its own headers by relative paths:'
done
forbid base 'boost/asio' '-' 'base includes Asio:'
forbid base/tests 'quintet/(net|threadmodels|bus)/' '-' 'tests of base include what stands above it:'
forbid net/tests 'quintet/(threadmodels|bus)/' '-' 'tests of net include what stands above it:'
forbid examples '(quintet/)?(benchmarks|fuzz)/' '-' 'an example includes the benchmarks or a fuzz target:'
forbid benchmarks '(quintet/)?(examples|fuzz)/' '-' 'the benchmarks include an example or a fuzz target:'
exit $failed
