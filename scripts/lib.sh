# shellcheck shell=bash
# lib: functions shared by scripts/*, scripts/ci/* and .ci/run, which source it.
set -euo pipefail
exec < /dev/null  # a tool that asks a question must fail instead of hang

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
started=$SECONDS

fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# reject_option <option> <program>: reports an unknown option before the build; the program could do so only afterwards.
reject_option() {
  printf '%s: %s: is not an option of this script or of %s; see --help\n' "${0##*/}" "$1" "$2" >&2
  exit 2
}

# step <name> <command...>: prints the name, runs the command, prints its time.
# If the command fails, the script exits with its status.
step() {
  local what=$1 begun=$SECONDS status
  shift
  printf '\n==> %s\n' "$what"
  set +e  # not `|| status=$?`, within which a function would continue after its first failure
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

# attempt <name> <command...>: a step whose failure does not end the script; sets `attempted` to the status. Callers
# test that afterwards: within `attempt ... || ...` or an if, bash would continue after the command's first failure.
attempt() {
  set +e
  (set -e; step "$@")
  # shellcheck disable=SC2034  # callers read it
  attempted=$?
  set -e
}

# Prints the number of parallel compilers: one per core, with 1.5 GB of memory each.
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(($(awk '/^MemAvailable/ {print $2}' /proc/meminfo) / 1500000))
  ((memory >= 1)) || memory=1
  echo "${QUINTET_JOBS:-$((cores < memory ? cores : memory))}"
}

# copy_consumer <sources> <folder>: a project outside of the sources, with the first programs of README and of the tutorial.
copy_consumer() {
  mkdir -p "$2"
  cp "$1"/cmake/tests/consumer/* "$1/examples/tutorial/step1_echo.cpp" "$2"
  awk '/^```cpp$/ {inside = 1; next} /^```$/ && inside {exit} inside' "$1/README.md" > "$2/readme_echo.cpp"
}

# quietly <log> <command...>: writes the output to a file, and prints the end of the file if the command fails.
quietly() {
  local log=$1
  shift
  "$@" > "$log" 2>&1 || { tail -n 25 "$log" >&2; return 1; }
}

# Prints the highest NN, at least 81, for which libboost1.NN-dev is installed, or else available.
boost_version() {
  local versions
  versions=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 'libboost1.*-dev' 2> /dev/null |
    sed -nE 's/^installed libboost1\.([0-9]+)-dev$/\1/p' | awk '$1 >= 81')
  [[ $versions ]] || versions=$(apt-cache pkgnames libboost1. | sed -nE 's/^libboost1\.([0-9]+)-dev$/\1/p' | awk '$1 >= 81')
  sort -n <<< "$versions" | tail -n 1
}

# packages <groups>: prints the groups' names in scripts/packages.txt. Names that are only optional keep their '?'.
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

# install_packages <groups>: installs the groups' missing packages from the distribution.
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
  for package in $(missing_packages "$@"); do  # again, because the version of Boost is only known now
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
  # --no-remove: Debian 12's Boost 1.74 conflicts with 1.81, and the user may need it.
  quietly build/apt.log as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends --no-remove "${wanted[@]}" || {
    is_installed libboost1.74-dev && echo 'Boost 1.74 is installed and conflicts with the newer one: apt-get remove libboost1.74-dev' >&2
    fail "cannot install these packages: ${wanted[*]} (apt's output: build/apt.log)"
  }
}

# require_tools: with --no-install, names a missing tool at once instead of at the first failure.
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

# configure <preset> [option...]: configures build/<preset>. Shows the output of `cmake` only after a failure.
configure() {
  local preset=$1
  shift
  mkdir -p "build/$preset"
  quietly "build/$preset/configure.log" cmake --preset "$preset" "$@"
}

# configure_sanitizer <preset>: without examples and benchmarks, and with clang, the second supported compiler, which takes
# half of g++'s time.
configure_sanitizer() {
  configure "$1" -DQUINTET_EXAMPLES=OFF -DQUINTET_BENCHMARKS=OFF -DCMAKE_CXX_COMPILER=clang++-19
}

build() {
  local preset=$1
  shift
  cmake --build --preset "$preset" --parallel "$(jobs)" "$@"
}

# Prints why tests were skipped, as a whole or in part. Each reason names the missing package.
tell_skipped() {
  awk '/^[0-9]+\/[0-9]+ Testing: / { test = $3 }
       /^skipped: / && !told[test $0]++ { printf "%s    %s: %s", lines++ ? "" : "\nSkipped here:\n", test, $0 "\n" }' "$1"
}

# run_tests <preset> [option of ctest...]: runs tests and prints the end of each failed test's log (QuintetTest.cmake).
# Runs six tests more at a time than jobs(), because most tests wait for most of their time.
run_tests() {
  local preset=$1 name log status=0
  shift
  ctest --preset "$preset" --no-tests=error --parallel "$(($(jobs) + 6))" "$@" || status=$?
  tell_skipped "build/$preset/Testing/Temporary/LastTest.log"
  ((status != 0)) || return 0
  for name in $(sed 's/^[0-9]*://' "build/$preset/Testing/Temporary/LastTestsFailed.log"); do
    log=$(find "build/$preset" -name "$name.log" -print -quit)
    [[ ! $log ]] || { printf '\n%s: the end of %s\n' "$name" "$log"; tail -c 600 "$log"; echo; }
  done
  return 1
}

total() { printf '\nTotal time: %d s.\n' $((SECONDS - started)); }

# take_turns: sets `turns` to what comes before a command whose threads run on one CPU and, where that is allowed, in strict
# turns: counts then repeat.
# shellcheck disable=SC2034
take_turns() {
  turns=(taskset --cpu-list "$(taskset -cp $$ | sed -E 's/.*: ([0-9]+).*/\1/')")
  ! chrt -f 1 true 2> /dev/null || turns+=(chrt -f 1)
}
