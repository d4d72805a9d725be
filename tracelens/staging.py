"""Fill the staging relations from the files of a run, holding raw tables no longer than needed.

Every raw table has a column ``row_number``, which counts from 1: a window that counted rows in a
query would keep DuckDB to one thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from tracelens import sqlfiles
from tracelens.plausible import plausible

if TYPE_CHECKING:
    from concurrent.futures import Future

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
        self._ahead: Future[dict[str, pa.Table]] | None = None

    @property
    def names(self) -> frozenset[str]:
        """The relations that every format defines."""
        return frozenset(self._modules[0] if self._modules else sqlfiles.staging("nsys"))

    def read_ahead(self, there: Set[str]) -> None:
        """Begin to read what relations are made from that are not ``there``, of the first file,
        while the caller has other things to do."""
        absent = self.names - there
        names = [n for n in absent if self._cache is None or self._cache.find(_key(n)) is None]
        if self._sources and names:
            pool = ThreadPoolExecutor(1)
            self._ahead = pool.submit(self._read, 0, set().union(*self._reads(0, names).values()))
            pool.shutdown(wait=False)

    def forget_ahead(self) -> None:
        """Let go of what was read ahead, and not asked for."""
        self._ahead = None

    def fill(self, names: Iterable[str]) -> None:
        """Make staging relations from every file of the run, or from what an earlier run kept.

        All that will be needed is best asked for at once, so that reading overlaps and no raw table
        is read twice, or held while other work is done.
        """
        made = [name for name in sorted(names) if not self._fill_from_cache(name)]
        if made:
            for source_id in range(len(self._sources)):
                self._fill_from_file(source_id, made)
            _give_back()
        # a file that is asked about twice will be asked about again
        if self._cache is not None and self._cache.was_here:
            for name in made:
                self._keep(self._cache, name)

    def _keep(self, cache: Cache, name: str) -> None:
        table = self._connection.table(name)
        cache.keep(_key(name), lambda path: table.write_parquet(str(path)))

    def _fill_from_cache(self, name: str) -> bool:
        kept = None if self._cache is None else self._cache.find(_key(name))
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

    def _fill_from_file(self, source_id: int, names: Sequence[str]) -> None:
        modules, reads = self._modules[source_id], self._reads(source_id, names)
        raw = self._load(source_id, set().union(*reads.values()))
        sizes = {table: content.num_rows for table, content in raw.items()}
        while raw:  # from here on, only the connection holds them
            table, content = raw.popitem()
            self._connection.register(f"{_REGISTERED}{table}", content)
            del content
        self._connection.execute(f"SET VARIABLE source_id = {source_id}::BIGINT")
        # what reads the largest tables comes first, so that these can go
        left = sorted(names, key=lambda name: max((sizes[t] for t in reads[name]), default=0))
        while left:
            name = left.pop()
            into = (
                f'INSERT INTO main."{name}" BY NAME'
                if source_id
                else f'CREATE OR REPLACE TABLE main."{name}" AS'
            )
            # a schema would need a view for each table, which takes longer than the query itself
            query = modules[name].query.replace(f'{_RAW}"', f'"{_REGISTERED}')
            self._connection.execute(f"{into} {query}")
            for table in reads[name].difference(*(reads[later] for later in left)):
                self._connection.unregister(f"{_REGISTERED}{table}")

    def _reads(self, source_id: int, names: Iterable[str]) -> dict[str, set[str]]:
        """The raw tables that each of these relations is made from."""
        modules = self._modules[source_id]
        return {n: {read.removeprefix(_RAW) for read in modules[n].reads} for n in names}

    def _load(self, source_id: int, tables: set[str]) -> dict[str, pa.Table]:
        loaded: dict[str, pa.Table] = {}
        if source_id == 0 and self._ahead is not None:
            ahead, self._ahead = self._ahead.result(), None
            loaded = {name: table for name, table in ahead.items() if name in tables}
        return {**loaded, **self._read(source_id, tables - loaded.keys())}

    def _read(self, source_id: int, tables: Set[str]) -> dict[str, pa.Table]:
        loaded = self._sources[source_id].load(sorted(tables))
        return {name: _numbered(plausible(table)) for name, table in loaded.items()}


def _numbered(table: pa.Table) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    return table.append_column("row_number", pa.array(np.arange(1, table.num_rows + 1)))


def _give_back() -> None:
    """Have the C library hand freed memory back: reading by several threads leaves it with a
    hundred megabytes for each million rows, which nothing else would use."""
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _key(name: str) -> str:
    return f"staged.{name}"
