#!/usr/bin/env bash
# check_promises: every test, file and directory that SECURITY.md names exists.
set -euo pipefail
failed=0 named=0
complain() { echo "SECURITY.md: $1" >&2; failed=1; }

# Reads each `file`: `test`, `test`... as one line.
while IFS= read -r entry; do
  file=$(sed -E 's/^`([^`]+)`.*/\1/' <<< "$entry")
  [[ -f $file ]] || { complain "there is no $file"; continue; }
  for name in $(sed -E 's/^`[^`]+`: //; s/[`,]/ /g' <<< "$entry"); do
    named=$((named + 1))
    grep -qE "^(BOOST_(AUTO|DATA|FIXTURE)_TEST_CASE(_TEMPLATE)?|QUINTET_SCENARIO)\($name\b" "$file" || complain "$file has no test $name"
  done
done < <(grep -oE '`[a-z_/]+\.cpp`: `[a-z_0-9]+`(, `[a-z_0-9]+`)*' SECURITY.md)
# Reads each path in a code span or in the target of a link.
paths=0
while IFS= read -r path; do
  paths=$((paths + 1))
  [[ -e $path ]] || complain "there is no $path"
done < <(grep -oE '`[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]*`|`[A-Za-z0-9_-]+\.(cpp|hpp|sh|md|txt)`|\]\([^)#: ]+' SECURITY.md |
           sed -E 's/^`(.*)`$/\1/; s/^\]\(//' | sort -u)
((paths >= 20)) || complain "names $paths files and directories; has its form changed?"
# A test file that is named without a test must contain a test.
while IFS= read -r file; do
  [[ ! -f $file ]] || grep -qE '^(BOOST_[A-Z_]*TEST_CASE|QUINTET_SCENARIO)' "$file" || complain "$file has no test"
done < <(grep -oE '`[a-z0-9_/]+/tests/[a-z0-9_/]+\.cpp`' SECURITY.md | tr -d '`' | sort -u)
((named >= 15)) || complain "names $named tests; has its form changed?"
promises=$(grep -c '^| \*\*' SECURITY.md)
((promises == 8)) || complain "has $promises promises, not eight"
exit $failed
