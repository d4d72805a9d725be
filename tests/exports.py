"""Small Nsight Systems exports, built from the rows that a test shows.

    make_export(
        tmp_path / "run.sqlite",
        kernels=[Kernel(100, 200, correlation=1, name="gemm")],
        calls=[Call(50, 60, correlation=1)],
        ranges=[Range(0, 300, "iter_0")],
    )

Times are nanoseconds on the trace clock. Tables without rows are left out, as the exporter does.
Anything else comes from ``sql``: statements that run last, to bend the schema as other versions do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

PID = 1000
H2D, D2H, D2D = 1, 2, 8
PAGEABLE, PINNED, DEVICE = 0, 1, 2

_OPERATION = (
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
    "contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, "
    "globalPid INTEGER, graphNodeId INTEGER"
)
_SCHEMA = {
    "CUPTI_ACTIVITY_KIND_KERNEL": f"{_OPERATION}, demangledName INTEGER NOT NULL, "
    "shortName INTEGER NOT NULL, gridX INTEGER, gridY INTEGER, gridZ INTEGER, "
    "blockX INTEGER, blockY INTEGER, blockZ INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMCPY": f"{_OPERATION}, bytes INTEGER, copyKind INTEGER, "
    "srcKind INTEGER, dstKind INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMSET": f"{_OPERATION}, bytes INTEGER, memKind INTEGER",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start INTEGER NOT NULL, end INTEGER NOT NULL, "
    "eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, "
    "nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL",
    "NVTX_EVENTS": "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, "
    "rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, "
    "endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, int64Value INTEGER",
    "CUDA_GRAPH_NODE_EVENTS": "start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, "
    "graphNodeId INTEGER NOT NULL, originalGraphNodeId INTEGER",
    "ANALYSIS_DETAILS": "globalVid INTEGER, duration INTEGER NOT NULL, startTime INTEGER, "
    "stopTime INTEGER",
}


@dataclass(frozen=True)
class Kernel:
    """A kernel. ``correlation`` None: no launch was recorded; ``node``: it belongs to a graph."""

    start: int
    end: int
    correlation: int | None = None
    name: str = "kernel"
    stream: int = 7
    device: int = 0
    pid: int = PID
    node: int | None = None


@dataclass(frozen=True)
class Copy:
    """A memory copy; ``kind`` is CUPTI's, and so are the kinds of memory at both ends."""

    start: int
    end: int
    correlation: int | None = None
    size: int = 1024
    kind: int = H2D
    source: int = PAGEABLE
    target: int = DEVICE
    stream: int = 7
    device: int = 0
    pid: int = PID


@dataclass(frozen=True)
class Memset:
    """A memset."""

    start: int
    end: int
    correlation: int | None = None
    size: int = 1024
    stream: int = 7
    device: int = 0
    pid: int = PID


@dataclass(frozen=True)
class Call:
    """A CUDA API call. ``thread`` is the number within the process; the main one has the pid's."""

    start: int
    end: int
    correlation: int | None = None
    name: str = "cudaLaunchKernel_v7000"
    thread: int = PID
    pid: int = PID


@dataclass(frozen=True)
class Range:
    """An NVTX range. ``end`` None: never closed. ``end_thread``: closed on another thread."""

    start: int
    end: int | None
    name: str
    thread: int = PID
    pid: int = PID
    style: str = "push_pop"
    domain: int = 0
    category: int | None = None
    color: int | None = None
    payload: int | None = None
    end_thread: int | None = None
    registered: bool = False
    """Its name is a registered string: in StringIds, not in the row."""


@dataclass(frozen=True)
class Mark:
    """An NVTX mark."""

    at: int
    name: str
    thread: int = PID
    pid: int = PID
    domain: int = 0


@dataclass(frozen=True)
class Node:
    """The creation of a node of a CUDA graph, or its instantiation from ``original``."""

    at: int
    node: int
    original: int | None = None
    thread: int = PID
    pid: int = PID


def global_pid(pid: int) -> int:
    """The exporter's 64-bit id of a process."""
    return pid << 24


def global_tid(pid: int, thread: int) -> int:
    """The exporter's 64-bit id of a thread."""
    return pid << 24 | thread


class _Strings:
    """The StringIds of an export: each text once, numbered from 1."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def id(self, text: str) -> int:
        return self._ids.setdefault(text, len(self._ids) + 1)

    def rows(self) -> list[tuple[int, str]]:
        return [(number, text) for text, number in self._ids.items()]


def make_export(
    path: Path,
    *,
    kernels: Sequence[Kernel] = (),
    copies: Sequence[Copy] = (),
    memsets: Sequence[Memset] = (),
    calls: Sequence[Call] = (),
    ranges: Sequence[Range] = (),
    marks: Sequence[Mark] = (),
    nodes: Sequence[Node] = (),
    domains: dict[int, str] | None = None,
    capture_ns: int | None = None,
    sql: Iterable[str] = (),
) -> Path:
    """Write an export with these rows, and return its path."""
    strings = _Strings()
    tables: dict[str, list[tuple[object, ...]]] = {
        "CUPTI_ACTIVITY_KIND_KERNEL": [_kernel(k, strings) for k in kernels],
        "CUPTI_ACTIVITY_KIND_MEMCPY": [_copy(c) for c in copies],
        "CUPTI_ACTIVITY_KIND_MEMSET": [_memset(m) for m in memsets],
        "CUPTI_ACTIVITY_KIND_RUNTIME": [_call(c, strings) for c in calls],
        "NVTX_EVENTS": [
            *(_domain(number, name) for number, name in (domains or {}).items()),
            *(_range(r, strings) for r in ranges),
            *(_mark(m) for m in marks),
        ],
        "CUDA_GRAPH_NODE_EVENTS": [
            (n.at, n.at, global_tid(n.pid, n.thread), n.node, n.original) for n in nodes
        ],
        "ANALYSIS_DETAILS": [(0, capture_ns, 0, capture_ns)] if capture_ns is not None else [],
    }
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)")
        db.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2023.4.4')")
        for table, rows in tables.items():
            _fill(db, table, rows)
        db.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
        db.executemany("INSERT INTO StringIds VALUES (?, ?)", strings.rows())
        for statement in sql:
            db.execute(statement)
        db.commit()
    return path


def _fill(db: sqlite3.Connection, table: str, rows: Sequence[tuple[object, ...]]) -> None:
    if rows:
        db.execute(f"CREATE TABLE {table} ({_SCHEMA[table]})")
        places = ", ".join("?" * len(rows[0]))
        db.executemany(f"INSERT INTO {table} VALUES ({places})", rows)


def _operation(op: Kernel | Copy | Memset) -> tuple[object, ...]:
    node = op.node if isinstance(op, Kernel) else None
    context = 1
    pid = global_pid(op.pid)
    return (op.start, op.end, op.device, context, op.stream, op.correlation, pid, node)


def _kernel(kernel: Kernel, strings: _Strings) -> tuple[object, ...]:
    name = strings.id(kernel.name)
    return (*_operation(kernel), name, name, 1, 1, 1, 32, 1, 1)


def _copy(copy: Copy) -> tuple[object, ...]:
    return (*_operation(copy), copy.size, copy.kind, copy.source, copy.target)


def _memset(memset: Memset) -> tuple[object, ...]:
    return (*_operation(memset), memset.size, DEVICE)


def _call(call: Call, strings: _Strings) -> tuple[object, ...]:
    tid = global_tid(call.pid, call.thread)
    return (call.start, call.end, 0, tid, call.correlation, strings.id(call.name), 0)


def _range(r: Range, strings: _Strings) -> tuple[object, ...]:
    kind = {"push_pop": 59, "start_end": 60}[r.style]
    text, text_id = (None, strings.id(r.name)) if r.registered else (r.name, None)
    closed_on = None if r.end_thread is None else global_tid(r.pid, r.end_thread)
    thread = global_tid(r.pid, r.thread)
    return (
        *(r.start, r.end, kind, None, r.category, r.color, text, thread),
        *(closed_on, text_id, r.domain, r.payload),
    )


def _mark(mark: Mark) -> tuple[object, ...]:
    thread = global_tid(mark.pid, mark.thread)
    return (mark.at, None, 34, None, None, None, mark.name, thread, None, None, mark.domain, None)


def _domain(number: int, name: str) -> tuple[object, ...]:
    """A row of type 75: domain ``number`` of the default process is called so."""
    thread = global_tid(PID, PID)
    return (0, None, 75, None, None, None, name, thread, None, None, number, None)
