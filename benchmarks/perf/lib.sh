# SPDX-License-Identifier: BSL-1.0
# lib.sh: what the scripts of this folder have in common: a process, some seconds, and one line when it cannot be done.
set -u -o pipefail
export LC_ALL=C  # the output of perf is parsed

# Reads PID and SECONDS (5) from the arguments of the script; the rest is left in `rest`. `about`: for --help.
about='' rest=()
begin() {
  if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    printf '%s\nUsage: %s PID [SECONDS]%s\n' "$about" "$0" "${extra_usage:-}"
    printf 'SECONDS: 5 by default. Exit status: 2 wrong usage, 3 it cannot be done here; one line says why and what helps.\n'
    printf 'Example: %s "$(pgrep -n quintet-bench)" 10\n' "$0"
    exit 0
  fi
  pid=${1:-} seconds=${2:-5}
  [[ $pid =~ ^[0-9]+$ ]] || wrong "the first argument is '$pid'; it must be a process ID (see --help)"
  [[ $seconds =~ ^[1-9][0-9]*$ ]] || wrong "the second argument is '$seconds'; it must be a whole number of seconds from 1 (see --help)"
  [[ -d /proc/$pid ]] || wrong "there is no process $pid"
  rest=("${@:3}")
  work=$(mktemp -d) || exit 1
  trap 'rm -rf "$work"' EXIT
}

wrong() { printf '%s: %s\n' "${0##*/}" "$1" >&2; exit 2; }
# It cannot be done here: why, and how it could.
cannot() { printf '%s: %s\n' "${0##*/}" "$1" >&2; exit 3; }

# Explains what perf has written to $work/said: `counts`: which events are missing or doubtful, `failure`: why it failed.
explain() {
  python3 "$(dirname "${BASH_SOURCE[0]}")/../python/quintet_bench/study/perf_stat.py" "$1" "$work/said" 2> /dev/null ||
    { grep -vE '^ *(Error:)?$' "$work/said" | head -n 1; }
}

# Ubuntu's perf is a script that looks for the perf of the running kernel.
need_perf() {
  command -v perf > /dev/null || cannot "perf is not installed; Debian: apt-get install linux-perf, Ubuntu: linux-tools-generic"
  perf --version > "$work/said" 2>&1 || cannot "$(explain failure)"
}

# Runs perf, whose words are in $work/said.
run_perf() {
  perf "$@" > "$work/said" 2>&1 || cannot "${event:+event $event: }$(explain failure)"
}

# Says that samples lack the kernel, where perf has added :u because the user may not see it.
tell_user_only() {
  perf evlist -i "$work/data" 2> /dev/null | grep -q ':[a-zA-Z]*u' || return 0
  printf 'Only user space was sampled, not the kernel: run as root, or sysctl kernel.perf_event_paranoid=1\n'
}
