#!/usr/bin/env bash
# check_messages <compiler> <include directory>: mistakes of beginners get one error, whose text says what to change.
# Each file in messages/ has its text after "// error: "; a file without one compiles.
set -euo pipefail
compiler=$1 include=$2

check() {
  local file=$1 expected output status=0 errors
  expected=$(sed -n 's,^// error: ,,p' "$file")
  output=$("$compiler" -std=c++20 -fsyntax-only -Werror=return-type -I"$include" "$file" 2>&1) || status=1
  errors=$(grep -c 'error:' <<< "$output") || true
  if [[ ! $expected && $status == 0 ]]; then return; fi
  if [[ $expected && $errors == 1 && $output == *"$expected"* ]]; then return; fi
  printf '%s: %s errors, expected: %s\n%s\n' "$file" "$errors" "${expected:-none}" "$output" >&2
  return 1
}
export -f check  # for the shells that xargs starts
export compiler include
printf '%s\n' "$(dirname "$0")"/messages/*.cpp | xargs -P 2 -I{} bash -c 'check "$1"' _ {}
