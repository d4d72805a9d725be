"""dominant-kernel: one kernel takes a large part of the GPU's compute time.

The finding: kernels of one name take more than two fifths of an iteration's kernel time. It is a
fact and not a fault: it says where a faster kernel would pay.

The cause: the model's main operation (a matrix product, attention, a convolution), or one that is
slower than it has to be.

The cure: measure how close it comes to the limits of the hardware (``ncu -k NAME``) before
changing anything.

Not this finding: communication kernels, whose time contains waiting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules._shared import (
    first_row,
    ms,
    share_evidence,
    short_kernel_name,
    steady_state,
    without_iterations,
)

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "dominant-kernel"
READS = ("steady_period", "dominant_kernel")
MIN_SHARE = 0.4
"""Halving two fifths of the kernel time gains a fifth: the first place to look."""
MIN_PERIOD_SHARE = 0.1
"""A kernel that takes less of the period is not where the time goes, dominant or not."""

not_checked = without_iterations


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The kernel with the most time."""
    steady, seen = steady_state(frames), first_row(frames, "dominant_kernel")
    if steady is None or seen is None or not seen["all_kernels_ns"]:
        return
    share = seen["kernel_ns"] / seen["all_kernels_ns"]
    if share < MIN_SHARE or steady.share(ms(seen["kernel_ns"])) < MIN_PERIOD_SHARE:
        return
    name = short_kernel_name(seen["kernel_name"])
    yield Diagnosis(
        id=ID,
        severity="info",
        title=f"{name} takes {share:.0%} of the kernel time ({ms(seen['kernel_ns']):.1f} ms an "
        "iteration)",
        evidence=[
            share_evidence("share_of_kernel_time", share, MIN_SHARE),
            Evidence("kernel_time", ms(seen["kernel_ns"]), "ms/iteration"),
            Evidence("launches", seen["launches"], "kernels/iteration"),
            Evidence("mean_kernel", seen["kernel_ns"] / max(seen["launches"], 1) / 1e3, "µs"),
            Evidence("kernel", seen["kernel_name"]),
        ],
        where=steady.where(),
        explanation="By Amdahl's law this kernel bounds what any other kernel's improvement can "
        "bring. Whether it is slow for what it does, a timeline cannot tell.",
        hypothesis="It is the model's main operation.",
        next_steps=[
            "Measure: ncu --set roofline -k regex:NAME on a few launches shows how far it is from "
            "the limits of compute and memory.",
            "If it is far: other shapes (multiples of 64), a lower precision, a fused or library "
            "kernel (scaled_dot_product_attention, torch.compile with max-autotune).",
        ],
        caveats=["One name may cover several shapes, of which only one is slow."],
    )
