# SPDX-License-Identifier: BSL-1.0
"""The Python part of quintet-bench. The program quintet-bench starts it for each command that it does not have itself."""
import signal
import sys

from quintet_bench.main import main

for number in (signal.SIGINT, signal.SIGTERM):  # as Ctrl-C, even where a shell ignores SIGINT for a background job
    signal.signal(number, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
