#!/usr/bin/env bash
# check_steps: a step that fails in the middle counts as failed, even if the script continues after it. The scripts
# refuse wrong options at once.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect <status> <name> <script lines>: runs the lines after sourcing scripts/lib.sh.
expect() {
  local status=0 said
  printf '. "%s/scripts/lib.sh"\nfails_in_the_middle() { false; echo "went on"; }\n%s\n' "$PWD" "$3" > "$work/script"
  said=$(bash "$work/script" 2>&1) || status=$?
  if [[ $status != "$1" || $said == *'went on'* ]]; then
    printf '%s: status %s instead of %s, and it said:\n%s\n' "$2" "$status" "$1" "$said" >&2
    failed=1
  fi
}
expect 1 'step' 'step what fails_in_the_middle'
# shellcheck disable=SC2016  # the inner script expands it
expect 7 'attempt' 'attempt what fails_in_the_middle; ((attempted == 0)) || exit 7'
# shellcheck disable=SC2016
expect 0 'attempt, when all is well' 'attempt what true; ((attempted == 0)) || exit 7'

# bash ignores `set -e` in a step before || or &&, and in a condition.
if found=$(grep -d skip -nE '(\(|if |! )(step|attempt) .*(\|\||&&|; then)' .ci/run scripts/* scripts/ci/* 2> /dev/null); then
  printf 'a step whose failures are ignored:\n%s\n' "$found" >&2
  failed=1
fi

# A wrong option must be refused before anything is installed or built.
for script in scripts/test scripts/compare scripts/package scripts/release scripts/ci/abi; do
  status=0
  said=$("$script" --no-such-option 2>&1) || status=$?
  if ((status != 2)) || [[ $said != *--no-such-option* ]]; then
    printf '%s --no-such-option: status %s instead of 2, and it said:\n%s\n' "$script" "$status" "$said" >&2
    failed=1
  fi
done
exit $failed
