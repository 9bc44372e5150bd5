#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# python_test.sh BUILD_DIR: the unit tests of the Python part, its types and its style.
# ctest: TIMEOUT 600
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"
cd "$(dirname "$0")/.." || exit 1
python=$(sed -n 's/^QUINTET_BENCH_PYTHON:FILEPATH=//p' "$1/CMakeCache.txt")
export PYTHONDONTWRITEBYTECODE=1
QUINTET_PYTHON=$python needs_module numpy jinja2 pytest
"$python" -m pytest -rs > "$work/out" || fail 'a unit test'
sed 's/^SKIPPED [^:]*:[0-9]*: /skipped: /' "$work/out"
if "$python" -c 'import flake8' 2> /dev/null; then
  "$python" -m flake8 . || fail 'flake8'
else
  echo 'skipped: style: no flake8; apt-get install flake8'
fi
if command -v mypy > /dev/null; then
  mypy --cache-dir="$work/mypy" quintet_bench || fail 'mypy'
else
  echo 'skipped: types: no mypy; apt-get install mypy'
fi
exit $((failures > 0))
