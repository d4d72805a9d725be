"""Relations put straight into an engine, for tests of one SQL module against a slow version."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tracelens.engine import Engine

Span = tuple[int, int]
"""Start and end in nanoseconds."""

HOST_RANGE = {
    "range_id": pl.Int64,
    "process_id": pl.Int64,
    "thread_id": pl.Int64,
    "end_thread_id": pl.Int64,
    "style": pl.String,
    "domain": pl.String,
    "name": pl.String,
    "label": pl.String,
    "is_emitted": pl.Boolean,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "is_open": pl.Boolean,
}


def put(engine: Engine, name: str, schema: dict, rows: Sequence[tuple]) -> None:
    """Give a relation these rows."""
    engine.put(name, pl.DataFrame(rows, schema=schema, orient="row"))


def put_ranges(engine: Engine, spans: Sequence[Span], style: str = "push_pop") -> None:
    """Give ``host_range`` these spans, all of thread 1; each range's id is its place."""
    rows = [
        (i, 1, 1, 1, style, "", "r", "r", False, start, end, False)
        for i, (start, end) in enumerate(spans)
    ]
    put(engine, "host_range", HOST_RANGE, rows)
