#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""doc_tables.py [--check]: see python/quintet_bench/doc_tables.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "python"))

from quintet_bench.doc_tables import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
