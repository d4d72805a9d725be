"""Count what a SQLite export of Nsight Systems holds, in the database itself.

The counts are those of the staged relations (``sql/staging/nsys``). Nearly all rows of an export
are ordinary: their times are whole, positive and in order, and they are of one kind and on the
device of the table's first row. Those are counted with as little as can be asked of a row; where
there must be others too, these are looked at as closely as staging does.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from tracelens.loaders.contents import Contents, RecordedDevice
from tracelens.loaders.nsys_schema import find_table, quoted
from tracelens.plausible import LIMITS, LONGEST_NS

Ask: TypeAlias = Callable[[str], list[tuple[Any, ...]]]
"""Gives the rows that answer a query."""
Job: TypeAlias = Callable[[Ask], Any]
"""A part of the work that may be done beside others, on a connection of its own."""
_Key: TypeAlias = tuple[Any, ...]
_Row: TypeAlias = tuple[Any, ...]

_GPU = {
    "kernels": "CUPTI_ACTIVITY_KIND_KERNEL",
    "memory copies": "CUPTI_ACTIVITY_KIND_MEMCPY",
    "memsets": "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUDA graphs traced whole": "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
}
_HOST = {
    "CUDA calls": "CUPTI_ACTIVITY_KIND_RUNTIME",
    "operating system calls": "OSRT_API",
    "profiler overhead": "PROFILER_OVERHEAD",
}
_EVENTS = "NVTX_EVENTS"
_MARK, _RANGES = 34, (59, 60, 70, 71)
"""``eventType`` of events."""
_GRAPH_LAUNCH = ("cudaGraphLaunch*", "cuGraphLaunch*", "hipGraphLaunch*")
_HAS_TIME = "s IS NOT NULL AND e IS NOT NULL"
_PROCESS, _ORDINAL, _THREAD = (1 << 24) - 1, (1 << 8) - 1, (1 << 48) - 1
"""Bits of an id that tell a process, a device of one, and a thread."""


_LATE = LONGEST_NS
"""Times from 1 to this are ordinary: no two of them are too far apart."""
_PART_ROWS, _PARTS = 200_000, 64
"""A table is counted in parts of so many rows, or in so many parts, to keep all cores busy."""


@dataclass(frozen=True)
class _Span:
    """Records with one key, and what they span."""

    key: _Key
    has_time: bool
    """Whether they are what staging takes: where they are not, the times say nothing."""
    rows: int
    endless: int
    """Of these, the ones without an end."""
    first: int
    last: int
    """The latest end, or start of what has no end or ends before it starts."""


def contents(
    tables: Mapping[str, set[str]], run: Callable[[list[Job]], list[Any]], rank: int | None
) -> Contents:
    """Count an export that has the ``tables``, by their columns.

    ``run`` does jobs side by side; ``rank`` is the one that the file's name tells.
    """
    export = _Export(tables)
    [(parts, rows, machine)] = run([export.begin])
    spans: dict[str, list[_Span]] = {kind: [] for kind in (*_GPU, *_HOST, _EVENTS)}
    lost = 0
    for (kind, _), found in zip(parts, run([job for _, job in parts]), strict=True):
        spans[kind] += (span for span in found if span.has_time)
        lost += _rows(span for span in found if kind in _GPU and not span.has_time)
    operations = [span for kind in _GPU for span in spans[kind]]
    marks = [span for span in spans[_EVENTS] if span.key == (_MARK,)]
    ranges = [span for span in spans[_EVENTS] if span.key[0] in _RANGES]
    rows |= {kind: _rows(spans[kind]) for kind in (*_GPU, *_HOST)}
    rows |= {"marks": _rows(marks), "ranges": _rows(ranges), "records without a time": lost}
    known = [*operations, *spans["CUDA calls"], *ranges, *marks]
    # a range that was never closed lasts until the recording ends
    endless = [machine.duration or 0] if any(span.endless for span in ranges) else []
    launches_graphs, has_several_streams = (
        not rows[kind] and run([job])[0]
        for kind, job in (
            ("nodes of CUDA graphs", export.launches_graphs),
            ("waits between streams", export.has_several_streams),
        )
    )
    return Contents(
        rows=rows,
        start_ns=min((span.first for span in known), default=None),
        end_ns=max((*(span.last for span in known), *endless), default=None),
        devices=tuple(machine.devices(operations, rank)),
        launches_graphs=launches_graphs,
        has_several_streams=has_several_streams,
    )


@dataclass(frozen=True)
class _Scan:
    """How the records of a table are counted."""

    source: str
    times: tuple[str, str]
    """Start and end."""
    keys: list[str]
    has_time: str
    """Whether staging takes a row with the plausible times ``s`` and ``e``."""
    ordinary: str
    common: _Key
    """The key of all ordinary rows."""

    def parts(self, ask: Ask) -> Iterator[Job]:
        """Jobs that give spans of a part of the table each."""
        try:
            [(first, last)] = ask(
                f"SELECT (SELECT min(_rowid_) FROM {self.source}),"
                f" (SELECT max(_rowid_) FROM {self.source})"
            )
        except sqlite3.OperationalError:  # a table without numbers of its rows
            yield partial(self.spans, "true", 1 << 63)
            return
        if first is not None:
            step = max(_PART_ROWS, (last - first) // _PARTS + 1)
            for begin in range(first, last + 1, step):
                end = min(begin + step, last + 1)
                yield partial(self.spans, f"_rowid_ BETWEEN {begin} AND {end - 1}", end - begin)

    def spans(self, where: str, most: int, ask: Ask) -> list[_Span]:
        """The records that a condition tells: no more than ``most``."""
        part = f"{self.source} WHERE {where}"
        start, stop = self.times
        ordinary = f"{self.ordinary} AND {stop} >= {start}"
        [(rows, first, last)] = ask(
            f"SELECT count(*), min({start}), max({stop}) FROM {part} AND {ordinary}"
        )
        found = []
        if rows and isinstance(first, int) and isinstance(last, int) and 0 < first <= last <= _LATE:
            found = [_Span(self.common, True, rows, 0, first, last)]
        else:  # one that is not as it should be is not to be told from the others by its end
            rows, ordinary = 0, "false"
        if rows < most:
            found += self._others(f"{part} AND ({ordinary}) IS NOT TRUE", ask)
        return found

    def _others(self, part: str, ask: Ask) -> Iterator[_Span]:
        s, e = (
            f"CASE WHEN {_is_plausible(column, name)} THEN {column} END"
            for column, name in zip(self.times, ("start", "end"), strict=True)
        )
        names = [f"k{i}" for i in range(len(self.keys))]
        columns = ", ".join(" AS ".join(pair) for pair in zip(self.keys, names, strict=True))
        keys = ", ".join(names)
        rows = ask(
            f"WITH other AS (SELECT {columns}, {s} AS s, {e} AS e FROM {part}), sane AS ("
            f"SELECT {keys}, s, CASE WHEN e - s > {LONGEST_NS} THEN NULL ELSE e END AS e FROM other"
            f") SELECT {keys}, {self.has_time} AS has_time,"
            " count(*), count(*) - count(e), min(s), max(max(s, coalesce(e, s)))"
            f" FROM sane GROUP BY {keys}, has_time"
        )
        width = len(names)
        for row in rows:
            yield _Span(row[:width], *row[width:])


class _Export:
    """The questions to an export."""

    def __init__(self, tables: Mapping[str, set[str]]) -> None:
        self._tables = tables

    def begin(self, ask: Ask) -> tuple[list[tuple[str, Job]], dict[str, int], _Machine]:
        """The jobs that count large tables, by kind of record; and what small ones say."""
        scans = {kind: self._gpu_scan(table, ask) for kind, table in _GPU.items()}
        scans |= {kind: self._host_scan(table) for kind, table in _HOST.items()}
        scans[_EVENTS] = self._event_scan()
        parts = [(kind, part) for kind, scan in scans.items() if scan for part in scan.parts(ask)]
        return parts, self._plain_rows(ask), self._machine(ask)

    def _gpu_scan(self, table: str, ask: Ask) -> _Scan | None:
        """Operations, by ``globalPid, deviceId``."""
        keys = self._columns(table, "globalPid", "deviceId")
        ordinary, common = "false", ()
        for first in ask(f"SELECT {', '.join(keys)} FROM {self._from(table)} LIMIT 1"):
            if all(isinstance(value, int | None) for value in first):
                literals = ("NULL" if value is None else str(value) for value in first)
                ordinary = " AND ".join(map(" IS ".join, zip(keys, literals, strict=True)))
                common = first
        has_time = f"{_HAS_TIME} AND (s = 0 AND e = 0) IS NOT TRUE"
        return self._scan(table, keys, has_time, ordinary, common)

    def _host_scan(self, table: str) -> _Scan | None:
        """Calls and the like, all under one key."""
        return self._scan(table, ["0"], _HAS_TIME, "true", (0,))

    def _event_scan(self) -> _Scan | None:
        """NVTX events, by their type. Ordinary ranges of both styles count as the first."""
        keys = self._columns(_EVENTS, "eventType")
        ordinary = f"{keys[0]} BETWEEN {_RANGES[0]} AND {_RANGES[1]}"
        return self._scan(_EVENTS, keys, "s IS NOT NULL", ordinary, _RANGES[:1])

    def _scan(
        self, table: str, keys: list[str], has_time: str, ordinary: str, common: _Key
    ) -> _Scan | None:
        if find_table(table, self._tables) is None:
            return None
        start, end = self._columns(table, "start", "end")
        return _Scan(self._from(table), (start, end), keys, has_time, ordinary, common)

    def _plain_rows(self, ask: Ask) -> dict[str, int]:
        """Rows of the kinds that are not asked for their times, or are few."""
        syncs, records = map(
            self._from, ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "CUPTI_ACTIVITY_KIND_CUDA_EVENT")
        )
        node, created = self._columns("CUDA_GRAPH_NODE_EVENTS", "graphNodeId", "start")
        allocated, size = self._columns("CUDA_GPU_MEMORY_USAGE_EVENTS", "start", "bytes")
        name, thread = self._columns("ThreadNames", "nameId", "globalTid")
        (text,) = self._columns("StringIds", "id")
        queries = {
            "nodes of CUDA graphs": f"SELECT count(*) FROM {self._from('CUDA_GRAPH_NODE_EVENTS')}"
            f" WHERE {_is_whole(node)} AND {_is_plausible(created, 'start')}",
            "waits between streams": "SELECT"
            f" (SELECT count(*) FROM {syncs}) + (SELECT count(*) FROM {records})",
            "device memory allocations": "SELECT count(*)"
            f" FROM {self._from('CUDA_GPU_MEMORY_USAGE_EVENTS')}"
            f" WHERE {_is_plausible(allocated, 'start')} AND {_is_plausible(size, 'bytes')}",
            "physical GPUs": f"SELECT count(*) FROM {self._from('TARGET_INFO_GPU')}",
            "named threads": f"SELECT count(DISTINCT {thread} & {_THREAD})"
            f" FROM {self._from('ThreadNames')} WHERE {_is_plausible(name, 'nameId')}"
            f" AND {name} IN (SELECT {text} FROM {self._from('StringIds')})",
        }
        return {kind: ask(query)[0][0] for kind, query in queries.items()}

    def _machine(self, ask: Ask) -> _Machine:
        """What is known of the processes and devices."""
        columns = {
            "PROCESSES": ("globalPid", "pid", "name"),
            "MPI_RANKS": ("globalTid", "rank"),
            "TARGET_INFO_GPU": ("id", "deviceId", "cuDevice", "name"),
            "TARGET_INFO_CUDA_DEVICE": ("gpuId", "cudaId", "pid"),
            "ANALYSIS_DETAILS": ("duration",),
        }
        tables = (
            ask(f"SELECT {', '.join(self._columns(table, *names))} FROM {self._from(table)}")
            for table, names in columns.items()
        )
        return _Machine(
            *(
                [tuple(map(_known, names, row)) for row in rows]
                for names, rows in zip(columns.values(), tables, strict=True)
            )
        )

    def launches_graphs(self, ask: Ask) -> bool:
        """Whether any call has the name of one that launches a CUDA graph."""
        text, value = self._columns("StringIds", "id", "value")
        is_launch = " OR ".join(f"{value} GLOB '{pattern}'" for pattern in _GRAPH_LAUNCH)
        found = ask(f"SELECT {text} FROM {self._from('StringIds')} WHERE {is_launch}")
        names = ", ".join(str(name) for (name,) in found if isinstance(name, int))
        (name,) = self._columns(_HOST["CUDA calls"], "nameId")
        calls = self._from(_HOST["CUDA calls"])
        return bool(names and ask(f"SELECT 1 FROM {calls} WHERE {name} IN ({names}) LIMIT 1"))

    def has_several_streams(self, ask: Ask) -> bool:
        """Whether operations that have a time ran on more than one stream."""
        return all(len(self._streams(is_close, ask)) > 1 for is_close in (False, True))

    def _streams(self, is_close: bool, ask: Ask) -> set[int]:
        """Streams of all operations or, looked at closely, of those that have a time; or two."""
        found: set[int] = set()
        for table in _GPU.values():
            stream, start, end = self._columns(table, "streamId", "start", "end")
            has_time = (
                f"{_is_plausible(start, 'start')} AND {_is_plausible(end, 'end')}"
                f" AND NOT ({start} = 0 AND {end} = 0)"
            )
            where = has_time if is_close else "true"
            rows = ask(f"SELECT DISTINCT {stream} FROM {self._from(table)} WHERE {where} LIMIT 2")
            found |= {_whole(stream) or 0 for (stream,) in rows}
        return found

    def _from(self, table: str) -> str:
        """What to read a table from: from nothing, where there is none."""
        actual = find_table(table, self._tables)
        return "(SELECT 0 WHERE false)" if actual is None else quoted(actual)

    def _columns(self, table: str, *names: str) -> list[str]:
        """Columns as expressions: NULL, where there is none."""
        actual = find_table(table, self._tables)
        present = self._tables[actual] if actual else set()
        return [quoted(name) if name in present else "NULL" for name in names]


@dataclass(frozen=True)
class _Machine:
    """Rows of the small tables on processes and devices; NULL is None."""

    processes: list[_Row]
    ranks: list[_Row]
    gpus: list[_Row]
    cuda_devices: list[_Row]
    details: list[_Row]

    @property
    def duration(self) -> int | None:
        """Nanoseconds from the start of the recording to its end, as far as it is told."""
        return max((length for (length,) in self.details if length is not None), default=None)

    def devices(self, operations: Iterable[_Span], rank: int | None) -> Iterator[RecordedDevice]:
        """The devices of the operations, by process and ordinal."""
        only = self.processes[0][0] if len(self.processes) == 1 else None
        counts: Counter[tuple[int, int]] = Counter()
        for span in operations:
            global_pid, ordinal = map(_whole, span.key)
            process = (only if global_pid is None else global_pid) or 0
            counts[process >> 24 & _PROCESS, (ordinal or 0) & _ORDINAL] += span.rows
        for (process, ordinal), rows in sorted(counts.items()):
            pid, name, own_rank = self._process(process)
            shown_rank = rank if own_rank is None else own_rank
            yield RecordedDevice(name, ordinal, shown_rank, self._name(pid, ordinal), rows)

    def _process(self, process: int) -> tuple[int, str | None, int | None]:
        """Number, name and rank of a process."""
        rows = [p for p in self.processes if p[0] is not None and p[0] >> 24 & _PROCESS == process]
        pid = next((pid for _, pid, _ in rows if pid is not None), process)
        name = next((re.split(r"[/\\]", name)[-1] for *_, name in rows if name is not None), None)
        of_process = {key >> 24 for key, *_ in rows if key is not None}
        ranks = (rank for key, rank in self.ranks if key is not None and key >> 24 in of_process)
        return pid, name, min((rank for rank in ranks if rank is not None), default=None)

    def _name(self, pid: int, ordinal: int) -> str | None:
        """Name of a device: an ordinal of the process itself tells more than the machine's."""
        own = (
            name
            for gpu, number, owner in self.cuda_devices
            for id_, device, _, name in self.gpus
            if (number, owner) == (ordinal, pid) and gpu is not None
            if gpu == (device if id_ is None else id_)
        )
        of_machine = (
            name
            for id_, device, number, name in self.gpus
            if ordinal == next((n for n in (number, id_, device) if n is not None), None)
        )
        return next((name for name in (*own, *of_machine) if name is not None), None)


def _rows(spans: Iterable[_Span]) -> int:
    return sum(span.rows for span in spans)


def _is_whole(column: str) -> str:
    return f"({column} = CAST({column} AS INTEGER))"


def _is_plausible(column: str, name: str) -> str:
    """That a column holds a number which ``tracelens.plausible`` lets pass."""
    least, greatest = LIMITS[name]
    return f"({column} BETWEEN {least} AND {greatest} AND {_is_whole(column)})"


def _whole(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    return value if isinstance(value, int) else None


def _known(column: str, value: object) -> int | str | None:
    """A value of a small table as staging has it."""
    if column == "name":
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        return None if value is None else str(value)
    number = _whole(value)
    least, greatest = LIMITS.get(column, (-(1 << 63), 1 << 63))
    return number if number is not None and least <= number <= greatest else None
