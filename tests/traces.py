"""Small torch.profiler traces, built from the events that a test shows.

Times are microseconds, as Chrome traces have them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from tracelens.engine import Engine
from tracelens.loaders import open_source

Event = dict[str, Any]
PID = 1000


def kernel(ts: float, dur: float, name: str = "kernel", **args: Any) -> Event:
    """A kernel on GPU 0, stream 7. ``args`` go by the names in the trace, ``_`` for a space."""
    return _operation("kernel", ts, dur, name, args)


def memcpy(ts: float, dur: float, name: str, **args: Any) -> Event:
    """A memory copy."""
    return _operation("gpu_memcpy", ts, dur, name, args)


def memset(ts: float, dur: float, **args: Any) -> Event:
    """A memset."""
    return _operation("gpu_memset", ts, dur, "Memset (Device)", args)


def host(cat: str, ts: float, dur: float, name: str, tid: Any = PID, **args: Any) -> Event:
    """An operator, call, annotation or the like on the host."""
    where = {"pid": PID, "tid": tid, "ts": ts, "dur": dur}
    return {"ph": "X", "cat": cat, "name": name, **where, "args": _spaced(args)}


def trace_text(events: list[Event], **header: Any) -> str:
    """A trace with its header before the events, as Kineto writes it."""
    return json.dumps({"schemaVersion": 1, **header, "traceEvents": events})


def write_trace(path: Path, events: list[Event], **header: Any) -> Path:
    """A trace file."""
    path.write_text(trace_text(events, **header), encoding="utf-8")
    return path


def staged(path: Path, relation: str, *columns: str) -> list[Any]:
    """Rows of a staging relation in order of time or id: tuples, or the values of one column."""
    frame: pl.DataFrame = Engine([open_source(path)]).frame(relation)
    order = [
        c for c in ("start_ns", "at_ns", "op_id", "thread_id", "ordinal") if c in frame.columns
    ]
    rows = frame.sort(order).select(columns or frame.columns).rows()
    return [row[0] for row in rows] if len(columns) == 1 else rows


def _operation(cat: str, ts: float, dur: float, name: str, args: Event) -> Event:
    event = {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur}
    return event | {"args": {"device": 0, "context": 1, "stream": 7} | _spaced(args)}


def _spaced(args: Event) -> Event:
    return {key.replace("_", " "): value for key, value in args.items()}
