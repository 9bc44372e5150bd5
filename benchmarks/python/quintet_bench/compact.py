# SPDX-License-Identifier: BSL-1.0
"""`python -m quintet_bench.compact IN OUT`: a --json file as doc/results keeps it. Each result has a line of its own, so
that a later version differs by lines. Measurements that are absent, and medians that follow from the results, are left out."""
import functools
import json
import sys
from typing import Any

from .results import read_json, write_output

dumps = functools.partial(json.dumps, ensure_ascii=False, separators=(",", ":"))


def compact(document: dict[str, Any]) -> str:
    runs = "workload" in (document["results"] or [{}])[0]

    def text(value: Any) -> str:
        lists = isinstance(value, list) and value and isinstance(value[0], dict)
        return "[\n" + ",\n".join(map(dumps, value)) + "\n]" if lists else dumps(value)
    kept = {key: value for key, value in document.items() if not (runs and key == "summary")}
    if runs:
        kept["results"] = [{key: value for key, value in r.items() if value is not None} for r in document["results"]]
    return "{\n" + ",\n".join(f"{dumps(key)}:{text(value)}" for key, value in kept.items()) + "\n}\n"


if __name__ == "__main__":
    write_output(sys.argv[2], compact(read_json(sys.argv[1])))
