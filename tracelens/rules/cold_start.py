"""cold-start: the first iterations of the recording are slower than the rest.

The finding: leading iterations exceed 1.3 times the median period. They are left out of every
median.

The cause: lazy loading of kernels, cuBLAS and cuDNN set-up and autotuning, compilation, the
allocator filling its cache, data-loader workers starting.

The cure: none is needed for a long run. For measuring: warm up before the capture starts
(``torch.cuda.profiler.start()`` after ten iterations with ``--capture-range=cudaProfilerApi``, or
``schedule(wait=…, warmup=…)`` of torch.profiler).

Not this finding: long iterations later on (irregular-iterations), and recordings that left the
first iterations out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules._shared import first_row, ms, steady_state, without_iterations

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "cold-start"
READS = ("steady_period", "cold_start")

not_checked = without_iterations


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The leading iterations that the steady state leaves out."""
    steady, seen = steady_state(frames), first_row(frames, "cold_start")
    if steady is None or seen is None or not seen["leading_iterations"]:
        return
    count, excess_ms = seen["leading_iterations"], ms(seen["excess_ns"])
    which = "first iteration takes" if count == 1 else f"first {count} iterations take up to"
    yield Diagnosis(
        id=ID,
        severity="info",
        title=f"The {which} {ms(seen['longest_ns']):.1f} ms, "
        f"{ms(seen['longest_ns']) / steady.median_period_ms:.1f} times the median",
        evidence=[
            Evidence("leading_iterations", count, "iterations"),
            Evidence("longest_period", ms(seen["longest_ns"]), "ms"),
            Evidence("excess_in_all", excess_ms, "ms"),
        ],
        where=steady.where(iterations=[seen["first_iteration"], seen["last_iteration"]]),
        explanation="The first iterations pay once for loading kernels, choosing algorithms, "
        f"compiling and filling caches: {excess_ms:.1f} ms here. They are left out of the medians, "
        "and leave fewer iterations to measure.",
        hypothesis="The capture started with the program, or soon after.",
        next_steps=[
            "Confirm: record a later stretch. The first iterations should be like the others.",
            "Start the capture after warm-up: nsys profile --capture-range=cudaProfilerApi, and "
            "torch.cuda.profiler.start() after ten iterations; with torch.profiler, "
            "schedule(wait=5, warmup=3, active=10).",
        ],
        caveats=["If every run is this short, the start is what there is to improve."],
    )
