"""What each call of an operator took on the host and on the GPU, by itself and with the operators
that it called.

The host's time at each instant belongs to the innermost call. GPU time is the sum of the operations
launched inside, on the operator's thread: a CUDA graph belongs to what replays it, not to what was
captured.

reads: operator_span, operation_launch
row:   one call of an operator

operator_id  BIGINT   the call
parent_id    BIGINT   the call that it was made in, NULL at the top
is_outer     BOOLEAN  whether that one has another name, or there is none
cpu_ns       BIGINT   its length on the host
self_cpu_ns  BIGINT   that without the operators inside
gpu_ns       BIGINT   lengths of the operations launched in it, summed
self_gpu_ns  BIGINT   of those launched by itself
ops          BIGINT   operations launched in it
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps._nesting import Nesting

READS = ("operator_span", "operation_launch")

SCHEMA = {
    "operator_id": pl.Int64,
    "parent_id": pl.Int64,
    "is_outer": pl.Boolean,
    "cpu_ns": pl.Int64,
    "self_cpu_ns": pl.Int64,
    "gpu_ns": pl.Int64,
    "self_gpu_ns": pl.Int64,
    "ops": pl.Int64,
}


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """The cost of every call, by thread and start."""
    spans = frames["operator_span"]
    empty = pl.DataFrame(schema=SCHEMA)
    if spans.is_empty():
        return empty
    launches = frames["operation_launch"].partition_by("thread_id", as_dict=True)
    # numbers are compared many times faster than names
    named = spans.with_columns(pl.col("name").cast(pl.Categorical).to_physical())
    parts = [
        _costs(calls, launches.get(thread))
        for thread, calls in named.partition_by("thread_id", as_dict=True).items()
    ]
    return pl.concat([empty, *parts])


def _costs(calls: pl.DataFrame, launches: pl.DataFrame | None) -> pl.DataFrame:
    """The costs of one thread's calls."""
    ids, starts, ends, names = (
        calls[column].to_numpy() for column in ("operator_id", "start_ns", "end_ns", "name")
    )
    order = np.argsort(starts, kind="stable")
    if not np.diff(starts[order]).all():
        # of what starts at one moment the longer is outside, of two alike the one recorded first
        order = np.lexsort((ids, -ends, starts))
    ids, starts, ends, names = ids[order], starts[order], ends[order], names[order]
    nesting = Nesting(starts, ends)
    parent = nesting.parent
    is_inside = parent >= 0

    lengths = nesting.closing - starts
    self_cpu = lengths.copy()
    np.subtract.at(self_cpu, parent[is_inside], lengths[is_inside])

    self_gpu, self_ops = _launched(nesting, launches)
    return pl.DataFrame(
        {
            "operator_id": ids,
            "parent_id": pl.Series(ids[parent]).set(pl.Series(~is_inside), None),
            "is_outer": ~is_inside | (names[parent] != names),
            "cpu_ns": ends - starts,
            "self_cpu_ns": self_cpu,
            "gpu_ns": nesting.with_what_is_inside(self_gpu),
            "self_gpu_ns": self_gpu,
            "ops": nesting.with_what_is_inside(self_ops),
        },
        schema=SCHEMA,
    )


def _launched(
    nesting: Nesting, launches: pl.DataFrame | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Lengths and number of the operations that each call launched by itself."""
    gpu, ops = np.zeros((2, len(nesting.parent)), np.int64)
    if launches is not None:
        caller = nesting.innermost_at(launches["at_ns"].to_numpy())
        is_inside = caller >= 0
        np.add.at(gpu, caller[is_inside], launches["gpu_ns"].to_numpy()[is_inside])
        np.add.at(ops, caller[is_inside], 1)
    return gpu, ops
