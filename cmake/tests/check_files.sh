#!/usr/bin/env bash
# check_files: every source begins with its licence and its purpose, has at most 400 lines, and no comment that is torn: the
# formatter leaves a short line in mid-sentence when a longer one was changed by hand.
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
  # Comments of benchmarks/ are broken by hand, at other widths.
  [[ $file == benchmarks/* ]] || awk -v file="$file" -v limit=120 '
    {
      mark = $0; sub(/[^ \/].*/, "", mark)  # indentation and slashes
      is_text = mark ~ /\/\/\/? $/ && NR > 2
      if (is_text && mark == before_mark && $2 ~ /^[A-Za-z`(]/ && before !~ /[.:;!?|]$/ &&
          length(before) + 1 + length($2) < limit - 15) {
        printf "%s:%d: this comment line is torn: the next word fits on it\n", file, NR - 1; bad = 1
      }
      before = $0; before_mark = is_text ? mark : "none"
    }
    END {exit bad}' "$file" >&2 || failed=1
done < <(find base net threadmodels bus examples benchmarks fuzz cmake -name '*.[hc]pp' | sort)
exit $failed
