"""A folder as ``nsys export --type parquetdir`` writes it, made from a SQLite export.

The exporter's own types: ids without sign, names and grids of 32 bits, no strings in place of ids.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

_UNSIGNED = {
    "globalTid", "globalPid", "endGlobalTid", "globalVid", "contextId", "streamId", "demangledName",
    "shortName", "mangledName", "nameId", "rangeId", "category", "domainId", "graphNodeId",
    "originalGraphNodeId", "uint64Value",
}  # fmt: skip
_NARROW = {"gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"}
_KINDS = {"INTEGER": pa.int64(), "TEXT": pa.string(), "REAL": pa.float64(), "FLOAT": pa.float64()}


def write_parquet_export(database: Path, folder: Path) -> Path:
    """The tables of an export as Parquet, those without rows left out."""
    folder.mkdir()
    with closing(sqlite3.connect(f"file:{database}?mode=ro&immutable=1", uri=True)) as db:
        names = [n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            _write(db, name, folder)
    return folder


def _write(db: sqlite3.Connection, table: str, folder: Path) -> None:
    columns = [(row[1], row[2]) for row in db.execute(f'PRAGMA table_info("{table}")')]
    rows = db.execute(f'SELECT * FROM "{table}"').fetchall()
    if not rows and not table.startswith("ENUM_"):
        return
    values = zip(*rows, strict=True) if rows else ([] for _ in columns)
    arrays = {
        name: _array(list(column), _type(table, name, declared))
        for (name, declared), column in zip(columns, values, strict=True)
    }
    # as the exporter: one row group, dictionaries, no compression
    pq.write_table(
        pa.table(arrays), folder / f"{table}.parquet", compression="none", version="1.0",
        row_group_size=max(1, len(rows)),
    )  # fmt: skip


def _type(table: str, column: str, declared: str) -> pa.DataType:
    if column in _UNSIGNED:
        return pa.uint64()
    if column in _NARROW or (table, column) == ("StringIds", "id"):
        return pa.int32()
    return _KINDS.get(declared.upper().split("(")[0], pa.string())


def _array(values: list[object], kind: pa.DataType) -> pa.Array:
    if kind == pa.uint64():
        signed = pa.array(values, pa.int64())
        return signed.cast(pa.uint64(), safe=False)
    if kind == pa.string():
        values = [None if v is None else str(v) for v in values]
    return pa.array(values, kind)
