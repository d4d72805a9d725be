"""Nsight Systems SQLite exports, 2020 to 2026, opened read-only.

Columns are found by name. What a version lacks comes out typed and empty.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tracelens.errors import TracelensError
from tracelens.loaders import sqlite_header
from tracelens.loaders.base import SourceInfo
from tracelens.loaders.files import EXPORT
from tracelens.loaders.nsys_schema import TABLES, find_table, quoted

if TYPE_CHECKING:
    import pyarrow as pa

    from tracelens.loaders.contents import Contents
    from tracelens.loaders.nsys_contents import Job

HEADER = b"SQLite format 3\x00"
KNOWN_SCHEMA = (3, 28)
"""Major and minor number of the newest schema whose tables are known (2026.4)."""
_BATCH_ROWS = 65_536
_LARGE_ROWS = 400_000
"""A table of so many rows is read in two parts: what that takes to begin is then well spent."""


class NsysSqlite:
    """One SQLite export, opened read-only and immutable."""

    def __init__(self, path: Path) -> None:
        self._path = path
        sqlite_header.check(path)
        self._tables = self._read_schema()
        version = self._versions()
        product = version.get("EXPORT_PRODUCT_VERSION", "" if version else "(2020 or earlier)")
        self.info = SourceInfo(
            path,
            "nsys-sqlite",
            "nsys",
            producer=f"Nsight Systems {product}".rstrip(),
            notes=tuple(newer_schema(path, version.get("EXPORT_SCHEMA_VERSION", ""))),
        )

    def load(self, tables: Iterable[str]) -> dict[str, pa.Table]:
        """Read the named raw tables, each in its own thread."""
        wanted = list(dict.fromkeys(tables))
        with ThreadPoolExecutor(max_workers=max(1, len(wanted))) as pool:
            return dict(zip(wanted, pool.map(self._load_table, wanted), strict=True))

    def contents(self) -> Contents:
        """Count what is in it where it lies, in parts side by side."""
        from tracelens.loaders import nsys_contents

        return nsys_contents.contents(self._tables, self._run, self.info.rank_in_name)

    def _run(self, jobs: list[Job]) -> list[Any]:
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            return list(pool.map(self._do, jobs))

    def _do(self, job: Job) -> Any:
        with self._opened() as db:
            return job(lambda query: db.execute(query).fetchall())

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """A connection that neither writes nor runs what a hostile schema says."""
        uri = f"file:{quote(str(self._path.absolute()))}?mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as db:
                db.execute("PRAGMA trusted_schema = OFF")
                db.execute("PRAGMA cell_size_check = ON")
                db.text_factory = lambda b: b.decode("utf-8", "replace")
                yield db
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite quotes damaged names
            raise TracelensError(
                f"{self._path} is a damaged SQLite database ({error})",
                hint=f"copy it again, or export it again: {EXPORT}",
            ) from None

    def _read_schema(self) -> dict[str, set[str]]:
        with self._opened() as db:
            query = "SELECT name FROM sqlite_master WHERE type = 'table'"
            names = [name for (name,) in db.execute(query)]
            found = {
                n: {row[1] for row in db.execute(f"PRAGMA table_info({quoted(n)})")} for n in names
            }
        if not {"StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA"} & set(found):
            raise TracelensError(
                f"{self._path} is a SQLite database, but no Nsight Systems export",
                hint=f"make one with: {EXPORT}",
            )
        return found

    def _versions(self) -> dict[str, str]:
        """What the export says of itself: EXPORT_PRODUCT_VERSION and the like."""
        table = find_table("META_DATA_EXPORT", self._tables)
        if table is None or not {"name", "value"} <= self._tables[table]:
            return {}
        with self._opened() as db:
            rows = db.execute(f"SELECT name, value FROM {quoted(table)}").fetchall()
        return {str(name): str(value) for name, value in rows}

    def _load_table(self, name: str) -> pa.Table:
        import pyarrow as pa

        spec = TABLES[name]
        actual = find_table(name, self._tables)
        types = {c: getattr(pa, t)() for c, t in spec.columns.items()}
        if actual is None:
            return pa.table({c: pa.array([], t) for c, t in types.items()})
        present = [c for c in spec.columns if c in self._tables[actual]]
        table = self._read(actual, {c: types[c] for c in present})
        columns = {
            c: table.column(c) if c in present else pa.nulls(table.num_rows, t)
            for c, t in types.items()
        }
        return pa.table(columns)

    def _read(self, table: str, types: dict[str, pa.DataType]) -> pa.Table:
        """Columns of a table as the file calls them, rows in the order of the file."""
        import pyarrow as pa

        query = f"SELECT {', '.join(map(quoted, types))} FROM {quoted(table)}"
        if self._is_plain_file():
            queries = [f"{query} WHERE {part}" for part in self._parts(table)] or [query]
            read = _read_parts(self._path, queries, types)
            if read is not None:
                return read
        with self._opened() as db:
            batches = list(_read_slowly(db, query, types))
        return pa.Table.from_batches(batches, pa.schema(types))

    def _parts(self, table: str) -> list[str]:
        """Conditions that divide a large table's rows, in their order: each part has a thread."""
        with self._opened() as db:
            try:
                [(first, last)] = db.execute(
                    f"SELECT (SELECT min(_rowid_) FROM {quoted(table)}),"
                    f" (SELECT max(_rowid_) FROM {quoted(table)})"
                )
            except sqlite3.OperationalError:  # a table without numbers of its rows
                return []
        is_number = isinstance(first, int) and "_rowid_" not in map(str.lower, self._tables[table])
        if not is_number or last - first < _LARGE_ROWS:
            return []
        middle = (first + last) // 2
        return [f"_rowid_ <= {middle}", f"_rowid_ > {middle}"]

    def _is_plain_file(self) -> bool:
        """Whether connectorx, which can't be told to open read-only, would leave no trace."""
        with self._path.open("rb") as file:
            header = file.read(20)
        beside = (Path(f"{self._path}{suffix}") for suffix in ("-wal", "-journal"))
        return header[18:20] == b"\x01\x01" and not any(p.exists() for p in beside)


def newer_schema(path: Path, version: str) -> Iterator[tuple[str, str, str]]:
    """A note where the export's schema is newer than any that was tried."""
    numbers = tuple(int(n) for n in re.findall(r"\d{1,9}", version)[:2])
    if numbers > KNOWN_SCHEMA:
        known = ".".join(map(str, KNOWN_SCHEMA))
        yield (
            "newer-schema",
            f"{path.name} has schema {version}, newer than any known ({known}): what moved or was "
            "renamed since is not seen.",
            "If counts look wrong, look for a newer tracelens, or export with an older nsys.",
        )


def _read_parts(path: Path, queries: list[str], types: dict[str, pa.DataType]) -> pa.Table | None:
    """One query's rows after the other's, or ``None`` where connectorx can't read one of them."""
    if len(queries) == 1:
        return _read_fast(path, queries[0], types)
    import pyarrow as pa

    # connectorx itself would mix the rows of several queries, as it comes by them
    with ThreadPoolExecutor(len(queries)) as pool:
        parts = list(pool.map(lambda query: _read_fast(path, query, types), queries))
    found = [part for part in parts if part is not None]
    return pa.concat_tables(found) if len(found) == len(queries) else None


def _read_fast(path: Path, query: str, types: dict[str, pa.DataType]) -> pa.Table | None:
    """What connectorx reads; ``None`` where it can't: mixed types, a value too large, damage."""
    import connectorx
    import pyarrow as pa

    url = f"sqlite://{quote(str(path.absolute()))}"
    try:
        table = connectorx.read_sql(url, query, return_type="arrow")
        return pa.table({c: _cast(table.column(c), t) for c, t in types.items()})
    except (RuntimeError, pa.ArrowException, UnicodeDecodeError):
        return None
    except BaseException as error:
        # a panic in Rust is a BaseException, of a class that cannot be imported
        if type(error).__name__ != "PanicException":
            raise
        return None


def _cast(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    """A column of the wanted type, or of its larger sister, which holds the same."""
    import pyarrow as pa

    is_text = wanted == pa.string() and column.type == pa.large_string()
    # to cast is dear even where there is nothing to do: it imports pyarrow.compute
    return column if is_text or column.type == wanted else column.cast(wanted)


def _read_slowly(
    db: sqlite3.Connection, query: str, types: dict[str, pa.DataType]
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    cursor = db.execute(query)
    while rows := cursor.fetchmany(_BATCH_ROWS):
        columns = [
            pa.array([_coerced(v, t) for v in values], t)
            for values, t in zip(zip(*rows, strict=True), types.values(), strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, names=list(types))


def _coerced(value: Any, wanted: pa.DataType) -> Any:
    """A value as the column's type, or None where it is of another kind."""
    import pyarrow as pa

    if pa.types.is_string(wanted):
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        return value if value is None else str(value)
    if not isinstance(value, int | float):
        return None
    if pa.types.is_floating(wanted):
        return float(value)
    whole = isinstance(value, int) or (value.is_integer() and abs(value) < 2**63)
    return int(value) if whole else None
