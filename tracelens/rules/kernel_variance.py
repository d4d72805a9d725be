"""kernel-variance: the same kernel, doing the same work, takes very different times.

The finding: at the same place of the iteration, with the same grid and block, a kernel's time
spreads over the iterations by more than clock changes explain.

The cause: contention for memory or for multiprocessors (a collective or a copy running beside it,
another process on the GPU, MIG or MPS), work that depends on the data (sparsity, expert routing,
sequence lengths), power or thermal capping.

The cure: find what runs beside the slow ones, and move it or limit it.

Not this finding: spread within what clocks explain, kernels of different shapes under one name, and
communication kernels, which wait for their peers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules._shared import (
    NOISE_SHARE,
    ms,
    rows,
    share_evidence,
    short_kernel_name,
    steady_state,
    without_iterations,
)

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "kernel-variance"
READS = ("steady_period", "kernel_variance")
MIN_RATIO = 1.5
"""From base to boost clock a GPU gains less than this."""
MIN_LAUNCHES = 20
"""A 90th percentile of fewer is one odd launch."""
MIN_SHARE = NOISE_SHARE

not_checked = without_iterations


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The kernel that loses most over its own median at the same place of the iteration."""
    steady = steady_state(frames)
    spread = [
        row
        for row in rows(frames, "kernel_variance")
        if row["launches"] >= MIN_LAUNCHES and row["p90_over_median"] >= MIN_RATIO
    ]
    if steady is None or not spread:
        return
    worst = max(spread, key=lambda row: row["excess_ns"])
    excess_ms = ms(worst["excess_ns"])
    if steady.share(excess_ms) < MIN_SHARE:
        return
    name = short_kernel_name(worst["kernel_name"])
    yield Diagnosis(
        id=ID,
        severity="info",
        title=f"{name} takes up to {worst['p90_over_median']:.1f} times its usual time for the "
        "same work",
        evidence=[
            Evidence("p90_over_median", worst["p90_over_median"], "", MIN_RATIO),
            Evidence("excess_over_median", excess_ms, "ms/iteration"),
            share_evidence("excess_share_of_period", steady.share(excess_ms), MIN_SHARE),
            Evidence("launches", worst["launches"], "kernels", MIN_LAUNCHES),
            Evidence("kernel", worst["kernel_name"]),
        ],
        where=steady.where(),
        explanation="Each launch was compared with those at the same place of other iterations, "
        "with the same grid and block. The spread is larger than clock changes make it.",
        hypothesis="Something runs beside the slow ones, or the work depends on the data.",
        next_steps=[
            "Measure: look at what overlaps the slowest launches on other streams, and record with "
            "--gpu-metrics-devices=all for clocks, memory traffic and occupancy.",
            "Run once with fixed data, and once with nothing else on the GPU: which of them makes "
            "the spread vanish?",
        ],
        caveats=["Kernels whose work depends on data do this by design."],
    )
