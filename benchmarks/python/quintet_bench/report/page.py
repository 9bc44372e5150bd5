# SPDX-License-Identifier: BSL-1.0
"""The reports of `compare` and `sweep`, each an HTML file that needs nothing else. All text from JSON is escaped."""
import collections
import pathlib
import re
from typing import Any

import jinja2
from markupsafe import Markup, escape

from ..errors import FileError
from ..results import pretty, read_document, read_json, summarise
from .figures import MODELS, complete, percentiles, shown, tint_of, tip
from .others import AXES, SECTIONS, words

FOLDER = pathlib.Path(__file__).parent / "templates"
TEMPLATES = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                               undefined=jinja2.StrictUndefined)


def plain(text: object) -> str:
    """Units as they are printed, on the line of their number."""
    return re.sub(r"(\d) (?=(?:%|µs|ns|ms|s|times)(?:\W|$))", "\\1\u00a0", re.sub(r"(\d) us\b", r"\1 µs", str(text)))


def rich(text: object) -> Markup:
    """The same, escaped; names of models and the like stand out as code."""
    return Markup(re.sub(r"\b[a-z]+(?:_[a-z]+)+\b", r"<code>\g<0></code>", str(escape(plain(text)))))


TEMPLATES.filters |= {"plain": plain, "rich": rich, "words": words,
                      "short": lambda text: re.sub(r"\.?0+(?= |$)", "", text) if "." in text else text,
                      "script_json": lambda value: Markup(pretty(value).replace("<", "\\u003c"))}  # nothing looks like markup
TEMPLATES.globals |= {"percentiles": percentiles, "shown": shown, "tip": tip, "tint_of": tint_of, "models": MODELS,
                      "own": lambda name: Markup((FOLDER / name).read_text(encoding="utf-8"))}


def origin(document: dict[str, Any], beginning: str) -> str:
    about = document.get("environment") or {}
    date = str(about.get("date") or "")[:16].replace("T", " ")
    return " · ".join(filter(None, (beginning, about.get("cpu_model"), f"{about.get('cores') or '?'} cores", date)))


def section(document: dict[str, Any], anchor: str) -> dict[str, Any]:
    """What another command has measured: anchor, heading and html."""
    command = document["command"]
    _, heading, make = SECTIONS[command]
    subject = ({document["settings"]["axis"]} if command == "sweep" else
               {result["scenario"] for result in document["results"]} if command == "stress" else set())
    heading += f": {subject.pop()}" if len(subject) == 1 else ""
    html = TEMPLATES.get_template("section.html").render(
        anchor=anchor, heading=heading, origin=origin(document, f"quintet-bench {command}"), noise=document.get("noise"),
        parts=collections.defaultdict(tuple, make(document)))
    return {"anchor": anchor, "heading": heading, "html": Markup(html)}


def read_other(path: str) -> dict[str, Any]:
    """Reads a file that a command with a section wrote with --json. Raises FileError."""
    document = read_json(path)
    command = str(document.get("command"))
    if command not in SECTIONS:
        raise FileError(f"{path}: of quintet-bench {command}, which has no section; there are those of {', '.join(SECTIONS)}")
    key = SECTIONS[command][0]
    if key == "summary" and key not in document:  # doc/results has the runs alone
        document[key] = [c.to_json() for c in summarise(read_document(path).results)]
    try:
        if not isinstance(document[key], list):
            raise TypeError(key)
        section(document, "")
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, jinja2.TemplateError) as error:
        raise FileError(f'{path}: "{key}" does not have the format that this program writes') from error
    return document


def comparison_page(document: dict[str, Any], others: list[dict[str, Any]]) -> str:
    """The page of a document as `compare --json` writes it, with a section for each of the others: see read_other()."""
    rows = sorted(map(complete, document["summary"]), key=lambda row: row["tint"])  # peers after the models
    legend = {row["label"]: row for row in rows}
    for row in rows:
        row["toggle"] = f"k{list(legend).index(row['label'])}"
    workloads = {name: [row for row in rows if row["workload"] == name]
                 for name in dict.fromkeys(row["workload"] for row in document["summary"])}
    ratios = [[r["workload"], r["model"], f"hand-written {r['peer']}", f"{r['median']:.2f} ({r['min']:.2f} to {r['max']:.2f})"]
              for r in document["peer_ratios"]]
    return TEMPLATES.get_template("comparison.html").render(
        document=document, others=others, workloads=workloads, legend=list(legend.values()), ratios=ratios,
        verdicts={verdict["workload"]: verdict for verdict in document["verdicts"]},
        sections=[section(other, f"o-{other['command']}-{i}") for i, other in enumerate(others)],
        origin=origin(document, "comparison of threading models"))


def sweep_page(document: dict[str, Any]) -> str:
    """The page of a document as `sweep --json` writes it."""
    axis = document["settings"]["axis"]
    return TEMPLATES.get_template("sweep.html").render(document=document, others=[], axis=axis, column=AXES[axis][1],
                                                       section=section(document, "sweep"))
