#!/usr/bin/env bash
# check_layers: a layer includes what is to its left only (base <- net <- threadmodels <- examples, benchmarks <- fuzz), and base no Asio.
set -euo pipefail
failed=0

# forbid <directory> <pattern of an include's path> <why>
forbid() {
  local found
  [[ -d $1 ]] || return 0
  if found=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($2)" "$1" --include='*.hpp' --include='*.cpp'); then
    printf '%s\n  %s\n' "$3" "$found" >&2
    failed=1
  fi
}

forbid base '(quintet/)?(net|threadmodels|examples|benchmarks|fuzz)/' 'base reaches to its right:'
forbid base 'boost/asio' 'base includes Asio:'
forbid net '(quintet/)?(threadmodels|examples|benchmarks|fuzz)/' 'net reaches to its right:'
forbid threadmodels '(quintet/)?(examples|benchmarks|fuzz)/' 'threadmodels reaches to its right:'
forbid examples '(quintet/)?(benchmarks|fuzz)/' 'an example includes the benchmarks or a fuzz target:'
forbid benchmarks '(quintet/)?(examples|fuzz)/' 'the benchmarks include an example or a fuzz target:'
exit $failed
