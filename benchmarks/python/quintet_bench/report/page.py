# SPDX-License-Identifier: BSL-1.0
"""The report of `compare`, an HTML file that needs nothing else. All text from JSON is escaped."""
import pathlib
import re
from typing import Any

import jinja2
from markupsafe import Markup, escape

from ..plan import MODELS
from ..results import label_of, pretty
from ..table import SHOWN
from ..text import shown, words

Row = dict[str, Any]                    # a member of "summary"
FOLDER = pathlib.Path(__file__).parent / "templates"
TEMPLATES = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                               undefined=jinja2.StrictUndefined)


def plain(text: object) -> str:
    """Units as they are printed, on the line of their number."""
    return re.sub(r"(\d) (?=(?:%|µs|ns|ms|s|times)(?:\W|$))", "\\1\u00a0", re.sub(r"(\d) us\b", r"\1 µs", str(text)))


def rich(text: object) -> Markup:
    """The same, escaped; names of models and the like stand out as code."""
    return Markup(re.sub(r"\b[a-z]+(?:_[a-z]+)+\b", r"<code>\g<0></code>", str(escape(plain(text)))))


def tint_of(model: str | None) -> str:
    """The class that has the model's colour."""
    return f"m{MODELS.index(model) + 1}" if model in MODELS else "peer"


def complete(row: Row) -> Row:
    """Adds the server's name and colour. The range has only what was measured."""
    measured = {key: span for key, span in row["range"].items() if span}
    return row | {"label": label_of(row), "tint": tint_of(row["model"]), "range": measured}


def tip(row: Row, key: str) -> str:
    """What a mark shows when the pointer is on it."""
    rounds = f"{row['rounds']} rounds: {' to '.join(shown(key, value) for value in row['range'][key])}"
    return f"{shown(key, row[key])}; {rounds if row['rounds'] > 1 else 'one round'}"


TEMPLATES.filters |= {"plain": plain, "rich": rich, "words": words,
                      "script_json": lambda value: Markup(pretty(value).replace("<", "\\u003c"))}  # nothing looks like markup
TEMPLATES.globals |= {"shown": shown, "tip": tip, "tint_of": tint_of, "models": MODELS,
                      "titles": {key: title for key, (title, _) in SHOWN.items()} | {"bottleneck": "bottleneck"},
                      "own": lambda name: Markup((FOLDER / name).read_text(encoding="utf-8"))}


def comparison_page(document: dict[str, Any]) -> str:
    """The page of a document as `compare --json` writes it."""
    rows = sorted(map(complete, document["summary"]), key=lambda row: row["tint"])  # peers after the models
    workloads = {name: [row for row in rows if row["workload"] == name]
                 for name in dict.fromkeys(row["workload"] for row in document["summary"])}
    ratios = [[r["workload"], r["model"], f"hand-written {r['peer']}", f"{r['median']:.2f} ({r['min']:.2f} to {r['max']:.2f})"]
              for r in document["peer_ratios"]]
    about = document["environment"]
    origin = ("comparison of threading models", about.get("cpu_model"), f"{about.get('cores') or '?'} cores",
              str(about.get("date") or "")[:16].replace("T", " "))
    return TEMPLATES.get_template("comparison.html").render(
        document=document, workloads=workloads, ratios=ratios,
        verdicts={verdict["workload"]: verdict for verdict in document["verdicts"]},
        origin=" · ".join(filter(None, origin)))
