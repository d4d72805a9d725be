"""optimizer-small-kernels: the optimizer step is a long row of tiny kernels.

The finding: an optimizer phase launches hundreds of kernels or more that take microseconds each,
and the GPU idles between them, waiting for the next launch.

The cause: an optimizer that loops over the parameters: ``foreach=False``, a hand-written update, or
one with per-parameter Python logic. Each parameter takes about ten kernels, each of which is
shorter than its own dispatch.

The cure: ``torch.optim.AdamW(..., fused=True)``, or ``foreach=True``, which update all parameters
in a few dozen kernels; ``torch.compile`` around the step of a custom optimizer.

Not this finding: fused and foreach optimizers. The idle time of this phase is told here, that of
the other phases as launch-bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules._idle import IDLE_READS, idle_of
from tracelens.rules._shared import first_row, ms, share_evidence, without_host_side
from tracelens.settings import Settings

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "optimizer-small-kernels"
READS = (*IDLE_READS, "optimizer_small_kernels")
MIN_KERNELS = Settings.small_kernels
MAX_MEAN_KERNEL_NS = Settings.small_kernel_ns
MIN_IDLE_SHARE = 0.2
"""Share of the phase in which the GPU waits for launches; below, small kernels do no harm."""


def not_checked(frames: Frames) -> str | None:
    """It takes iterations with launches, and an optimizer phase."""
    if reason := without_host_side(frames):
        return reason
    if first_row(frames, "optimizer_small_kernels") is None:
        return "no optimizer phase is known"
    return None


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The optimizer phase's kernels, and the idle time between them."""
    idle, seen = idle_of(frames, ID), first_row(frames, "optimizer_small_kernels")
    if idle is None or seen is None:
        return
    if seen["kernels"] < MIN_KERNELS or seen["mean_kernel_ns"] > MAX_MEAN_KERNEL_NS:
        return
    span_ms = ms(seen["span_ns"])
    if idle.ms < MIN_IDLE_SHARE * span_ms:
        return
    yield Diagnosis(
        id=ID,
        title=f"The optimizer step launches {seen['kernels']:,.0f} kernels of "
        f"{seen['mean_kernel_ns'] / 1e3:.1f} µs: {span_ms:.1f} ms, of which the GPU works "
        f"{ms(seen['busy_ns']):.1f} ms",
        **idle.worth.fields,
        evidence=[
            Evidence("kernels", seen["kernels"], "kernels/iteration", MIN_KERNELS),
            Evidence("mean_kernel", seen["mean_kernel_ns"] / 1e3, "µs", MAX_MEAN_KERNEL_NS / 1e3),
            Evidence("optimizer_span", span_ms, "ms/iteration"),
            Evidence("idle_waiting_for_launches", idle.ms, "ms/iteration"),
            share_evidence("idle_share_of_phase", idle.ms / span_ms, MIN_IDLE_SHARE),
        ],
        where=idle.steady.where(ranges=[seen["name"]]),
        explanation="Dispatching a kernel from Python takes several microseconds, longer than "
        "these kernels run. The GPU finishes each before the next is launched and idles for most "
        "of the phase.",
        hypothesis="The optimizer updates one parameter after the other (foreach=False, or a "
        "custom loop).",
        next_steps=[
            "Confirm: replace the optimizer by torch.optim.AdamW(params, fused=True) for a few "
            "iterations and compare the phase.",
            "Use fused=True, or foreach=True, or an optimizer library with multi-tensor kernels.",
            "For a custom rule: torch._foreach_* operators, or torch.compile(optimizer.step).",
        ],
        caveats=[
            "The worth leaves kernel time as it is; a fused kernel saves some of that, too.",
            *idle.worth.caveats,
        ],
    )
