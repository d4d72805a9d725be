"""profiler-overhead: the profiler itself makes the GPU idle.

What is bent: the period is longer than without the profiler. Only idle time that lies behind the
profiler's own work counts; its work while the queue is full is back-pressure and costs nothing.

The cause: buffer flushes, many short kernels, call stacks or memory tracking switched on, many
ranges.

The cure: fewer tracing options (no ``--cuda-memory-usage``, no sampling and no backtraces), fewer
iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import MEDIUM_SHARE, CoverageWarning, severity_of
from tracelens.rules._shared import ms

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "profiler-overhead"
READS = ("steady_period", "idle_by_finding")
MIN_SHARE = MEDIUM_SHARE
"""Less than what a finding needs to be loud does not change what is found."""


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """The device on which the mean iteration idles longest behind the profiler's own work."""
    period_ns = {r["device_id"]: r["mean_period_ns"] for r in frames["steady_period"].to_dicts()}
    shares = [
        (row["mean_ns"] / period_ns[row["device_id"]], row["mean_ns"])
        for row in frames["idle_by_finding"].to_dicts()
        if row["finding"] == "profiler" and period_ns.get(row["device_id"])
    ]
    share, idle_ns = max(shares, default=(0.0, 0.0))
    if share < MIN_SHARE:
        return
    yield CoverageWarning(
        ID,
        severity_of(share),
        f"The profiler's own work leaves the GPU idle for {ms(idle_ns):.2f} ms an iteration "
        f"({share:.0%}): the program alone is faster.",
        "Trace less: --sample=none --cpuctxsw=none, no --cuda-memory-usage, no backtraces, ranges "
        "around phases only.",
    )
