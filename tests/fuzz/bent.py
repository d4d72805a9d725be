"""Exports of a small training loop with cells, columns and tables bent at random."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from exports import Call, Copy, Kernel, Mark, Memset, Node, Range, make_export
from hypothesis import strategies as st

from tracelens.loaders.nsys_schema import TABLES

NAMES = (
    "", "forward", "backward", "optimizer", "iter_3", "iter_" + "9" * 30, "a\nb\tc\r", "it's \"x\"",
    "🚀 日本", "\x1b[31mred\x1b[0m", "\x9b2J", "\u202egnp", "<script>alert(1)</script>", "</style>",
    "[bold]x[/bold]", "[/]", "%s {0} {x}", "x" * 1_000_000, "NaN", "a, b, seq = 3, op_id = 4",
    "\x00\x01", "\ud7ff\ufffe", "ncclDevKernel_AllReduce", "cudaDeviceSynchronize_v3020",
)  # fmt: skip
EXTREMES = (
    None, 0, -1, 1, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**62, 2**63 - 1, -(2**63), -(2**62),
)  # fmt: skip
VALUES = st.one_of(
    st.integers(-100, 6000),
    st.sampled_from(EXTREMES),
    st.sampled_from((0.5, 1e300, -1e300, float("inf"), "text", b"\xff\x00")),
)
TEXTS = st.one_of(st.sampled_from(NAMES), st.text(max_size=12))
ROWS = 40


def _cell(table: str, column: str) -> st.SearchStrategy[Any]:
    value = TEXTS if TABLES[table].columns[column] == "string" else VALUES
    return st.tuples(st.just(table), st.just(column), st.integers(0, ROWS), value)


CELLS = [(t, c) for t, spec in TABLES.items() for c in spec.columns]
EDITS = st.lists(st.sampled_from(CELLS).flatmap(lambda cell: _cell(*cell)), max_size=25)
DROPPED = st.lists(st.sampled_from(CELLS), max_size=3)
SPARED = frozenset({"META_DATA_EXPORT"})


def loop(path: Path) -> Path:
    """Five iterations of 1 µs: copy, forward, backward on another thread, optimizer, a graph."""
    kernels, copies, calls, ranges = [], [], [], []
    for i in range(5):
        at, first = i * 1000, i * 10 + 1
        ranges.append(Range(at, at + 950, f"iter_{i}"))
        copies.append(Copy(at + 40, at + 90, first))
        calls.append(Call(at + 10, at + 80, first, "cudaMemcpyAsync_v3020"))
        for k, (phase, thread) in enumerate(
            [("forward", 1000), ("backward", 1001), ("optimizer", 1000)], 1
        ):
            start = at + k * 200
            ranges.append(Range(start, start + 150, phase))
            calls.append(Call(start + 10, start + 15, first + k, thread=thread))
            kernels.append(Kernel(start + 30, start + 140, first + k, name=f"{phase}_kernel"))
        calls.append(Call(at + 800, at + 810, first + 5, "cudaGraphLaunch_v10000"))
        kernels += [
            Kernel(at + 820 + n * 20, at + 830 + n * 20, first + 5, node=n + 1) for n in (0, 1)
        ]
        calls.append(Call(at + 870, at + 900, first + 6, "cudaStreamSynchronize_v3020"))
    return make_export(
        path,
        kernels=kernels,
        copies=copies,
        memsets=[Memset(5000, 5010, 900)],
        calls=calls,
        ranges=[*ranges, Range(4990, None, "forward"), Range(0, 5100, "x", style="start_end")],
        marks=[Mark(77, "here", domain=2)],
        nodes=[Node(-50, 1), Node(-40, 2), Node(-30, 3, original=1)],
        domains={2: "NCCL"},
        capture_ns=6000,
    )


def bend(path: Path, edits: list[Any], dropped: list[tuple[str, str]]) -> Path:
    """Write the loop, create the tables that it lacks, and change it."""
    loop(path)
    with closing(sqlite3.connect(path)) as db:
        for table, spec in TABLES.items():
            columns = ", ".join(f'"{c}"' for c in spec.columns)
            db.execute(f'CREATE TABLE IF NOT EXISTS "{table}" ({columns})')
        _loosen(db)
        for table, column, row, value in edits:
            names = [r[1] for r in db.execute(f'PRAGMA table_info("{table}")')]
            if column not in names:
                continue
            changed = db.execute(
                f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (_bound(value), row)
            )
            if not changed.rowcount:
                db.execute(f'INSERT INTO "{table}" ("{column}") VALUES (?)', (_bound(value),))
        for table, column in dropped:
            names = [r[1] for r in db.execute(f'PRAGMA table_info("{table}")')]
            if column in names and len(names) > 1 and table not in SPARED:
                db.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
        db.commit()
    return path


def _loosen(db: sqlite3.Connection) -> None:
    """Take the constraints away: other exporters, and damage, know none."""
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = ", ".join(f'"{r[1]}"' for r in db.execute(f'PRAGMA table_info("{table}")'))
        db.execute(f'ALTER TABLE "{table}" RENAME TO strict_')
        db.execute(f'CREATE TABLE "{table}" ({columns})')
        db.execute(f'INSERT INTO "{table}" SELECT * FROM strict_')
        db.execute("DROP TABLE strict_")


def _bound(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return value
