# shellcheck shell=bash
# SPDX-License-Identifier: BSL-1.0
# lib: the tool that is tested, a place for its files, and a count of what went wrong. Sourced with $1, the build tree.
set -u
bench=$1/benchmarks/quintet-bench
if ! [ -x "$bench" ]; then
  echo "skipped: $bench has not been built"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
