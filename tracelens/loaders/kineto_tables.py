"""Fill the raw tables of a torch.profiler trace from blocks of events."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

from tracelens.loaders.kineto_schema import SCHEMA, TABLE_OF_CATEGORY
from tracelens.loaders.kineto_values import (
    Ids,
    ThreadIds,
    integers,
    nanoseconds,
    volume,
)

Event = dict[str, Any]
_NONE: Event = {}
_KINDS = {"kernel": 0, "memcpy": 1, "memset": 2}
_METADATA, _SPANS, _NOWHERE = "metadata", "spans", ""
HOST_TABLES = ("call", "cpu_op", "annotation")


@dataclass
class Tables:
    """The raw tables, growing block by block."""

    strings: Ids = field(default_factory=Ids)
    threads: ThreadIds = field(default_factory=ThreadIds)
    metadata: list[Event] = field(default_factory=list)
    spans: list[Event] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    """What some events of each block are: their ``ph``."""
    untimed: int = 0
    """Events that were left out because their time is missing or no number."""
    parts: dict[str, list[pa.Table]] = field(default_factory=lambda: {t: [] for t in SCHEMA})
    places: int = 0
    """How many operations have a place, in the order of the file."""

    def add(self, events: list[Event]) -> None:
        """Append the events of one block, or raise InexactTimesError and leave all as it was."""
        self.kinds.update(str(e.get("ph")) for e in events[:100])
        groups = _grouped(events)
        metadata, spans = groups.pop(_METADATA), groups.pop(_SPANS)
        timed = {table: _timed(group) for table, group in groups.items()}
        self.untimed += sum(len(groups[t]) - len(kept) for t, (kept, _, _) in timed.items())
        self.metadata += [e for e in metadata if e.get("ph") == "M"]
        self.spans += spans
        for table, (kept, start, end) in timed.items():
            if kept:
                self._append(table, kept, start, end)

    def extend(self, later: Tables) -> None:
        """Append what was read of a later part of the same trace, with numbers of its own."""
        strings = np.array([*(self.strings[s] for s in later.strings), -1])
        pairs = list(later.threads)
        keys = np.array([later.threads[p] for p in pairs], np.int64)
        order = np.argsort(keys)
        own = np.array([self.threads[p] for p in pairs], np.int64)[order]
        keys = keys[order]

        def numbered(column: str, values: pa.ChunkedArray) -> Any:
            if column.endswith("_id"):
                return strings[values.to_numpy()]
            if column == "thread":
                return own[np.searchsorted(keys, values.to_numpy())]
            return values.to_numpy() + self.places if column == "place" else values

        for name, parts in later.parts.items():
            for part in parts:
                columns = [numbered(c, part[c]) for c in part.column_names]
                self.parts[name].append(pa.table(columns, schema=part.schema))
        self.places += later.places
        self.metadata += later.metadata
        self.spans += later.spans
        self.kinds |= later.kinds
        self.untimed += later.untimed

    def table(self, name: str) -> pa.Table:
        """One table, whole."""
        schema = pa.schema(SCHEMA[name])
        return pa.concat_tables(self.parts[name]) if self.parts[name] else schema.empty_table()

    def put(self, name: str, rows: Iterable[Event]) -> None:
        """Give a small table its rows."""
        self.parts[name] = [pa.Table.from_pylist(list(rows), pa.schema(SCHEMA[name]))]

    def _append(
        self,
        table: str,
        events: list[Event],
        start: npt.NDArray[np.int64],
        end: npt.NDArray[np.int64],
    ) -> None:
        args = _values(events, "args", _NONE)
        if set(map(type, args)) != {dict}:
            args = [a if isinstance(a, dict) else _NONE for a in args]
        columns: dict[str, Any] = {"start": start, "end": end}
        if table in _KINDS:
            columns |= self._operation(_KINDS[table], events, args)
            table = "gpu_op"
        else:
            columns |= _BUILDERS[table](self, events, args)
        schema = pa.schema(SCHEMA[table])
        self.parts[table].append(pa.table([columns[c] for c in schema.names], schema=schema))

    def _texts(self, values: list[Any]) -> pa.Array:
        strings = self.strings
        try:
            return pa.array([-1 if v is None else strings[v] for v in values], pa.int64())
        except TypeError:
            return pa.array([-1 if v is None else strings[str(v)] for v in values], pa.int64())

    def _host(self, events: list[Event]) -> dict[str, Any]:
        threads = self.threads
        pairs = list(zip(_values(events, "pid"), _values(events, "tid"), strict=True))
        try:
            keys = [threads[p] for p in pairs]
        except TypeError:
            keys = [threads[str(p), str(t)] for p, t in pairs]
        return {
            "thread": pa.array(keys, pa.int64()),
            "name_id": self._texts(_values(events, "name")),
        }

    def _operation(self, kind: int, events: list[Event], args: list[Event]) -> dict[str, Any]:
        count, first = len(events), self.places
        self.places += count
        places = np.arange(first, first + count)
        if collectives := [
            i for i, a in enumerate(args) if "Collective name" in a or "In msg nelems" in a
        ]:
            self._add_collectives(places[collectives], [args[i] for i in collectives])
        columns = {
            "place": places,
            "kind": np.full(count, kind),
            "name_id": self._texts(_values(events, "name")),
            "lane_pid": integers(_values(events, "pid")),
            "label_id": self._texts([a.get("name") for a in args]),
            "phase_id": self._texts([a.get("autograd_phase") for a in args]),
            "grid": pa.array([volume(a.get("grid")) for a in args], pa.int64()),
            "block": pa.array([volume(a.get("block")) for a in args], pa.int64()),
            "graph_node": integers([a.get("graph node id") for a in args]),
        }
        return columns | _integers(
            args, device="device", context="context", stream="stream",
            original_stream="original_stream",
            correlation="correlation", bytes="bytes",
        )  # fmt: skip

    def _add_collectives(self, places: npt.NDArray[np.int64], args: list[Event]) -> None:
        texts = {
            "collective": [a.get("Collective name", a.get("name")) for a in args],
            "group_name": [a.get("Process Group Name", a.get("Process Group ID")) for a in args],
            "group_text": [a.get("Process Group Description") for a in args],
            "dtype": [a.get("dtype") for a in args],
        }
        columns = {"place": places} | {
            c: pa.array([None if v is None else str(v) for v in values], pa.string())
            for c, values in texts.items()
        }
        columns |= _integers(
            args, group_size="Group size", sequence="Seq", elements="In msg nelems"
        )
        schema = pa.schema(SCHEMA["collective"])
        self.parts["collective"].append(pa.table([columns[c] for c in schema.names], schema=schema))

    def _call(self, events: list[Event], args: list[Event]) -> dict[str, Any]:
        return self._host(events) | _integers(args, correlation="correlation")

    def _cpu_op(self, events: list[Event], args: list[Event]) -> dict[str, Any]:
        dims = [a.get("Input Dims", a.get("Input dims")) for a in args]
        shapes = [orjson.dumps(d).decode() if d else None for d in dims]
        columns = _integers(args, sequence="Sequence number", forward="Fwd thread id")
        return self._host(events) | columns | {"shapes_id": self._texts(shapes)}

    def _annotation(self, events: list[Event], args: list[Event]) -> dict[str, Any]:
        finished = [a.get("finished") for a in args]
        texts = [None if f is None else str(f).lower() for f in finished]
        return self._host(events) | {"finished": pa.array(texts, pa.string())}

    def _plain(self, events: list[Event], args: list[Event]) -> dict[str, Any]:
        return self._host(events)

    def _memory(self, events: list[Event], args: list[Event]) -> dict[str, Any]:
        return self._host(events) | _integers(
            args, device="Device Id", device_type="Device Type", bytes="Bytes", address="Addr",
            allocated="Total Allocated", reserved="Total Reserved",
        )  # fmt: skip

    def _sync(self, events: list[Event], args: list[Event]) -> dict[str, Any]:
        return {"name_id": self._texts([e.get("name") for e in events])} | _integers(
            args, device="device", stream="stream", event="wait_on_cuda_event_id",
            correlation="correlation",
            waited_stream="wait_on_stream",
            record_correlation="wait_on_cuda_event_record_corr_id",
        )  # fmt: skip

    def _event_record(self, events: list[Event], args: list[Event]) -> dict[str, Any]:
        return _integers(
            args, device="device", stream="stream", event="event_id", correlation="correlation"
        )


_BUILDERS: dict[str, Callable[[Tables, list[Event], list[Event]], dict[str, Any]]] = {
    "call": Tables._call,
    "cpu_op": Tables._cpu_op,
    "annotation": Tables._annotation,
    "overhead": Tables._plain,
    "python_frame": Tables._plain,
    "memory": Tables._memory,
    "sync": Tables._sync,
    "event_record": Tables._event_record,
}


class _Destinations(dict[Any, str]):
    """Where events of a category go: a table, or one of the lists that are no table."""

    def __missing__(self, category: Any) -> str:
        known = TABLE_OF_CATEGORY.get(str(category).lower(), _NOWHERE)
        self[category] = known
        return known


def _grouped(events: list[Event]) -> dict[str, list[Event]]:
    """The events by where they go, each group in the order of the file."""
    destinations = _Destinations({None: _METADATA, "Trace": _SPANS})
    groups: dict[str, list[Event]] = {_METADATA: [], _SPANS: [], _NOWHERE: []}
    for event in events:
        try:
            destination = destinations[event.get("cat")]
        except TypeError:
            continue  # a category that is a list or an object: no event of any profiler
        try:
            groups[destination].append(event)
        except KeyError:
            groups[destination] = [event]
    del groups[_NOWHERE]
    return groups


def _timed(
    events: list[Event],
) -> tuple[list[Event], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The events that have a time, with start and end."""
    start = nanoseconds(_values(events, "ts"))
    duration = nanoseconds(_values(events, "dur", 0))
    if start is None or duration is None:
        events = [e for e in events if _has_times(e)]
        start = nanoseconds([e["ts"] for e in events])
        duration = nanoseconds([e.get("dur", 0) for e in events])
    assert start is not None
    assert duration is not None
    return events, start, start + np.maximum(duration, 0)


def _values(events: list[Event], key: str, default: Any = None) -> list[Any]:
    """What events have under a key that most kinds always have: to ask for it is slower."""
    try:
        return [e[key] for e in events]
    except KeyError:
        return [e.get(key, default) for e in events]


def _integers(args: list[Event], **keys: str) -> dict[str, Any]:
    return {column: integers([a.get(key) for a in args]) for column, key in keys.items()}


def _has_times(event: Event) -> bool:
    times = (nanoseconds([event.get("ts")]), nanoseconds([event.get("dur", 0)]))
    return times[0] is not None and times[1] is not None
