"""recorded-operators: the profiler wrote down each operator, and that slows the host.

What is bent: torch.profiler works at each call of an operator, between the launches. The GPU's own
times are not touched, but where the host is the slower side, the GPU waits longer for the next
launch than in the program alone: idle time by ``launch`` and ``host``, and what it is worth, is an
upper bound.

The cure: where that idle time matters, measure the period without the profiler, or record with
``activities=[ProfilerActivity.CUDA]`` only, or with Nsight Systems.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import CoverageWarning

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "recorded-operators"
READS = ("recorded_operators",)


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """Any operator that the recorder lists; those of emit_nvtx are ranges, and told as such."""
    count = sum(row["operators"] for row in frames["recorded_operators"].to_dicts())
    if not count:
        return
    yield CoverageWarning(
        ID,
        "low",
        f"The profiler recorded {count:,} calls of operators, which slows the host: idle time that "
        "waits for a launch may be shorter in the program alone.",
        "Compare the period with a run without the profiler before acting on such idle time.",
    )
