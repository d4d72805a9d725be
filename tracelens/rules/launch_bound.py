"""launch-bound: the GPU waits for the next launch, because dispatch is slower than the kernels.

The finding: in a typical iteration the GPU has run out of queued work while the host is busy
launching, Python and dispatch between two launches included.

The cause: many small kernels. Launching one from Python takes 5 to 20 µs of a CPU core; kernels
that are shorter drain the queue faster than the host can fill it. Small batches, small models,
decoding token by token, and many element-wise operators do this; a slow or shared CPU makes it
worse.

The cure: fewer launches for the same work: CUDA graphs (``torch.compile(mode="reduce-overhead")``),
fusion (``torch.compile``), larger batches.

Not this finding: a queue that is deep (host and GPU far apart is normal and good), replayed graphs,
the refill of a queue that a blocking call drained (host-sync), and the optimizer phase where its
small kernels are a finding of their own (optimizer-small-kernels).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules import annotation_overhead, optimizer_small_kernels
from tracelens.rules._idle import IDLE_READS, idle_of
from tracelens.rules._shared import first_row, rows, without_host_side

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "launch-bound"
READS = (*IDLE_READS, "launch_bound", "annotation_overhead")
CONSEQUENCE_OF = {"rank-straggler": "launch"}

not_checked = without_host_side


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The median iteration's wait for launches, outside an optimizer of small kernels."""
    idle = idle_of(frames, ID)
    if idle is None:
        return
    parts = _own_launches(frames)
    kernels, kernel_ns, calls, call_ns = (
        sum(part[key] for part in parts) for key in ("kernels", "kernel_ns", "calls", "call_ns")
    )
    kernel_us = kernel_ns / max(kernels, 1) / 1e3
    period_us = idle.steady.median_period_ms * 1e3
    yield Diagnosis(
        id=ID,
        title=f"The GPU waits {idle.of_period} for launches: {kernels:,.0f} kernels of "
        f"{kernel_us:.1f} µs on average",
        **idle.worth.fields,
        evidence=[
            *idle.evidence("idle_waiting_for_launches"),
            Evidence("kernels", kernels, "kernels/iteration"),
            Evidence("mean_kernel", kernel_us, "µs"),
            Evidence("mean_launch_call", call_ns / max(calls, 1) / 1e3, "µs"),
            Evidence("period_per_kernel", period_us / max(kernels, 1), "µs"),
        ],
        where=idle.steady.where(),
        explanation="Each gap ends with an operation that was launched only after the GPU had "
        "finished everything before it, and the host was launching all that time. The host's "
        "dispatch sets the pace; the GPU could do the same work sooner.",
        hypothesis="The kernels are too small for the cost of launching them from Python.",
        next_steps=[
            "Confirm: double the batch size. If the period hardly grows, launching is the limit.",
            "torch.compile(model, mode='reduce-overhead'), or torch.cuda.graph around the step: "
            "one launch for all kernels.",
            "torch.compile(model) to fuse element-wise operators; larger batches; fewer Python "
            "hooks and wrappers in the loop.",
        ],
        caveats=[
            "The profiler makes each launch a little slower, so an unprofiled run idles less.",
            *_annotation_caveat(frames),
            *idle.worth.caveats,
        ],
    )


def _own_launches(frames: Frames) -> list[dict[str, Any]]:
    """What is launched, without an optimizer that is told as optimizer-small-kernels."""
    told_elsewhere = first_row(frames, "idle_by_finding", finding=optimizer_small_kernels.ID)
    parts = rows(frames, "launch_bound")
    return [part for part in parts if not (told_elsewhere and part["is_optimizer"])]


def _annotation_caveat(frames: Frames) -> list[str]:
    seen = first_row(frames, "annotation_overhead")
    if seen is None or not annotation_overhead.is_heavy(seen):
        return []
    return [
        "Every operator is annotated (annotation-overhead): marking them takes host time that the "
        "program does not spend otherwise, and may be all there is to this finding."
    ]
