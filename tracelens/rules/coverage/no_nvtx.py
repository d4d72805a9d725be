"""no-nvtx: the program marks nothing: no ranges but those of libraries.

What is lacking: without ranges there are no named phases. Iterations can still be found from the
periodic sequence of kernels, but forward, backward and optimizer cannot be told apart, so that
findings about phases are not made.

The cure: in Nsight Systems recordings, NVTX ranges: ``torch.cuda.nvtx.range("forward")`` around
each phase and ``torch.cuda.nvtx.range(f"iter_{i}")`` around the iteration. In torch.profiler
recordings, ``torch.profiler.record_function("forward")`` and ``profiler.step()``. Each recorder
listens to its own kind only: record_function leaves nothing in an Nsight recording, and NVTX
nothing in a torch.profiler one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import CoverageWarning

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "no-nvtx"
READS = ("coverage_ranges",)


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """No range of the user's in any file of the run."""
    ranges = frames["coverage_ranges"].to_dicts()
    user, library = (sum(r[key] for r in ranges) for key in ("user_ranges", "other_ranges"))
    if user:
        return
    others = f" (only {library:,} of libraries)" if library else ""
    yield CoverageWarning(
        ID,
        "medium",
        f"The recording holds no ranges of the program{others}: phases cannot be told apart.",
        "Mark each phase: torch.cuda.nvtx.range('forward') for Nsight Systems with --trace=nvtx, "
        "record_function('forward') for torch.profiler. Neither recorder sees the other's marks.",
    )
