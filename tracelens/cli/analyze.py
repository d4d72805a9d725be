"""``tracelens analyze``: from recordings to the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tracelens.cli import _common
from tracelens.reports import formats, renderer

_TRIPPED = 1
_LOUDER = {"high": ("high",), "medium": ("high", "medium")}


@click.command(short_help="What to fix first, what it is worth, and where the time went.")
@click.argument("run", nargs=-1, required=True)
@click.option(
    "--format", "form", type=click.Choice(formats()), default="text", help="Form of the report."
)
@click.option("--output", type=click.Path(path_type=Path), help="Write the report to this file.")
@click.option("--iterations", metavar="REGEX", help="Ranges with such names are the iterations.")
@click.option(
    "--phases", metavar="FILE.toml", type=click.Path(path_type=Path), help="More names of phases."
)
@click.option(
    "--samples", type=click.FloatRange(min=0, min_open=True), metavar="N",
    help="Samples in one iteration, for samples a second.",
)  # fmt: skip
@click.option(
    "--fail-on", type=click.Choice(tuple(_LOUDER)), help="Exit with 1 on such a finding, or worse."
)
@click.option(
    "--baseline", metavar="FILE.json", type=click.Path(path_type=Path),
    help="JSON report of an earlier run: say what changed; --fail-on counts what is new or worse.",
)  # fmt: skip
@click.option("--no-color", is_flag=True, help="No colours, even on a terminal.")
@_common.run_options
def command(
    run: tuple[str, ...],
    form: str,
    output: Path | None,
    iterations: str | None,
    phases: Path | None,
    samples: float | None,
    fail_on: str | None,
    baseline: Path | None,
    no_color: bool,
    no_cache: bool,
    memory_limit: str | None,
) -> None:
    """Say where each iteration's time went, what to fix first, and what that is worth.

    Several files are the ranks of one run.

    \b
    Example:
      tracelens analyze run.sqlite
      tracelens analyze rank0.sqlite rank1.sqlite --format json --output report.json
      tracelens analyze run.sqlite --baseline report.json --fail-on medium
      tracelens analyze run.sqlite --format html --output report.html
    """
    from tracelens import baseline as earlier
    from tracelens.trace import open as open_trace

    known = None if baseline is None else earlier.read(baseline)
    with _common.working("analysing") as progress:
        trace = open_trace(
            run,
            iterations=iterations,
            phases=phases,
            samples_per_iteration=samples,
            cache=not no_cache,
            memory_limit=memory_limit,
            progress=progress,
        )
        renders = renderer(form)
        # what only pictures show is not computed for a report without them
        pictured = hasattr(renders, "WANTS_DETAILS")
        report = trace.report(in_passing=not pictured)
        more: dict[str, Any] = {"details": trace.details()} if pictured else {}
    if hasattr(renders, "NAMES_THE_RUN"):
        more["run"] = run
    counted = report["diagnoses"]
    if known is not None:
        report["baseline"] = earlier.changes(report, known, str(baseline))
        counted = earlier.regressed(report)
    color = _common.wants_color(no_color, output)
    text = renders.render(report, width=_common.terminal_width(), color=color, **more)
    _common.write(text, output)
    if fail_on and any(d["severity"] in _LOUDER[fail_on] for d in counted):
        raise click.exceptions.Exit(_TRIPPED)
