"""``tracelens batch``: many runs into an archive of Parquet files."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tracelens.cli import _common

if TYPE_CHECKING:
    from tracelens.batch import Summary, Told

_SHOWN_ERRORS = 20
_UNITS = {"K": 1, "M": 2, "G": 3, "T": 4}


def _bytes(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    checked = _common.size(context, parameter, value)
    if checked is None:
        return None
    number, unit = re.findall(r"[\d.]+|[A-Za-z]", checked)[:2]
    base = 1024 if "i" in checked else 1000
    return int(float(number) * base ** _UNITS[unit.upper()])


@click.command(short_help="Analyse an archive of runs into tables, each run once.")
@click.argument("archive", nargs=-1, required=True)
@click.option(
    "--output", required=True, type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Folder of the tables; what is there already is kept.",
)  # fmt: skip
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N",
    help="Processes at a time.  [default: half of the cores]",
)  # fmt: skip
@click.option(
    "--group", metavar="REGEX",
    help="Files that it matches alike are ranks of one run.  [default: the number after 'rank']",
)  # fmt: skip
@click.option("--iterations", metavar="REGEX", help="Ranges with such names are the iterations.")
@click.option(
    "--phases", metavar="FILE.toml", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="More names of phases.",
)  # fmt: skip
@click.option(
    "--samples", type=click.FloatRange(min=0, min_open=True), metavar="N",
    help="Samples in one iteration, for samples a second.",
)  # fmt: skip
@click.option(
    "--memory-limit", metavar="SIZE", callback=_bytes,
    help="Memory of each job, such as 4GB.  [default: 80 % of the machine's, shared]",
)  # fmt: skip
@click.option("--dask", metavar="ADDRESS", help="Use the workers of this Dask scheduler.")
def command(
    archive: tuple[str, ...],
    output: Path,
    jobs: int | None,
    group: str | None,
    iterations: str | None,
    phases: Path | None,
    samples: float | None,
    memory_limit: int | None,
    dask: str | None,
) -> None:
    """Analyse every run of an archive into tables; what is unchanged is not analysed again.

    \b
    Example:
      tracelens batch profiles/ --output archive --jobs 4
      tracelens batch 's3://bucket/profiles/**' --output archive --dask tcp://host:8786
    """
    from tracelens.batch import run_batch
    from tracelens.options import Options
    from tracelens.trace import valid_pattern

    with _progress() as told:
        summary = run_batch(
            archive,
            output,
            jobs=jobs,
            group=group,
            options=Options(valid_pattern(iterations), phases, samples),
            memory_bytes=memory_limit,
            dask=dask,
            told=told,
        )
    _common.write("\n".join(_lines(summary, output)) + "\n", None)


def _lines(summary: Summary, output: Path) -> Iterator[str]:
    from tracelens.reports._words import clean, plural

    whole = summary.analysed + summary.unchanged
    yield (
        f"{plural(whole, 'run')}: {summary.analysed:,} analysed, {summary.unchanged:,} unchanged, "
        f"{plural(len(summary.errors), 'error')}"
    )
    if summary.findings:
        yield "first findings of those analysed:"
    yield from (f"  {count:>6,}  {finding}" for finding, count in summary.findings.items())
    for run, error in summary.errors[:_SHOWN_ERRORS]:
        yield f"  error: {clean(run)}: {clean(error)}"
    if len(summary.errors) > _SHOWN_ERRORS:
        yield f"  and {len(summary.errors) - _SHOWN_ERRORS:,} more in {output}/runs"
    yield f"tracelens trends {output}"


@contextmanager
def _progress() -> Iterator[Told | None]:
    """A bar where a person watches; nothing in a pipe or a log."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from tracelens.printable import printable

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None)

        def told(done: int, whole: int, name: str) -> None:
            bar.update(task, completed=done, total=whole, description=escape(printable(name)))

        yield told
