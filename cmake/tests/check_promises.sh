#!/usr/bin/env bash
# check_promises: SECURITY.md names the tests that hold its promises; each of them exists.
set -euo pipefail
failed=0 named=0
complain() { echo "SECURITY.md: $1" >&2; failed=1; }

# Each `file`: `test`, `test`... as a line of its own.
while IFS= read -r entry; do
  file=$(sed -E 's/^`([^`]+)`.*/\1/' <<< "$entry")
  [[ -f $file ]] || { complain "there is no $file"; continue; }
  for name in $(sed -E 's/^`[^`]+`: //; s/[`,]/ /g' <<< "$entry"); do
    named=$((named + 1))
    grep -qE "^(BOOST_(AUTO|DATA|FIXTURE)_TEST_CASE(_TEMPLATE)?|QUINTET_SCENARIO)\($name\b" "$file" || complain "$file has no test $name"
  done
done < <(grep -oE '`[a-z_/]+\.cpp`: `[a-z_0-9]+`(, `[a-z_0-9]+`)*' SECURITY.md)
((named >= 15)) || complain "names $named tests; has its form changed?"
promises=$(grep -c '^| \*\*' SECURITY.md)
((promises == 7)) || complain "has $promises promises, not seven"
exit $failed
