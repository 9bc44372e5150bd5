# SPDX-License-Identifier: BSL-1.0
"""Published figures (published.json). They are of other machines, years and kernels, so only their shape is comparable."""
import json
import pathlib

PUBLISHED = json.loads(pathlib.Path(__file__).with_suffix(".json").read_text("utf-8"))
