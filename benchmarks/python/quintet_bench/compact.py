# SPDX-License-Identifier: BSL-1.0
"""A --json file as scripts/record-here keeps it: without absent measurements, and medians that follow from the others."""
from typing import Any


def compacted(document: dict[str, Any]) -> dict[str, Any]:
    results = document.get("results")
    if "workload" in (results or [{}])[0]:
        document = {key: value for key, value in document.items() if key != "summary"}
        document["results"] = [{key: value for key, value in r.items() if value is not None} for r in document["results"]]
    return document
