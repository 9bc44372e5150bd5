# SPDX-License-Identifier: BSL-1.0
"""`python -m quintet_bench.compact IN OUT`: a --json file as doc/results keeps it, without measurements that are absent and
medians that follow from the results. Behind the file's name may follow keys of results to leave out: no table uses them."""
import json
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from .results import pretty, read_json, write_output


def compacted(document: dict[str, Any], unused: Sequence[str] = ()) -> dict[str, Any]:
    results = document.get("results")
    if "workload" in (results or [{}])[0]:
        document = {key: value for key, value in document.items() if key != "summary"}
        document["results"] = [{key: value for key, value in r.items() if value is not None and key not in unused}
                               for r in document["results"]]
    return document


def compact(document: dict[str, Any], unused: Sequence[str] = ()) -> str:
    return pretty(compacted(document, unused), partial(json.dumps, separators=(",", ":"))) + "\n"


if __name__ == "__main__":
    write_output(sys.argv[2], compact(read_json(sys.argv[1]), sys.argv[3:]))
