"""The report as Markdown, for a pull request or the summary of a CI job."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tracelens.report import Report
from tracelens.reports import _words as words

_SHOWN_PARTS = 12


def render(report: Report, *, width: int = 80, color: bool = False) -> str:
    """The report as GitHub-flavoured Markdown; ``width`` and ``color`` have no meaning here."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: Report) -> Iterator[str]:
    files = ", ".join(escaped(Path(f).name) for f in report["trace"]["files"])
    yield f"## {files}\n"
    yield f"**{escaped(words.verdict(report))}**\n"
    yield f"{escaped(words.subject(report))}. {escaped(words.iteration_line(report))}\n"
    yield from _findings(report["diagnoses"])
    if report["baseline"]:
        yield "### Since the baseline\n"
        yield from (f"- {escaped(line)}" for line in words.since_baseline(report))
        yield ""
    yield from _budgets(report)
    yield from _phases(report["phases"])
    yield from _warnings(report["coverage"]["warnings"])


def _findings(diagnoses: Sequence[dict[str, Any]]) -> Iterator[str]:
    if not diagnoses:
        return
    yield "### Findings\n"
    yield from table(
        ("", "finding", "worth (ms an iteration)", "share", "next"),
        (
            (
                d["severity"],
                f"`{d['id']}` {escaped(d['title'])}",
                words.ms(d["recoverable_ms"]),
                words.percent(d["share_of_period"])
                + (" of the mean" if d["share_of"] == "mean" else ""),
                escaped(next(iter(d["next_steps"]), "")),
            )
            for d in diagnoses
        ),
    )


def _budgets(report: Report) -> Iterator[str]:
    budgets = report["budget"]
    if len(budgets) > words.FEW_DEVICES:
        yield from _compared(report, [b for b in budgets if b["iterations"]])
        return
    for budget in budgets:
        total = words.ms(budget["total_ms"])
        yield f"### Where {total} ms of an iteration go (GPU {budget['device']})\n"
        yield from table(
            ("part", "ms", "share"),
            (
                (
                    escaped(words.part_name(part)),
                    words.ms(part["ms"]),
                    words.percent(words.share(part["ms"], budget["total_ms"])),
                )
                for part in words.ordered_parts(budget)
            ),
        )


def _compared(report: Report, budgets: Sequence[dict[str, Any]]) -> Iterator[str]:
    """One row a device, where each by itself would fill pages."""
    names = words.compared_parts(budgets, _SHOWN_PARTS)
    yield "### Where an iteration's time goes (shares)\n"
    yield from table(
        ("device", "ms", *map(escaped, names)),
        (
            (
                words.device_name(report, budget["device"]),
                words.ms(budget["total_ms"]),
                *words.part_shares(budget, names),
            )
            for budget in budgets
        ),
    )


def _phases(phases: Sequence[dict[str, Any]]) -> Iterator[str]:
    if not phases:
        return
    yield "### Phases (medians)\n"
    yield from table(
        ("phase", "GPU span (ms)", "GPU busy (ms)", "CPU (ms)", "kernels", "instances"),
        (
            (
                escaped(p["phase"]),
                words.ms(p["gpu_span_ms"]["median"]),
                words.ms(p["gpu_busy_ms"]["median"]),
                words.ms(p["cpu_ms"]["median"]),
                words.count(p["kernels_per_instance"]),
                words.count(p["instances"]),
            )
            for p in phases
        ),
    )


def _warnings(warnings: Sequence[dict[str, Any]]) -> Iterator[str]:
    if warnings:
        yield "### Coverage\n"
    for warning in warnings:
        yield f"- `{warning['code']}` {escaped(warning['message'])} {escaped(warning['advice'])}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Lines of a table, and an empty one."""
    yield f"| {' | '.join(heads)} |"
    yield "|" + " --- |" * len(heads)
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def escaped(text: object) -> str:
    """Text that Markdown and HTML leave as it is, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", words.clean(text))
