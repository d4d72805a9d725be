"""opaque-graphs: CUDA graphs were recorded as one operation each.

What is lacking: the kernels inside. Phases, kernels and ratios cover only what ran outside graphs.

The cause: Nsight Systems' default for drivers that support it is ``--cuda-graph-trace=graph``.

The cure: ``--cuda-graph-trace=node``, which also shows forward, backward and optimizer inside a
graph. It adds some overhead to each node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import CoverageWarning

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "opaque-graphs"
READS = ("coverage_operations", "coverage_launches")
MAJOR_SHARE = 0.5
"""Where graphs take most of the GPU's time, most of the run is unseen."""


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """Graph launches that are one operation, or have none at all."""
    rows = frames["coverage_operations"].to_dicts()
    whole, graph_ns, total_ns = (
        sum(row[key] for row in rows) for key in ("graphs", "graph_ns", "operation_ns")
    )
    empty = sum(row["empty_graph_launches"] for row in frames["coverage_launches"].to_dicts())
    if not whole and not empty:
        return
    share = graph_ns / total_ns if total_ns else 0.0
    told = []
    if whole:
        told.append(
            f"{whole:,} CUDA graph launches were recorded as one operation each ({share:.0%} of "
            "the GPU's time)"
        )
    if empty:
        told.append(f"{empty:,} CUDA graph launches have no GPU record")
    yield CoverageWarning(
        ID,
        "medium" if share >= MAJOR_SHARE or empty else "low",
        f"{' and '.join(told)}: the kernels inside are not known.",
        "Record with --cuda-graph-trace=node.",
    )
