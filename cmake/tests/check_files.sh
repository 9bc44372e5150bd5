#!/usr/bin/env bash
# check_files: every source begins with its licence and its purpose, and has at most 400 lines.
set -euo pipefail
failed=0
complain() { echo "$1" >&2; failed=1; }

while IFS= read -r file; do
  { IFS= read -r first; IFS= read -r second; } < "$file" || true
  [[ $first == '// SPDX-License-Identifier: BSL-1.0' ]] ||
    complain "$file:1: begins with '// SPDX-License-Identifier: BSL-1.0' in every file of this project"
  # The second line is "// <name>: <purpose>".
  [[ $second =~ ^'// '[A-Za-z0-9_.-]+': '.+ ]] ||
    complain "$file:2: must say what the file is for: '// name: what it is for.'"
  lines=$(wc -l < "$file")
  ((lines <= 400)) || complain "$file: $lines lines; a file has at most 400, and one reason to exist"
done < <(find base net threadmodels examples benchmarks fuzz cmake -name '*.[hc]pp' | sort)
exit $failed
