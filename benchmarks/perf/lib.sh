# SPDX-License-Identifier: BSL-1.0
# lib.sh: what the scripts of this folder have in common: a process, some seconds, and one line when it cannot be done.
set -u -o pipefail

# Reads PID and SECONDS (5) from the arguments of the script; the rest is left in `rest`. `about`: for --help.
about='' rest=()
begin() {
  if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    printf '%s\nUsage: %s PID [SECONDS]%s\nExample: %s "$(pgrep -n quintet-bench)" 10\n' "$about" "$0" "${extra_usage:-}" "$0"
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

need_perf() {
  command -v perf > /dev/null || cannot "perf is not installed; Debian: apt-get install linux-perf, Ubuntu: linux-tools-generic"
}

# Runs perf, whose words are in $work/said; the reason where it fails is one of those that can be helped.
run_perf() {
  perf "$@" > "$work/said" 2>&1 && return
  local level
  level=$(cat /proc/sys/kernel/perf_event_paranoid 2> /dev/null)
  if grep -qiE 'permission|not permitted|access to performance|paranoid' "$work/said"; then
    cannot "perf has no permission (kernel.perf_event_paranoid is $level): run as root, or sysctl kernel.perf_event_paranoid=1"
  fi
  if grep -qiE 'tracefs|debugfs|tracepoint' "$work/said"; then
    cannot "cannot read the kernel's tracepoints: run as root, with /sys/kernel/tracing mounted"
  fi
  cannot "perf $1: $(grep -vE '^ *$' "$work/said" | head -n 1)"
}
