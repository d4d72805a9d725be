"""Fill the staging relations from the files of a run, holding raw tables no longer than needed.

Every raw table has a column ``row_number``, which counts from 1: a window that counted rows in a
query would keep DuckDB to one thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracelens import sqlfiles
from tracelens.plausible import plausible

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from tracelens.cache import Cache
    from tracelens.loaders import Source

_RAW = "raw."
_REGISTERED = "_raw_"


class Stager:
    """The files of a run, and the staging relations that can be filled from them."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        sources: Sequence[Source],
        cache: Cache | None = None,
    ) -> None:
        self._connection = connection
        self._cache = cache
        self._sources = sources
        self._modules = [sqlfiles.staging(s.info.staging) for s in sources]
        self._raw: list[dict[str, Any]] = [{} for _ in sources]
        self._wanted: set[str] = set()

    @property
    def names(self) -> frozenset[str]:
        """The relations that every format defines."""
        return frozenset(self._modules[0] if self._modules else sqlfiles.staging("nsys"))

    def prefetch(self, names: Iterable[str]) -> None:
        """Read all raw tables that these relations will need at once, so that reading overlaps."""
        # what is wanted already has its tables until it is filled
        new = {name for name in set(names) - self._wanted if self._kept(name) is None}
        self._wanted |= new
        for source_id in range(len(self._sources)):
            self._load(source_id, self._raw_tables(source_id, new))

    def fill(self, name: str) -> None:
        """Make a staging relation from every file of the run, or from what an earlier run kept."""
        if not self._fill_from_cache(name):
            self._fill_from_files(name)
            # a file that is asked about twice will be asked about again
            if self._cache is not None and self._cache.was_here:
                table = self._connection.table(name)
                self._cache.keep(_key(name), lambda path: table.write_parquet(str(path)))

    def _kept(self, name: str) -> Path | None:
        return None if self._cache is None else self._cache.find(_key(name))

    def _fill_from_cache(self, name: str) -> bool:
        kept = self._kept(name)
        if kept is None:
            return False
        import duckdb

        try:
            self._connection.execute(
                f'CREATE TABLE main."{name}" AS FROM read_parquet(?)', [str(kept)]
            )
        except duckdb.Error:  # removed or damaged meanwhile
            return False
        return True

    def _fill_from_files(self, name: str) -> None:
        for source_id, modules in enumerate(self._modules):
            tables = self._raw_tables(source_id, [name])
            self._load(source_id, tables)
            for table in tables:
                self._connection.register(f"{_REGISTERED}{table}", self._raw[source_id][table])
            self._connection.execute(f"SET VARIABLE source_id = {source_id}::BIGINT")
            into = (
                f'INSERT INTO main."{name}" BY NAME'
                if source_id
                else f'CREATE TABLE main."{name}" AS'
            )
            # a schema would need a view for each table, which takes longer than the query itself
            query = modules[name].query.replace(f'{_RAW}"', f'"{_REGISTERED}')
            self._connection.execute(f"{into} {query}")
            self._release(source_id, name, tables)

    def _release(self, source_id: int, name: str, tables: Iterable[str]) -> None:
        """Let go of the raw tables that no other wanted relation will read."""
        if source_id == len(self._sources) - 1:
            self._wanted.discard(name)
        needed = self._raw_tables(source_id, self._wanted - {name})
        for table in tables:
            self._connection.unregister(f"{_REGISTERED}{table}")
            if table not in needed:
                del self._raw[source_id][table]

    def _raw_tables(self, source_id: int, names: Iterable[str]) -> set[str]:
        modules = self._modules[source_id]
        return {read.removeprefix(_RAW) for name in names for read in modules[name].reads}

    def _load(self, source_id: int, tables: set[str]) -> None:
        missing = sorted(tables - set(self._raw[source_id]))
        if missing:
            loaded = self._sources[source_id].load(missing)
            self._raw[source_id].update((n, _numbered(plausible(t))) for n, t in loaded.items())


def _numbered(table: pa.Table) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    return table.append_column("row_number", pa.array(np.arange(1, table.num_rows + 1)))


def _key(name: str) -> str:
    return f"staged.{name}"
