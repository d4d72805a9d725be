"""``tracelens export``: a run for other tools: Perfetto, spreadsheets, data frames."""

from __future__ import annotations

from pathlib import Path

import click

from tracelens.cli import _common
from tracelens.errors import TracelensError

_TABLE_FILE = (str, click.Path(path_type=Path))


@click.command(short_help="A run for Perfetto, or any view as CSV or Parquet.")
@click.argument("run", nargs=-1, required=True)
@click.option(
    "--perfetto", type=click.Path(path_type=Path), metavar="FILE",
    help="Write a trace for ui.perfetto.dev; gzipped where the name ends in .gz.",
)  # fmt: skip
@click.option(
    "--csv", "csvs", nargs=2, type=_TABLE_FILE, multiple=True, metavar="TABLE FILE",
    help="Write a view as CSV; may be repeated. 'query --tables' lists them.",
)  # fmt: skip
@click.option(
    "--parquet", "parquets", nargs=2, type=_TABLE_FILE, multiple=True, metavar="TABLE FILE",
    help="Write a view as Parquet; may be repeated.",
)  # fmt: skip
@_common.run_options
def command(
    run: tuple[str, ...],
    perfetto: Path | None,
    csvs: tuple[tuple[str, Path], ...],
    parquets: tuple[tuple[str, Path], ...],
    no_cache: bool,
    memory_limit: str | None,
) -> None:
    """Write a run for other tools: a trace for Perfetto, or any view as CSV or Parquet.

    \b
    Example:
      tracelens export run.sqlite --perfetto run.json.gz
      tracelens export run.sqlite --csv kernels kernels.csv --parquet operations ops.parquet
    """
    from tracelens.trace import open as open_trace

    outputs = [path for path in (perfetto, *(p for _, p in (*csvs, *parquets))) if path]
    if not outputs:
        raise click.UsageError("say what to write: --perfetto, --csv or --parquet.")
    with _common.working("exporting") as progress:
        trace = open_trace(run, cache=not no_cache, memory_limit=memory_limit, progress=progress)
        _refuse_inputs(outputs, [*trace.files, *map(Path, trace.names)])
        if perfetto is not None:
            trace.to_perfetto(perfetto)
        for table, path in csvs:
            trace.to_file(table, path, "csv")
        for table, path in parquets:
            trace.to_file(table, path, "parquet")


def _refuse_inputs(outputs: list[Path], run: list[Path]) -> None:
    inputs = {path.resolve() for path in run}
    for path in outputs:
        if path.resolve() in inputs:
            raise TracelensError(f"{path} is the recording", hint="name another file to write")
