"""Nsight Systems exports as a folder of Parquet files (``nsys export --type parquetdir``).

One file a table, named as in the SQLite export and with the same columns, but ids are unsigned and
some are narrower: each column is cast to what staging expects, once, here.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tracelens.errors import TracelensError
from tracelens.loaders.base import SourceInfo
from tracelens.loaders.nsys_schema import TABLES, find_table
from tracelens.loaders.nsys_sqlite import newer_schema

EXPORT = "nsys export --type parquetdir REPORT.nsys-rep"


class NsysParquet:
    """One folder of tables. Files of other names in it are left alone."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tables = {
            file.stem: set(self._schema(file).names) for file in sorted(path.glob("*.parquet"))
        }
        version = self._versions()
        product = version.get("EXPORT_PRODUCT_VERSION", "")
        self.info = SourceInfo(
            path,
            "nsys-parquet",
            "nsys",
            producer=f"Nsight Systems {product}".rstrip(),
            notes=tuple(newer_schema(path, version.get("EXPORT_SCHEMA_VERSION", ""))),
        )

    def load(self, tables: Iterable[str]) -> dict[str, pa.Table]:
        """Read the named raw tables. Raises TracelensError where a file of them is damaged."""
        return {name: self._load_table(name) for name in dict.fromkeys(tables)}

    def contents(self) -> None:
        """None: columns that lie apart load about as fast as they can be counted."""

    def _load_table(self, name: str) -> pa.Table:
        types = {c: getattr(pa, t)() for c, t in TABLES[name].columns.items()}
        actual = find_table(name, self._tables)
        if actual is None:
            return pa.table({c: pa.array([], t) for c, t in types.items()})
        present = [c for c in types if c in self._tables[actual]]
        table = self._read(actual, present)
        columns = {
            c: _cast(table.column(c), t) if c in present else pa.nulls(table.num_rows, t)
            for c, t in types.items()
        }
        return pa.table(columns)

    def _versions(self) -> dict[str, str]:
        """What the export says of itself: EXPORT_PRODUCT_VERSION and the like."""
        actual = find_table("META_DATA_EXPORT", self._tables)
        if actual is None or not {"name", "value"} <= self._tables[actual]:
            return {}
        rows = self._read(actual, ["name", "value"]).to_pylist()
        return {str(row["name"]): str(row["value"]) for row in rows}

    def _schema(self, file: Path) -> pa.Schema:
        try:
            return pq.read_schema(file)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(file, error) from None

    def _read(self, table: str, columns: list[str]) -> pa.Table:
        file = self._path / f"{table}.parquet"
        try:
            # a folder named like ``key=value`` is no partition
            return pq.read_table(file, columns=columns, partitioning=None)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(file, error) from None

    def _damaged(self, file: Path, error: Exception) -> TracelensError:
        reason = str(error).partition("\n")[0]
        return TracelensError(
            f"{self._path}: {file.name} is damaged ({reason})",
            hint=f"copy the folder again, or export it again: {EXPORT}",
        )


def _cast(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    """A column as staging wants it; ids of 64 bits without sign wrap, as they do in SQLite."""
    try:
        return column.cast(wanted, safe=False)
    except pa.ArrowException:
        return pa.chunked_array([pa.nulls(len(column), wanted)])
