"""Build relations when they are asked for: raw tables, staging, SQL modules and Python steps.

They are one graph: each relation is built once, after what it reads. Nothing that is not needed
is read or computed.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import pkgutil
import tempfile
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import duckdb

from tracelens import sqlfiles, workers
from tracelens.cache import Cache, key_of
from tracelens.errors import heeding_ctrl_c
from tracelens.lifetimes import Lifetimes
from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.staging import Stager

if TYPE_CHECKING:
    import polars as pl

    from tracelens.loaders import Source

_KEPT_BYTES = 64 << 20
"""A frame beyond this is quicker made again than kept: no report reads one."""
_SMALL_BYTES = 4 << 20
"""Tables of files up to this size are not let go of early: that takes longer than it is worth."""

_spilling: WeakKeyDictionary[duckdb.DuckDBPyConnection, Path] = WeakKeyDictionary()
"""Where each connection puts what memory does not hold."""


@atexit.register
def _remove_spilled() -> None:
    """A connection that is closed removes its files; one that the program's end meets may not be
    collected any more."""
    for connection, folder in list(_spilling.items()):
        if folder.exists():
            connection.close()


@cache
def _steps() -> frozenset[str]:
    """Names of the relations that a Python step builds: the modules of tracelens.steps."""
    from tracelens import steps

    return frozenset(
        m.name for m in pkgutil.iter_modules(steps.__path__) if not m.name.startswith("_")
    )


def step_module(name: str) -> ModuleType:
    """The step that builds a relation: its READS and ``build(frames, options, settings)``."""
    return importlib.import_module(f"tracelens.steps.{name}")


class _Frames(Mapping[str, "pl.DataFrame"]):
    """The relations that a step may read, each built and fetched when the step asks for it."""

    def __init__(
        self, engine: Engine, names: Sequence[str], connection: duckdb.DuckDBPyConnection
    ) -> None:
        self._engine = engine
        self._names = names
        self._connection = connection

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._names:
            raise KeyError(name)
        return self._engine.frame_for_steps(name, self._connection)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Engine:
    """One DuckDB connection over the files of one run, and the relations built in it so far."""

    def __init__(
        self,
        sources: Sequence[Source],
        options: Options | None = None,
        settings: Settings | None = None,
        cache: Cache | None = None,
        memory_limit: str | None = None,
    ) -> None:
        self.sources = sources
        self.options = options or Options()
        self.settings = settings or Settings()
        self.connection = duckdb.connect(":memory:")
        self._built: set[str] = set()
        self._lifetimes: Lifetimes | None = None
        self._letting_go = threading.Lock()
        self._being_built: set[str] = set()
        self._changed = threading.Condition()
        self._answers: dict[str, pl.DataFrame | None] = {}
        self._steps_ahead: set[str] = set()
        self._shared: dict[str, pl.DataFrame] = {}
        self._cache = cache
        self._stager = Stager(self.connection, sources, cache)
        self._configure(memory_limit)
        _with_variables(self.connection, self.settings)

    def need(self, *names: str) -> None:
        """Build these relations and all that they read, unless they are there already."""
        missing = [name for name in names if name not in self._built]
        if missing:
            with heeding_ctrl_c():
                self._stage(missing)
                self._build_all(self.plan(missing))

    def frame(self, name: str) -> pl.DataFrame:
        """A relation as a polars frame."""
        self.need(name)
        return self.frame_of(f'SELECT * FROM "{name}"')

    def frame_for_steps(self, name: str, connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
        """The same, fetched once for all the steps ahead that read it."""
        frame = self._shared.get(name)
        if frame is None:
            for needed in self.plan([name]):
                self.build(needed, connection)
            frame = _fetched(connection, f'SELECT * FROM "{name}"')
            if sum(name in self.reads(step) for step in tuple(self._steps_ahead)) > 1:
                self._shared[name] = frame
        return frame

    def frames(self, names: Iterable[str], *, in_passing: bool = False) -> dict[str, pl.DataFrame]:
        """Relations as frames, from the cache where an earlier run with the same choices left them.

        ``need`` may still have to build one of them afterwards. ``in_passing`` lets go of every
        table that none of them needs any more, for who asks once and has little memory.
        """
        wanted = dict.fromkeys(names)
        kept = {name: self._kept(name) for name in wanted}
        missing = [name for name, frame in kept.items() if frame is None]
        is_large = any(_size(source) > _SMALL_BYTES for source in self.sources)
        lets_go = in_passing and is_large
        if missing and lets_go:
            self._stager.read_ahead(self._built)
        self._lifetimes = Lifetimes(missing, self.reads, _is_view) if lets_go else None
        self._answers = dict.fromkeys(missing)
        try:
            self.need(*missing)
            for name, made in self._answers.items():
                with heeding_ctrl_c():
                    kept[name] = self._answer(name, self.connection) if made is None else made
        finally:
            # whatever interrupts it, what is asked for later is kept
            self._lifetimes, self._answers = None, {}
            self._stager.forget_ahead()
        if missing and self._cache is not None:
            self._cache.prune()
        return {name: frame for name, frame in kept.items() if frame is not None}

    def _kept(self, name: str) -> pl.DataFrame | None:
        if self._cache is None or name in self._built:
            return None
        return self._cache.frame(self._cache_key(name))

    def _answer(self, name: str, connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
        """A relation that is there as a frame, which the cache keeps for another time."""
        frame = _fetched(connection, f'SELECT * FROM "{name}"')
        if self._cache is not None and frame.estimated_size() <= _KEPT_BYTES:
            self._cache.keep(self._cache_key(name), frame.write_parquet)
        return frame

    def _cache_key(self, name: str) -> str:
        return f"{name}.{self._choices}"

    @cached_property
    def _choices(self) -> str:
        """A short name for all that decides a frame beside the files' content."""
        phases = self.options.phases
        patterns = phases.read_bytes() if phases is not None and phases.is_file() else b""
        ranks = [source.info.rank_in_name for source in self.sources]
        return key_of(self.options, patterns, self.settings, ranks)

    def frame_of(self, query: str) -> pl.DataFrame:
        """The answer of a query as a polars frame."""
        with heeding_ctrl_c():
            return _fetched(self.connection, query)

    def reads(self, name: str) -> tuple[str, ...]:
        """The relations that a relation is made from: none where it comes from the files."""
        if name == "source" or name in self._stager.names:
            return ()
        if name in sqlfiles.modules():
            return sqlfiles.modules()[name].reads
        return tuple(step_module(name).READS)

    def _waits_for(self, name: str) -> list[str]:
        """What must be there before a relation is built. A step may ask for the rest when it finds
        that it needs it."""
        later = getattr(step_module(name), "MAY_READ", ()) if name in _steps() else ()
        return [read for read in self.reads(name) if read not in later]

    def plan(self, names: Iterable[str]) -> list[str]:
        """What has to be built for these relations, in an order in which it can be."""
        order: dict[str, None] = {}

        def visit(name: str) -> None:
            if name not in self._built and name not in order:
                for read in self._waits_for(name):
                    visit(read)
                order[name] = None

        for name in names:
            visit(name)
        return list(order)

    def names(self) -> list[str]:
        """Every relation that can be asked for."""
        return sorted({"source", *self._stager.names, *sqlfiles.modules(), *_steps()})

    def put(self, name: str, frame: pl.DataFrame) -> None:
        """Give a relation its content from a frame instead of building it."""
        _put(self.connection, name, frame)
        self._built.add(name)
        self._shared.pop(name, None)

    def _configure(self, memory_limit: str | None) -> None:
        """Keep DuckDB from looking for extensions, and have it spill beside no input."""
        self.connection.execute("SET autoload_known_extensions = false")
        self.connection.execute("SET autoinstall_known_extensions = false")
        own = Path(tempfile.gettempdir()) / f"tracelens-{uuid.uuid4().hex}"
        self.connection.execute("SET temp_directory = ?", [str(own)])
        _spilling[self.connection] = own
        half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        self.connection.execute("SET memory_limit = ?", [memory_limit or f"{half}B"])

    def _build_all(self, plan: Sequence[str]) -> None:
        """Build relations in this order, or several at a time where there are processors for it."""
        ((threads,),) = self.connection.execute("SELECT current_setting('threads')").fetchall()
        connections = [self.connection]
        # a third finds too little to do
        if threads > 1 and len(plan) > 1:
            connections.append(_with_variables(self.connection.cursor(), self.settings))
        inside = set(plan)
        try:
            workers.run(
                plan,
                {name: inside.intersection(self._waits_for(name)) for name in plan},
                lambda name, worker: self.build(name, connections[worker]),
                len(connections),
                lambda: _interrupt(connections),
            )
        finally:
            for cursor in connections[1:]:
                cursor.close()

    def build(self, name: str, connection: duckdb.DuckDBPyConnection) -> None:
        """Build a relation, now that all that it waits for is there, unless it is there itself."""
        with self._changed:
            # a step may ask for what is another worker's turn
            while name in self._being_built:
                self._changed.wait(workers.HEARING_S)
            if name in self._built:
                return
            self._being_built.add(name)
        try:
            self._create(name, connection)
            self._built.add(name)
            if name in self._answers:
                self._answers[name] = self._answer(name, connection)
        finally:
            with self._changed:
                self._being_built.discard(name)
                self._changed.notify_all()
        self._let_go(name, connection)

    def _create(self, name: str, connection: duckdb.DuckDBPyConnection) -> None:
        if name == "source":
            _put(connection, name, _source_frame(self.sources))
        elif module := sqlfiles.modules().get(name):
            kind = "VIEW" if module.is_view else "TABLE"
            # who was interrupted may have made it without taking note
            connection.execute(f'CREATE OR REPLACE {kind} main."{name}" AS {module.query}')
        elif name in _steps():
            step = step_module(name)
            frames = _Frames(self, step.READS, connection)
            _put(connection, name, step.build(frames, self.options, self.settings))
            self._steps_ahead.discard(name)
            # copied first, as another worker may be done with a step meanwhile
            still_read = {read for ahead in tuple(self._steps_ahead) for read in self.reads(ahead)}
            for read in self._shared.keys() - still_read:
                self._shared.pop(read, None)
        else:
            raise KeyError(f"no relation {name}")

    def _let_go(self, name: str, connection: duckdb.DuckDBPyConnection) -> None:
        """Drop what was read for the last time when a relation was built."""
        if self._lifetimes is None:
            return
        with self._letting_go:
            tables, views = self._lifetimes.after(name)
            for kind, done in (("VIEW", views), ("TABLE", tables)):
                for gone in done & self._built:
                    connection.execute(f'DROP {kind} main."{gone}"')
                    self._built.discard(gone)

    def _stage(self, names: Iterable[str]) -> None:
        """Have all files read at once for the relations that these are made from."""
        pending, seen = list(names), set()
        while pending:
            name = pending.pop()
            if name not in seen and name not in self._built:
                seen.add(name)
                pending += self.reads(name)
        staged = seen & self._stager.names
        self._stager.fill(staged)
        self._built |= staged
        self._steps_ahead |= seen & _steps()


def _size(source: Source) -> int:
    """Bytes of a file; those of a folder are not worth counting."""
    path = source.info.path
    return path.stat().st_size if path.is_file() else _SMALL_BYTES + 1


def _is_view(name: str) -> bool:
    module = sqlfiles.modules().get(name)
    return module is not None and module.is_view


def _fetched(connection: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    import polars as pl

    frame = pl.from_arrow(connection.sql(query).to_arrow_table(), rechunk=False)
    assert isinstance(frame, pl.DataFrame)
    # who reads frames need not know how a table saves space
    coded = [
        name for name, kind in frame.schema.items() if isinstance(kind, pl.Categorical | pl.Enum)
    ]
    return frame.with_columns(pl.col(coded).cast(pl.String)) if coded else frame


def _put(connection: duckdb.DuckDBPyConnection, name: str, frame: pl.DataFrame) -> None:
    connection.register("_given", frame.to_arrow())
    connection.execute(f'CREATE OR REPLACE TABLE main."{name}" AS SELECT * FROM _given')
    connection.unregister("_given")


def _interrupt(connections: Iterable[duckdb.DuckDBPyConnection]) -> None:
    for connection in connections:
        connection.interrupt()


def _with_variables(
    connection: duckdb.DuckDBPyConnection, settings: Settings
) -> duckdb.DuckDBPyConnection:
    """Give a connection the thresholds that queries ask for: each has its own."""
    # in one go: a statement takes longer to start than to run
    values = asdict(settings).items()
    connection.execute(";".join(f"SET VARIABLE {key} = {_literal(value)}" for key, value in values))
    return connection


def _literal(value: float) -> str:
    return f"{value!r}::{'DOUBLE' if isinstance(value, float) else 'BIGINT'}"


def _source_frame(sources: Sequence[Source]) -> pl.DataFrame:
    """The files of the run, in the order of the arguments, and what their loaders say of them."""
    import polars as pl

    rows = [
        (i, info.format, info.producer, info.rank_in_name, json.dumps(info.notes))
        for i, info in enumerate(source.info for source in sources)
    ]
    schema = {
        "source_id": pl.Int64,
        "format": pl.String,
        "producer": pl.String,
        "rank_in_name": pl.Int64,
        "notes": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")
