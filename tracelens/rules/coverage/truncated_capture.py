"""truncated-capture: the recording begins or ends in the middle of the work.

What is lacking: operations whose launch lies before the capture, launches whose operation lies
behind it, or an iteration that was still open when it stopped. The iterations at the edges are
incomplete, so that counts over the whole recording are not whole iterations.

The cause: a capture by time (``--delay``, ``--duration``), or one that was stopped by hand.

The cure: ``--capture-range=cudaProfilerApi``, with ``torch.cuda.synchronize()`` before
``torch.cuda.profiler.start()`` and ``stop()``, between two iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import CoverageWarning

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "truncated-capture"
READS = ("coverage_operations", "coverage_launches", "coverage_iterations")


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """What sticks out at the beginning and at the end."""
    before = sum(row["unlinked_before"] for row in frames["coverage_operations"].to_dicts())
    behind = sum(row["trailing_launches"] for row in frames["coverage_launches"].to_dicts())
    unfinished = sum(row["open_iterations"] for row in frames["coverage_iterations"].to_dicts())
    told = []
    if before:
        told.append(f"{before:,} GPU operations were launched before it began")
    if behind:
        told.append(f"{behind:,} launches had not run when it ended")
    if unfinished:
        told.append(
            f"{unfinished} {'iteration was' if unfinished == 1 else 'iterations were'} open"
        )
    if not told:
        return
    yield CoverageWarning(
        ID,
        "low",
        f"The recording is cut off in the middle of work: {', '.join(told)}.",
        "Start and stop between iterations, behind torch.cuda.synchronize(), with "
        "--capture-range=cudaProfilerApi.",
    )
