"""The discrete-event model of one device and the host that feeds it (docs/replay.md).

The host goes through its steps in order: it thinks, then calls. A call launches a unit (an
operation, or a CUDA graph as one), or waits, or both. A unit starts as soon as its launch, its
stream, and what it waits for on other streams allow. One pass in host order is enough, as nothing
depends on what is launched later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

LAUNCH, WAIT, UNLINKED = 0, 1, 2
"""Kinds of steps: a call that launches a unit; a call that only waits; a unit without a call."""

STEP: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "kind": pl.Int64,
    "think_ns": pl.Int64,  # host time since the step before
    "call_ns": pl.Int64,  # host time in the call, without waiting
    "stream": pl.Int64,  # the stream that the unit runs on, as an index
    "unit_ns": pl.Int64,  # how long the unit runs
    "latency_ns": pl.Int64,  # from the return of the call to the earliest start of the unit
    "from_start": pl.Boolean,  # latency counts from the start of the call instead
    "gap_ns": pl.Int64,  # from the end of the unit before on the stream to the earliest start
    "after": pl.Int64,  # another step whose unit must have ended, -1 for none
    "after_ns": pl.Int64,  # from that end to the earliest start
    "also_on": pl.List(pl.Int64),  # further streams that a graph occupies
    "waits_for": pl.List(pl.Int64),  # streams whose units must have ended before the call returns
    "waits_step": pl.Int64,  # one step whose unit must have ended before, -1 for none
    "waits_own": pl.Boolean,  # its own unit must have ended before
    "return_ns": pl.Int64,  # from that end to the return
}
"""Columns of a frame of steps: one row a step, in host order. Times are nanoseconds."""


@dataclass(frozen=True)
class State:
    """Where the host and the streams stand before the first step. Times are nanoseconds."""

    host_ns: int
    stream_ends: tuple[int, ...]
    """When the last unit of each stream ends."""
    pending_ends: tuple[tuple[int, ...], ...]
    """Ends of the units launched last on each stream, oldest first: some are still queued."""
    queue_depth: int
    """Launches that a stream holds before the next call waits."""


def replay(steps: pl.DataFrame, state: State) -> list[int]:
    """When each step's unit starts, in nanoseconds; for a step that only waits, when it returns."""
    host = state.host_ns
    ends = list(state.stream_ends)
    pending = [list(p) for p in state.pending_ends]
    depth = state.queue_depth
    starts: list[int] = []
    finished: list[int] = []
    rows = zip(*(steps[name].to_list() for name in STEP), strict=True)
    for (
        kind,
        think_ns,
        call_ns,
        stream,
        unit_ns,
        latency_ns,
        from_start,
        gap_ns,
        after,
        after_ns,
        also_on,
        waits_for,
        waits_step,
        waits_own,
        return_ns,
    ) in rows:
        host += think_ns
        if kind == WAIT:
            until = max((ends[s] for s in waits_for), default=0) if waits_for else 0
            if waits_step >= 0:
                until = max(until, finished[waits_step])
            awaited = until + return_ns if until > host else 0
            host = max(host + call_ns, awaited)
            starts.append(host)
            finished.append(host)
            continue
        start = ends[stream] + gap_ns
        if kind == LAUNCH:
            queue = pending[stream]
            if len(queue) >= depth and queue[-depth] > host:
                host = queue[-depth]
            ready = host + latency_ns if from_start else host + call_ns + latency_ns
            host += call_ns
            if ready > start:
                start = ready
        if after >= 0 and finished[after] + after_ns > start:
            start = finished[after] + after_ns
        end = start + unit_ns
        if end > ends[stream]:
            ends[stream] = end
        for other in also_on or ():
            ends[other] = max(end, ends[other])
        if kind == LAUNCH:
            queue.append(end)
            if waits_own and end + return_ns > host:
                host = end + return_ns
        starts.append(start)
        finished.append(end)
    return starts
