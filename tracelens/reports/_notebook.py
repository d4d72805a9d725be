"""A run as a cell of a notebook shows it: the verdict, the budget as a bar, the findings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tracelens.report import Report
from tracelens.reports import _charts, _palette
from tracelens.reports import _words as words
from tracelens.reports._html import Markup, swatch, tag

_SHOWN_DEVICES = 8
_BAR = "display:flex;height:20px;max-width:60em;border-radius:4px;overflow:hidden"
_SWATCH = "display:inline-block;width:0.8em;height:0.8em;border-radius:2px;"


def render(report: Report) -> str:
    """HTML for a notebook: no script, no style but its own, every text escaped."""
    files = ", ".join(words.clean(Path(f).name) for f in report["trace"]["files"][:4])
    costly = [d for d in report["diagnoses"] if d["severity"] != "info"]
    return tag(
        "div",
        tag("div", tag("b", files), f" · {words.subject(report)} · "
            f"{words.ms(report['trace']['span_ms'])} ms"),
        tag("div", words.iteration_line(report)),
        tag("p", tag("b", words.verdict(report))),
        [_budget(b, len(report["budget"])) for b in report["budget"][:_SHOWN_DEVICES]],
        tag("ol", map(_finding, costly)) if costly else None,
    )  # fmt: skip


def _budget(budget: Mapping[str, Any], devices: int) -> Markup | None:
    total = budget["total_ms"]
    if not budget["iterations"] or not total:
        return None
    gpu = f"GPU {budget['device']}: " if devices > 1 else ""
    parts = words.ordered_parts(budget)
    colors = [_palette.color(_charts.part_group(part)) for part in parts]
    bars = [
        tag("div", style=f"background:{color};width:{100 * part['ms'] / total:.3f}%",
            title=f"{words.part_name(part)} {words.ms(part['ms'])} ms")
        for part, color in zip(parts, colors, strict=True)
    ]  # fmt: skip
    names = [
        tag("span", swatch(color, _SWATCH), f" {words.part_name(part)} {words.ms(part['ms'])} ms ",
            style="margin-right:1em")
        for part, color in zip(parts, colors, strict=True)
    ]  # fmt: skip
    return tag(
        "div",
        tag("div", f"{gpu}where an ordinary iteration's {words.ms(total)} ms go"),
        tag("div", bars, style=_BAR),
        tag("div", names, style="max-width:60em"),
        style="margin:6px 0",
    )


def _finding(finding: Mapping[str, Any]) -> Markup:
    told = filter(None, (finding["id"], words.worth_and_share(finding)))
    return tag(
        "li",
        tag("b", finding["title"]),
        f" ({finding['severity']}: {', '.join(told)})",
    )
