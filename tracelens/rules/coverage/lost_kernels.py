"""lost-kernels: work was launched that the recording has no trace of on the GPU.

What is lacking: launches without an operation, operations without a time, or iterations in which no
CUDA call was recorded at all. Busy times are too small and idle times too large, so that idle time
must not be believed.

The cause: CUPTI's buffers ran out or were not flushed before the process ended or was killed, a
second profiler held CUPTI, or the tool was too old for the driver.

The cure: record fewer iterations with ``--capture-range=cudaProfilerApi``, end the process
normally, ``--cuda-flush-interval``, a current Nsight Systems, no second profiler beside it.

Not this warning: launches during stream capture, which create nodes of a CUDA graph and run none,
and the launches that were still queued when the capture stopped (truncated-capture).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import CoverageWarning

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "lost-kernels"
READS = ("coverage_launches", "coverage_iterations", "lost_op")
MIN_SHARE = 0.01
"""A launch in a hundred may fail, or be lost at the edges; more is a hole in the recording."""


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """Launches without a GPU record, records without a time, iterations without a call."""
    processes = frames["coverage_launches"].to_dicts()
    launches, lost = (sum(row[key] for row in processes) for key in ("launches", "lost_launches"))
    timeless = sum(row["count"] for row in frames["lost_op"].to_dicts())
    silent = sum(row["silent_iterations"] for row in frames["coverage_iterations"].to_dicts())
    unseen = sum(
        row["launches"] + row["copies_and_memsets"] for row in processes if not row["operations"]
    )
    is_hole = max(lost, timeless) >= max(1, MIN_SHARE * launches)
    if not (silent or unseen or is_hole):
        if timeless:
            yield _few(timeless)
        return
    told = []
    if lost:
        told.append(f"{lost:,} of {launches:,} launches have no GPU operation")
    if timeless:
        told.append(f"{timeless:,} GPU operations have no time")
    if unseen and not lost:
        told.append(f"{unseen:,} launches, copies and memsets, but not one GPU operation")
    if silent:
        told.append(f"{silent} iterations lie behind the last CUDA call that was recorded")
    yield CoverageWarning(
        ID,
        "high",
        f"GPU work was lost: {', '.join(told)}. Idle time is not to be believed.",
        "Record fewer iterations (--capture-range=cudaProfilerApi), let the process end normally, "
        "use a current Nsight Systems, and no second profiler at the same time.",
    )


def _few(timeless: int) -> CoverageWarning:
    """So few that the figures hold, but they are not all that there was."""
    return CoverageWarning(
        ID,
        "low",
        f"{timeless:,} GPU operations were recorded without a time: they are counted as lost and "
        "are in no figure.",
        "The profiler ran out of buffers for a moment: record fewer iterations.",
    )
