"""A run as a Chrome JSON trace, which ui.perfetto.dev and chrome://tracing open.

What was recorded comes first: ranges and calls by host thread, operations by stream. Beside it on
each GPU is what tracelens made of it: iterations, phases where they ran, operations in CUDA graphs
by phase, idle time by cause, findings. Times are microseconds from the first event on.
"""

from __future__ import annotations

import gzip
import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from tracelens.events import Events
from tracelens.reports import _words as words

Event = dict[str, Any]
Row = Mapping[str, Any]

GPU_PID = 1_000_000
"""Processes of the export from this number on are GPUs: beyond what Linux gives to processes."""
_FOREIGN_PID = 2_000_000
"""For host processes whose own number another one has too: ranks of several machines."""
_ITERATIONS, _PHASES, _FINDINGS, _IDLE, _GRAPH, _STREAMS = 1, 100, 200, 300, 400, 100_000
"""Where the lanes of each kind begin on a GPU, from the top down."""
_OVERLAPPING = 16_777_216
"""Lanes of ranges that overlap freely: beyond the numbers of threads."""
_CATEGORIES = {"kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}


def write(run: Events, findings: Sequence[Row], path: Path) -> None:
    """Write the trace event by event, gzipped where the name ends in ``.gz``."""
    is_packed = path.suffix == ".gz"
    with gzip.open(path, "wb", compresslevel=4) if is_packed else path.open("wb") as file:
        file.write(b'{"displayTimeUnit": "ms", "traceEvents": [\n')
        for place, event in enumerate(events(run, findings)):
            file.write((b",\n" if place else b"") + orjson.dumps(event))
        file.write(b"\n]}\n")


def events(run: Events, findings: Sequence[Row]) -> Iterator[Event]:
    """All events of the trace. ``findings`` as the report has them, under ``diagnoses``."""
    origin = _origin(run)
    pids = _pids(run["processes"].to_dicts())
    yield from _host(run, pids, origin)
    for device in run["devices"].to_dicts():
        yield from _gpu(run, device, findings, origin)


def _origin(run: Events) -> int:
    starts = [
        frame["start_ns"].min()
        for name, frame in run.items()
        if "start_ns" in frame.columns and frame.height
    ]
    return min((int(start) for start in starts if isinstance(start, int)), default=0)


def _pids(processes: Sequence[Row]) -> dict[int, int]:
    """The number of each process in the export: its own, where no other has it."""
    taken: dict[int, int] = {}
    for row in processes:
        own = row["pid"]
        is_free = own is not None and 0 < own < GPU_PID and own not in taken.values()
        taken[row["process_index"]] = own if is_free else _FOREIGN_PID + row["process_index"]
    return taken


def _host(run: Events, pids: Mapping[int, int], origin: int) -> Iterator[Event]:
    for row in run["processes"].to_dicts():
        of_rank = "" if row["rank"] is None else f" (rank {row['rank']})"
        order, name = row["process_index"], f"{row['name'] or 'process'}{of_rank}"
        yield from _named(pids[order], name, order)
    for row in run["threads"].iter_rows(named=True):
        yield _meta("thread_name", pids[row["process_index"]], row["tid"], name=_text(row["name"]))
    overlapping = _Lanes(_OVERLAPPING)
    for row in run["ranges"].iter_rows(named=True):
        pid, tid = pids[row["process_index"]], row["tid"]
        if row["style"] != "push_pop":
            tid = overlapping.place(pid, row["start_ns"], row["end_ns"])
        name = f"{row['domain']}: {row['name']}" if row["domain"] else row["name"]
        yield _slice("user_annotation", name, pid, tid, row, origin)
    for pid, tid in overlapping.all():
        yield _meta("thread_name", pid, tid, name="ranges that overlap")
    for row in run["calls"].iter_rows(named=True):
        args = _known(correlation=row["correlation_id"])
        pid = pids[row["process_index"]]
        yield _slice("cuda_runtime", row["name"], pid, row["tid"], row, origin, args)


def _gpu(run: Events, device: Row, findings: Sequence[Row], origin: int) -> Iterator[Event]:
    index = device["device_index"]
    pid = GPU_PID + index
    of_rank = "" if device["rank"] is None else f" (rank {device['rank']})"
    yield from _named(pid, f"GPU {index}{of_rank} {device['name'] or ''}", pid)
    mine = {
        name: frame.filter(frame["device_index"] == index)
        for name, frame in run.items()
        if "device_index" in frame.columns
    }
    yield from _lanes(pid, _ITERATIONS, "iterations", _iterations(mine), origin)
    yield from _lanes(pid, _PHASES, "phases", _phases(mine), origin)
    yield from _lanes(pid, _FINDINGS, "findings", _findings(findings, index, mine), origin)
    yield from _lanes(pid, _IDLE, "idle", _idle(mine), origin)
    yield from _graph_lanes(pid, mine, origin)
    yield from _streams(pid, mine, origin)


Item = tuple[str, str, Row, Event]
"""Category, name, a row with start_ns and end_ns, and what else to show of it."""


def _iterations(mine: Events) -> Iterator[Item]:
    for row in mine["iterations"].iter_rows(named=True):
        name = row["name"] or f"iteration {row['iteration_index']}"
        args = {"iteration": row["iteration_index"], "steady": row["is_steady"]}
        yield "gpu_user_annotation", name, row, args


def _phases(mine: Events) -> Iterator[Item]:
    for row in mine["phases"].iter_rows(named=True):
        args = _known(
            phase=row["phase"], iteration=row["iteration_index"], kernels=row["kernels"],
            busy_ms=row["busy_ns"] / 1e6,
        )  # fmt: skip
        yield "gpu_user_annotation", row["name"], row, args


def _idle(mine: Events) -> Iterator[Item]:
    for row in mine["idle"].iter_rows(named=True):
        args = _known(
            cause=row["cause"], idle_us=row["idle_ns"] / 1e3, call=row["call_name"],
            open_range=row["open_range"], iteration=row["iteration_index"],
        )  # fmt: skip
        yield "tracelens_idle", words.cause_name(row["cause"]), row, args


def _findings(findings: Sequence[Row], device: int, mine: Events) -> Iterator[Item]:
    """Findings of this device over the time that they are about, or over all of its work."""
    whole = mine["operations"]
    for found in findings:
        where = found["where"]
        if where.get("device", 0) != device or not whole.height:
            continue
        start, end = whole["start_ns"][0], whole["end_ns"].max()
        span = where.get("span_ms")
        if isinstance(span, list) and len(span) == 2:
            start, end = int(span[0] * 1e6), int(span[1] * 1e6)
        args = _known(
            finding=found["id"], severity=found["severity"], explanation=found["explanation"],
            recoverable_ms=found["recoverable_ms"], next="; ".join(found["next_steps"]) or None,
        )  # fmt: skip
        yield "tracelens_finding", found["title"], {"start_ns": start, "end_ns": end}, args


def _graph_lanes(pid: int, mine: Events, origin: int) -> Iterator[Event]:
    """Operations that ran inside CUDA graphs, on a lane for each phase."""
    inside = mine["operations"].drop_nulls("graph_node_id")
    phases = inside["phase"].unique(maintain_order=True).to_list()
    for place, phase in enumerate(phases):
        of_phase = inside.filter(inside["phase"].eq_missing(phase))
        items: Iterable[Item] = (
            ("tracelens_graph", row["name"], row, _known(phase=phase, node=row["graph_node_id"]))
            for row in of_phase.iter_rows(named=True)
        )
        title = f"CUDA graph: {phase or 'no phase'}"
        yield from _lanes(pid, _GRAPH + 100 * place, title, items, origin)


def _streams(pid: int, mine: Events, origin: int) -> Iterator[Event]:
    operations = mine["operations"]
    streams = operations.select("context_id", "stream_id").unique().sort("context_id", "stream_id")
    for place, (context, stream) in enumerate(streams.iter_rows()):
        chosen = (operations["context_id"] == context) & (operations["stream_id"] == stream)
        items = (_operation(row) for row in operations.filter(chosen).iter_rows(named=True))
        yield from _lanes(pid, _STREAMS + 1000 * place, f"stream {stream}", items, origin)


def _operation(row: Row) -> Item:
    args = {"device": row["ordinal"], "context": row["context_id"], "stream": row["stream_id"]}
    more = {
        "correlation": row["correlation_id"], "graph node id": row["graph_node_id"],
        "bytes": row["bytes"], "phase": row["phase"], "iteration": row["iteration_index"],
    }  # fmt: skip
    return _CATEGORIES.get(row["kind"], "tracelens_graph"), row["name"], row, args | _known(**more)


def _lanes(pid: int, first: int, title: str, items: Iterable[Item], origin: int) -> Iterator[Event]:
    """Slices on as many lanes as they need for none to overlap another."""
    lanes = _Lanes(first)
    for category, name, row, args in items:
        tid = lanes.place(pid, row["start_ns"], row["end_ns"])
        yield _slice(category, name, pid, tid, row, origin, args)
    for _, tid in lanes.all():
        yield _meta("thread_name", pid, tid, name=_text(title))
        yield _meta("thread_sort_index", pid, tid, sort_index=tid)


class _Lanes:
    """Lanes of slices that do not overlap: each goes to the first that is free at its start.

    Slices come in the order of their starts, for each process.
    """

    def __init__(self, first: int) -> None:
        self._first = first
        self._free: dict[int, list[int]] = {}
        self._busy: dict[int, list[tuple[int, int]]] = {}
        self._count: dict[int, int] = {}

    def place(self, pid: int, start: int, end: int) -> int:
        """The number of the lane for a slice."""
        free, busy = self._free.setdefault(pid, []), self._busy.setdefault(pid, [])
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane = self._first + self._count.get(pid, 0)
            self._count[pid] = self._count.get(pid, 0) + 1
        heapq.heappush(busy, (end, lane))
        return lane

    def all(self) -> Iterator[tuple[int, int]]:
        """Every lane: its process and its number."""
        for pid, count in self._count.items():
            yield from ((pid, self._first + place) for place in range(count))


def _slice(
    category: str, name: str, pid: int, tid: int, row: Row, origin: int, args: Event | None = None
) -> Event:
    return {
        "ph": "X", "cat": category, "name": _text(name), "pid": pid, "tid": tid,
        "ts": (row["start_ns"] - origin) / 1e3, "dur": (row["end_ns"] - row["start_ns"]) / 1e3,
        "args": args or {},
    }  # fmt: skip


def _named(pid: int, name: str, order: int) -> Iterator[Event]:
    yield _meta("process_name", pid, 0, name=_text(name))
    yield _meta("process_sort_index", pid, 0, sort_index=order)


def _meta(what: str, pid: int, tid: int, **args: Any) -> Event:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "ts": 0, "args": args}


def _known(**args: Any) -> Event:
    """What is known of it, by its name."""
    return {key: value for key, value in args.items() if value is not None}


def _text(name: object) -> str:
    return words.clean(name) or "(unnamed)"
