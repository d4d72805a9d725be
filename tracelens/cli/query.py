"""``tracelens query``: SQL over the documented views of a run."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracelens.cli import _common, _tables
from tracelens.errors import TracelensError

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN_ROWS = 1000


@click.command(short_help="Ask a run anything, in SQL.")
@click.argument("files", nargs=-1, required=True, metavar='FILE... "SQL"')
@click.option("--tables", is_flag=True, help="List the views and their columns instead.")
@click.option(
    "--format", "form", type=click.Choice(["table", "csv", "json", "parquet"]), default="table",
    help="Form of the answer.",
)  # fmt: skip
@click.option("--output", type=click.Path(path_type=Path), help="Write the answer to this file.")
@_common.run_options
def command(
    files: tuple[str, ...],
    tables: bool,
    form: str,
    output: Path | None,
    no_cache: bool,
    memory_limit: str | None,
) -> None:
    """Ask a run anything, in DuckDB's SQL.

    \b
    Example:
      tracelens query run.sqlite "SELECT name, total_ms FROM kernels LIMIT 10"
      tracelens query run.sqlite --tables
    """
    from tracelens.trace import open as open_trace

    if tables:
        _common.write(_described(), output)
        return
    *paths, query = files
    if not paths:
        raise click.UsageError('name a file and a query: FILE "SELECT ...".')
    if form == "parquet" and output is None:
        raise click.UsageError("--format parquet needs --output FILE.")
    with _common.working("querying") as progress:
        answer = _answer(
            open_trace(paths, cache=not no_cache, memory_limit=memory_limit, progress=progress),
            query,
        )
    if form == "parquet" and output is not None:
        import pyarrow.parquet as pq

        pq.write_table(answer, output)
    else:
        _common.write(_WRITERS[form](answer), output)


def _answer(trace: Any, query: str) -> pa.Table:
    import duckdb

    relation = trace.sql(query)
    if relation is None:
        raise TracelensError("the query gives no rows", hint="ask with SELECT")
    try:
        return relation.to_arrow_table()
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise TracelensError(f"the query failed ({str(error).partition(chr(10))[0]})") from None


def _described() -> str:
    """Every view for people with its columns; the relations beneath by name."""
    from tracelens import sqlfiles

    modules = sqlfiles.modules()
    lines = []
    for name, module in sorted(modules.items()):
        if module.layer == "views":
            lines += [f"{name}: {module.summary}", f"  one row: {module.row}"]
            lines += [f"  {c.name:22} {c.type:10} {c.text}" for c in module.columns] + [""]
    lines.append("Relations beneath these, with times in nanoseconds:")
    beneath = {**sqlfiles.staging("nsys"), **modules}
    lines += [
        f"  {name:22} {module.summary}"
        for name, module in sorted(beneath.items())
        if module.layer != "views"
    ]
    return "\n".join(lines) + "\n"


def _as_table(answer: pa.Table) -> str:
    rows = [list(row.values()) for row in answer.slice(0, _SHOWN_ROWS).to_pylist()]
    lines = _tables.table(answer.column_names, rows)
    if answer.num_rows > _SHOWN_ROWS:
        lines.append(f"the first {_SHOWN_ROWS:,} of {answer.num_rows:,} rows; csv has all")
    return "".join(f"{line}\n" for line in lines)


def _as_csv(answer: pa.Table) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(answer.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in answer.columns), strict=True))
    return out.getvalue()


def _as_json(answer: pa.Table) -> str:
    rows = [{k: _finite(v) for k, v in row.items()} for row in answer.to_pylist()]
    return json.dumps(rows, indent=2, default=str) + "\n"


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


_WRITERS = {"table": _as_table, "csv": _as_csv, "json": _as_json}
