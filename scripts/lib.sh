# shellcheck shell=bash
# lib: what scripts/compare, scripts/test and .ci/run have in common. Sourced, with $0 the script that does so.
set -euo pipefail
exec < /dev/null  # nothing here asks; a tool that would must fail instead of hang

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
started=$SECONDS

fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# reject_option <option> <program>: before anything is built; the program would say so only afterwards.
reject_option() {
  printf '%s: %s: is not an option of this script or of %s; see --help\n' "${0##*/}" "$1" "$2" >&2
  exit 2
}

# step <what> <command...>: says what it does before, and how long it took after.
# The script ends with the command's status if that fails.
step() {
  local what=$1 begun=$SECONDS status
  shift
  printf '\n==> %s\n' "$what"
  set +e  # not `|| status=$?`: within that, a function would go on after its first failure
  (set -e; "$@")
  status=$?
  set -e
  if ((status != 0)); then
    local how=failed
    ((status != 130)) || how=interrupted
    printf '%s: %s: %s after %d s\n' "${0##*/}" "$what" "$how" $((SECONDS - begun)) >&2
    exit "$status"
  fi
  printf '    %s: %d s\n' "$what" $((SECONDS - begun))
}

# attempt <what> <command...>: a step whose failure does not end the script; its status is in `attempted`. Callers test
# that afterwards: within `attempt ... || ...`, or an if, bash would go on after the first failure of the command.
attempt() {
  set +e
  (set -e; step "$@")
  # shellcheck disable=SC2034  # the caller's to read
  attempted=$?
  set -e
}

# How many compilers at once: one a core, and 1.5 GB of memory for each.
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(($(awk '/^MemAvailable/ {print $2}' /proc/meminfo) / 1500000))
  ((memory >= 1)) || memory=1
  echo "${QUINTET_JOBS:-$((cores < memory ? cores : memory))}"
}

# quietly <log> <command...>: the output goes to a file, of which the end is shown when the command fails.
quietly() {
  local log=$1
  shift
  "$@" > "$log" 2>&1 || { tail -n 25 "$log" >&2; return 1; }
}

# The highest 1.NN of at least 81 for which libboost1.NN-dev is installed, or else can be.
boost_version() {
  local versions
  versions=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 'libboost1.*-dev' 2> /dev/null |
    sed -nE 's/^installed libboost1\.([0-9]+)-dev$/\1/p' | awk '$1 >= 81')
  [[ $versions ]] || versions=$(apt-cache pkgnames libboost1. | sed -nE 's/^libboost1\.([0-9]+)-dev$/\1/p' | awk '$1 >= 81')
  sort -n <<< "$versions" | tail -n 1
}

# packages <groups>: the names in scripts/packages.txt of these groups, those that no group insists on with their '?'.
packages() {
  local nn
  nn=$(boost_version)
  awk -v groups=" $* " 'index(groups, " " $1 " ") && !/^#/ {print $2}' scripts/packages.txt |
    sed "s/1\.NN/1.${nn:-NN}/" | sort -u |
    awk '{names[$0]} END {for (n in names) if (!(n ~ /^\?/ && substr(n, 2) in names)) print n}' | sort
}

is_installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null) == installed* ]]; }
can_be_had() { [[ $(apt-cache policy "$1" 2> /dev/null) =~ Candidate:\ [^\(] ]]; }

missing_packages() {
  local package
  for package in $(packages "$@"); do is_installed "${package#\?}" || echo "$package"; done
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

# install_packages <groups>: what is missing of them, from the distribution's packages.
install_packages() {
  local missing package wanted=()
  command -v apt-get dpkg-query > /dev/null ||
    fail "apt-get is not available; this script installs packages on Debian 12, Debian 13 and Ubuntu 24.04. Elsewhere, install the packages of scripts/packages.txt yourself and use --no-install."
  missing=$(missing_packages "$@")
  [[ $missing ]] || { echo '    nothing is missing'; return; }
  ((EUID == 0)) || command -v sudo > /dev/null ||
    fail "packages are missing, and installing them needs root or sudo. As root: apt-get install$(printf ' %s' ${missing//\?/})"
  mkdir -p build
  export DEBIAN_FRONTEND=noninteractive
  as_root apt-get update -q > build/apt.log 2>&1 || echo "    cannot refresh the package lists (build/apt.log); the existing ones are used"
  for package in $(missing_packages "$@"); do  # once more: only now is it known which Boost there is
    if can_be_had "${package#\?}"; then
      wanted+=("${package#\?}")
    elif [[ $package == \?* ]]; then
      echo "    ${package#\?} is skipped: this system's package sources do not have it"
    else
      fail "${package} is not in this system's package sources ($(. /etc/os-release; echo "$PRETTY_NAME")); see scripts/packages.txt"
    fi
  done
  ((${#wanted[@]})) || return 0
  echo "    installing ${wanted[*]}"
  # Removing nothing: Debian 12's Boost 1.74 excludes 1.81, and someone may need it.
  quietly build/apt.log as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends --no-remove "${wanted[@]}" || {
    is_installed libboost1.74-dev && echo 'Boost 1.74 is installed and conflicts with the newer one: apt-get remove libboost1.74-dev' >&2
    fail "cannot install these packages: ${wanted[*]} (apt's output: build/apt.log)"
  }
}

# require_tools: with --no-install, what is missing is named at once and not by the first thing that breaks.
require_tools() {
  local tool
  for tool in cmake ninja; do
    command -v "$tool" > /dev/null || fail "$tool is not installed; without --no-install this script installs it"
  done
}

# require_tool <program> <package...>: fails with the command that installs the program.
require_tool() {
  local program=$1
  shift
  command -v "$program" > /dev/null || fail "$program is not installed: apt-get install $*"
}

# configure <preset> [option...]: in build/<preset>; `cmake` says a lot, of which only failures are of interest.
configure() {
  local preset=$1
  shift
  mkdir -p "build/$preset"
  quietly "build/$preset/configure.log" cmake --preset "$preset" "$@"
}

build() {
  local preset=$1
  shift
  cmake --build --preset "$preset" --parallel "$(jobs)" "$@"
}

# Of each test that was skipped, as a whole or in part, the reason: it names what is missing, and the package to install.
tell_skipped() {
  awk '/^[0-9]+\/[0-9]+ Testing: / { test = $3 }
       /^skipped: / && !told[test $0]++ { printf "%s    %s: %s", lines++ ? "" : "\nSkipped here:\n", test, $0 "\n" }' "$1"
}

# run_tests <preset> [option of ctest...]: of each that failed, also the last that its log (QuintetTest.cmake) has.
# Two at a time more than there are cores: most tests wait half of their time.
run_tests() {
  local preset=$1 name log status=0
  shift
  ctest --preset "$preset" --no-tests=error --parallel "$(($(jobs) + 2))" "$@" || status=$?
  tell_skipped "build/$preset/Testing/Temporary/LastTest.log"
  ((status != 0)) || return 0
  for name in $(sed 's/^[0-9]*://' "build/$preset/Testing/Temporary/LastTestsFailed.log"); do
    log=$(find "build/$preset" -name "$name.log" -print -quit)
    [[ ! $log ]] || { printf '\n%s: the end of %s\n' "$name" "$log"; tail -c 600 "$log"; echo; }
  done
  return 1
}

total() { printf '\nTotal time: %d s.\n' $((SECONDS - started)); }
