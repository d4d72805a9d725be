"""The report as one HTML file that needs nothing else: pictures, findings, tables.

The pictures are Vega-Lite, drawn by libraries that the file carries; it asks for nothing from
anywhere. All numbers are in its text as well, for whoever searches, prints, or hears it read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tracelens.details import Details
from tracelens.report import Report
from tracelens.reports import _charts
from tracelens.reports import _html_tables as tables
from tracelens.reports import _words as words
from tracelens.reports._html import Markup, section, tag
from tracelens.reports._html_figures import Figure, figures

WANTS_DETAILS = True
"""Whoever has the run at hand passes ``details``, or the timeline and the tree are missing."""
_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'"
"""The browser is told, too, that nothing may be fetched."""
_LINKS = {
    "findings": "Findings", "budget": "Budget", "ranks": "Ranks", "iterations": "Iterations",
    "timeline": "Timeline", "idle": "Idle", "phases": "Phases", "tree": "Tree",
    "kernels": "Kernels", "trust": "Trust",
}  # fmt: skip


def render(
    report: Report, *, width: int = 80, color: bool = False, details: Details | None = None
) -> str:
    """A whole HTML document; ``width`` and ``color`` have no meaning here.

    Raises TracelensError where the packages that draw are not installed.
    """
    _charts.library()
    drawn = figures(report, details)
    sections = [s for s in _sections(report, details, drawn) if s]
    title = f"{_files(report)}: {words.verdict(report)}"
    return (
        "<!doctype html>\n"
        + tag("html", _head(title), _body(report, sections, drawn), lang="en")
        + "\n"
    )


def _head(title: str) -> Markup:
    return tag(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        tag("title", title),
        tag("style", Markup(_asset("_page.css"))),
    )


def _body(report: Report, sections: list[Markup], drawn: dict[str, Figure]) -> Markup:
    specs = {name: figure.spec for name, figure in drawn.items()}
    return tag(
        "body",
        tag("a", "To the findings", href="#main", class_="skip"),
        _header(report, sections),
        tag("main", sections, id="main"),
        tag("footer", f"Made by tracelens {report['tool']['version']}, offline, from this "
            "recording alone. Times are milliseconds unless another unit is named."),
        tag("script", Markup(_embedded(specs)), type="application/json", id="specs"),
        tag("script", Markup(_charts.script())) if specs else None,
        tag("script", Markup(_asset("_page.js"))),
    )  # fmt: skip


def _header(report: Report, sections: list[Markup]) -> Markup:
    loud = any(d["severity"] in words.LOUD for d in report["diagnoses"])
    rate = (report["throughput"] or {}).get("samples_per_second")
    there = [name for name in _LINKS if any(f' id="{name}"' in s[:60] for s in sections)]
    return tag(
        "header",
        tag("p", tag("strong", _files(report)), f" · {words.subject(report)} · "
            f"{words.ms(report['trace']['span_ms'])} ms recorded", class_="what"),
        tag("h1", words.verdict(report), class_="loud" if loud else "calm"),
        tag("p", words.iteration_line(report),
            f" {words.count(round(rate, 1))} samples a second." if rate else None),
        tag("nav", tag("ul", [tag("li", tag("a", _LINKS[n], href=f"#{n}")) for n in there]),
            aria_label="Sections"),
        tag("noscript", tag("p", "The pictures need JavaScript. The tables say the same.")),
    )  # fmt: skip


def _files(report: Report) -> str:
    names = [words.clean(Path(f).name) for f in report["trace"]["files"]]
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _sections(report: Report, details: Details | None, drawn: dict[str, Figure]) -> list[Markup]:
    def picture(name: str) -> Markup:
        return drawn[name].html if name in drawn else Markup("")

    iterations = [n for n in drawn if n.startswith("iterations")]
    idle = [n for n in drawn if n.startswith("idle")]
    return [
        section("findings", "What to do, first things first", tables.findings(report)),
        section("baseline", "Since the baseline", tables.baseline(report)),
        section("budget", _budget_title(report), picture("budget"), tables.budget(report)),
        section("ranks", "Ranks side by side", tables.ranks(report)),
        section("iterations", "Iterations over time", map(picture, iterations),
                tables.iterations(report)),
        section("timeline", _timeline_title(details), picture("timeline")),
        section("idle", "Idle time by cause", map(picture, idle)),
        section("phases", "Phases", tables.phases(report)),
        section("tree", "Ranges and what they cost", picture("tree"), tables.tree(details)),
        section("kernels", "Most GPU time", tables.kernels(report, details)),
        section("operators", "Operators", tables.operators(report)),
        section("memory", "Device memory", tables.memory(report)),
        section("trust", "How far to trust this", tables.coverage(report)),
        section("not-checked", "What was not checked", tables.not_checked(report)),
    ]  # fmt: skip


def _budget_title(report: Report) -> str:
    known = [b for b in report["budget"] if b["iterations"]]
    if len(known) != 1:
        return "Where an ordinary iteration's time goes"
    return f"Where an ordinary iteration's {words.ms(known[0]['total_ms'])} ms go"


def _timeline_title(details: Details | None) -> str:
    if details is None or details.timeline is None or details.timeline.iteration is None:
        return "Timeline"
    return f"One representative iteration: {words.clipped(details.timeline.name, 80)}"


def _embedded(specs: dict[str, Any]) -> str:
    """JSON that no name in it can end, as ``<`` is written as an escape."""
    return json.dumps(specs, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
