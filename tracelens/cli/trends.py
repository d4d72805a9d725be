"""``tracelens trends``: how the runs of an archive develop, and where they changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tracelens.cli import _common, _tables

_SHOWN_RUNS = 20
_SPARK_WIDTH = 40
_OF_RUN = ("period_ms", "backward_over_forward", "idle_share")
_NUMBERS = ("period ms", "bwd/fwd", "idle %")
_HEADS = ("recorded", "run", *_NUMBERS, "first finding")


@click.command(short_help="How the runs of an archive develop, and where they changed.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--series", metavar="REGEX",
    help="Runs whose names it matches alike are of one kind.  [default: but for numbers]",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Form of it."
)
@click.option("--output", type=click.Path(path_type=Path), help="Write it to this file.")
def command(folder: Path, series: str | None, form: str, output: Path | None) -> None:
    """Show period, ratio, idle share, phases and findings by run and date; flag where they changed.

    DIR is what tracelens batch wrote.

    \b
    Example:
      tracelens batch profiles/ --output archive
      tracelens trends archive
    """
    from tracelens.archives import archive
    from tracelens.trends import trends

    with _common.working("reading"):
        found = trends(archive(folder), series)
    if form == "json":
        text = json.dumps(found, indent=2, allow_nan=False) + "\n"
    else:
        text = "\n".join(_lines(found)) + "\n"
    _common.write(text, output)


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    from tracelens.reports._words import plural

    errors = plural(found["errors"], "error")
    yield f"{plural(found['runs'], 'run')}, {errors}, {plural(len(found['series']), 'kind')}"
    for series in found["series"]:
        if len(series["runs"]) > 1:
            yield ""
            yield from _series(series)
    single = [series for series in found["series"] if len(series["runs"]) == 1]
    if single:
        yield "\nThe only ones of their kind"
        yield from (f"  {line}" for line in _table(single))


def _series(series: Mapping[str, Any]) -> Iterator[str]:
    from tracelens.reports._words import clean, plural, sparkline

    count = len(series["runs"])
    yield f"{clean(series['name'])} · {clean(series['gpus'])} · {plural(count, 'run')}"
    yield from (f"  {line}" for line in _table([series]))
    for metric in series["metrics"]:
        known = [value for value in metric["values"] if value is not None]
        if any(known):
            yield f"  {clean(metric['metric']):28} {sparkline(known, _SPARK_WIDTH)}"
    for metric in series["metrics"]:
        for change in metric["changes"]:
            yield f"  changed: {clean(metric['metric'])} {_told(change)}"


def _table(kinds: Sequence[Mapping[str, Any]]) -> list[str]:
    """The latest runs, the metrics of whole runs beside each other."""
    rows = [row for series in kinds for row in _rows(series)]
    lines = _tables.table(_HEADS, rows[-_SHOWN_RUNS:], right=_NUMBERS)
    if len(rows) > _SHOWN_RUNS:
        lines.append(f"the latest {_SHOWN_RUNS} of {len(rows):,}; --format json has all")
    return lines


def _rows(series: Mapping[str, Any]) -> Iterator[list[Any]]:
    from tracelens.reports._words import MISSING, ms

    columns = {metric["metric"]: metric["values"] for metric in series["metrics"]}
    for place, run in enumerate(series["runs"]):
        period, ratio, idle = (columns[name][place] for name in _OF_RUN)
        yield [
            (run["recorded_at"] or "-")[:16],
            run["run"],
            ms(period),
            ms(ratio),
            MISSING if idle is None else f"{100 * idle:.1f}",
            run["top_finding"] or "-",
        ]


def _told(change: Mapping[str, Any]) -> str:
    from tracelens.reports._words import clean

    day = (change["recorded_at"] or "an unknown date")[:16]
    return f"{change['before']:.4g} -> {change['after']:.4g} at {clean(change['run'])} ({day})"
