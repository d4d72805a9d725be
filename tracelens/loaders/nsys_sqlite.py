"""Nsight Systems SQLite exports, 2020 to 2026, opened read-only.

Columns are found by name. What a version lacks comes out typed and empty.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from tracelens.errors import TracelensError
from tracelens.loaders.base import SourceInfo
from tracelens.loaders.nsys_schema import TABLES, RawTable

HEADER = b"SQLite format 3\x00"
_BATCH_ROWS = 65_536


class NsysSqlite:
    """One SQLite export, opened read-only and immutable."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tables = self._read_schema()
        self.info = SourceInfo(path, "nsys-sqlite", "nsys", producer=self._producer())

    def load(self, tables: Iterable[str]) -> dict[str, pa.Table]:
        """Read the named raw tables, each in its own thread."""
        wanted = list(dict.fromkeys(tables))
        with ThreadPoolExecutor(max_workers=max(1, len(wanted))) as pool:
            return dict(zip(wanted, pool.map(self._load_table, wanted), strict=True))

    def _connect(self) -> sqlite3.Connection:
        uri = f"file:{quote(str(self._path.absolute()))}?mode=ro&immutable=1"
        return sqlite3.connect(uri, uri=True, check_same_thread=False)

    def _read_schema(self) -> dict[str, set[str]]:
        try:
            with closing(self._connect()) as db:
                names = [
                    n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                ]
                found = {
                    n: {row[1] for row in db.execute(f"PRAGMA table_info({_quoted(n)})")}
                    for n in names
                }
        except sqlite3.DatabaseError as error:
            raise TracelensError(
                f"{self._path} is not a readable SQLite database ({error})",
                hint="copy or export it again: nsys export --type sqlite REPORT.nsys-rep",
            ) from None
        if not {"StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA"} & set(found):
            raise TracelensError(
                f"{self._path} is a SQLite database, but no Nsight Systems export",
                hint="make one with: nsys export --type sqlite REPORT.nsys-rep",
            )
        return found

    def _producer(self) -> str:
        name = next(
            (n for n in ("META_DATA_EXPORT", "EXPORT_META_DATA") if n in self._tables), None
        )
        if name is None:
            return "Nsight Systems (2020 or earlier)"
        query = f"SELECT value FROM {name} WHERE name = 'EXPORT_PRODUCT_VERSION'"
        with closing(self._connect()) as db:
            row = db.execute(query).fetchone()
        return f"Nsight Systems {row[0]}" if row else "Nsight Systems"

    def _actual_name(self, name: str, spec: RawTable) -> str | None:
        for base in (name, *spec.aliases):
            for candidate in (base, f"{base}_V2"):
                if (
                    set(spec.required) <= self._tables.get(candidate, set())
                    and candidate in self._tables
                ):
                    return candidate
        return None

    def _load_table(self, name: str) -> pa.Table:
        spec = TABLES[name]
        actual = self._actual_name(name, spec)
        types = {c: getattr(pa, t)() for c, t in spec.columns.items()}
        if actual is None:
            return pa.table({c: pa.array([], t) for c, t in types.items()})
        present = [c for c in spec.columns if c in self._tables[actual]]
        query = f"SELECT {', '.join(map(_quoted, present))} FROM {_quoted(actual)}"
        table = self._read(query, {c: types[c] for c in present})
        columns = {
            c: table.column(c).cast(t) if c in present else pa.nulls(table.num_rows, t)
            for c, t in types.items()
        }
        return pa.table(columns)

    def _read(self, query: str, types: dict[str, pa.DataType]) -> pa.Table:
        if self._is_plain_file():
            try:
                return _read_fast(self._path, query, types)
            except (RuntimeError, pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError):
                pass  # mixed types in a column, or a value it cannot hold: the slow reader can
        try:
            with closing(self._connect()) as db:
                db.text_factory = lambda b: b.decode("utf-8", "replace")
                batches = list(_read_slowly(db, query, types))
        except sqlite3.DatabaseError as error:
            raise TracelensError(
                f"{self._path} is damaged ({error})",
                hint="copy or export it again: nsys export --type sqlite REPORT.nsys-rep",
            ) from None
        return pa.Table.from_batches(batches, pa.schema(types))

    def _is_plain_file(self) -> bool:
        """Whether connectorx, which can't be told to open read-only, would leave no trace."""
        with self._path.open("rb") as file:
            header = file.read(20)
        beside = (Path(f"{self._path}{suffix}") for suffix in ("-wal", "-journal"))
        return header[18:20] == b"\x01\x01" and not any(p.exists() for p in beside)


def _read_fast(path: Path, query: str, types: dict[str, pa.DataType]) -> pa.Table:
    import connectorx

    url = f"sqlite://{quote(str(path.absolute()))}"
    table = connectorx.read_sql(url, query, return_type="arrow")
    return pa.table({c: table.column(c).cast(t) for c, t in types.items()})


def _read_slowly(
    db: sqlite3.Connection, query: str, types: dict[str, pa.DataType]
) -> Iterator[pa.RecordBatch]:
    cursor = db.execute(query)
    while rows := cursor.fetchmany(_BATCH_ROWS):
        columns = [
            pa.array([_coerced(v, t) for v in values], t)
            for values, t in zip(zip(*rows, strict=True), types.values(), strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, names=list(types))


def _coerced(value: Any, wanted: pa.DataType) -> Any:
    """A value as the column's type, or None where it is of another kind."""
    if pa.types.is_string(wanted):
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        return value if value is None else str(value)
    number = isinstance(value, int | float)
    if pa.types.is_integer(wanted):
        return (
            value
            if isinstance(value, int)
            else int(value)
            if number and value.is_integer()
            else None
        )
    return float(value) if number else None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
