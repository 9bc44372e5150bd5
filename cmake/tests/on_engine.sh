#!/usr/bin/env bash
# on_engine: runs a test with an engine as the default one. Skips it (77) if the kernel refuses the engine.
# Usage: on_engine.sh <engine> <quintet_engine_check> <test> [argument...]
set -eu
export QUINTET_ENGINE=$1
check=$2
shift 2
"$check"
exec "$@"
