"""annotation-overhead: so many ranges an iteration that its host times are not to be trusted.

The finding: the program opens more ranges than it launches GPU operations.

The cause: ``torch.autograd.profiler.emit_nvtx()`` (with ``record_shapes=True`` above all), or
``record_function`` in inner loops. Each range costs host time to open, format, record and close,
between the very launches that are to be measured.

The cure: ranges around phases only. Use emit_nvtx in a second recording, to find where a kernel
comes from, not for timing.

Not this finding: a few ranges per layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules._shared import first_row, steady_state, without_iterations

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "annotation-overhead"
READS = ("steady_period", "annotation_overhead")
MIN_RANGES_PER_OPERATION = 1.0
"""At one range for each launch the cost of marking is of the order of the cost of dispatch."""
MIN_RANGES = 200
"""Fewer than this take well below a millisecond, whatever an iteration launches."""

not_checked = without_iterations


def is_heavy(seen: Mapping[str, Any]) -> bool:
    """Whether ranges outnumber the operations that they are to explain."""
    return bool(
        seen["ranges"] >= MIN_RANGES
        and seen["ranges"] >= MIN_RANGES_PER_OPERATION * seen["operations"]
    )


def check(frames: Frames) -> Iterator[Diagnosis]:
    """Ranges and GPU operations of an iteration."""
    steady, seen = steady_state(frames), first_row(frames, "annotation_overhead")
    if steady is None or seen is None or not is_heavy(seen):
        return
    per_operation = seen["ranges"] / max(seen["operations"], 1)
    yield Diagnosis(
        id=ID,
        severity="low",
        title=f"{seen['ranges']:,.0f} ranges an iteration, {per_operation:.1f} for each GPU "
        "operation: host times are inflated",
        evidence=[
            Evidence("ranges", seen["ranges"], "ranges/iteration", MIN_RANGES),
            Evidence("operations", seen["operations"], "operations/iteration"),
            Evidence("ranges_per_operation", per_operation, "", MIN_RANGES_PER_OPERATION),
        ],
        where=steady.where(),
        explanation="Opening and closing a range takes host time, and so does formatting its name. "
        "Here this happens more often than launching: gaps, phases and the period are longer than "
        "in an unmarked run. Kernel times are not affected.",
        hypothesis="The run was recorded under emit_nvtx, or with ranges inside inner loops.",
        next_steps=[
            "Confirm: record again without emit_nvtx, with ranges around the phases only, and "
            "compare the period.",
            "torch.cuda.nvtx.range('forward') around each phase, and nothing inside.",
        ],
        caveats=["Where the GPU is the limit all through, the host's extra time is hidden."],
    )
