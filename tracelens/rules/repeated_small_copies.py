"""repeated-small-copies: the same small copy to the GPU, many times an iteration.

The finding: many host-to-device copies of one small size an iteration, and the
GPU waits behind them.

The cause: a tensor made from Python values inside a loop: ``torch.tensor(0.5, device="cuda")``, a
Python scalar or a NumPy array mixed into GPU arithmetic, an index list, a mask built anew in each
layer. A copy from pageable memory is followed by a wait for the stream, so that each of them
drains the queue of launches.

The cure: make the constant once and keep it on the GPU (``register_buffer``), build it there
(``torch.full``, ``torch.arange(..., device=...)``), or pass a Python number to the operator, which
travels as a kernel argument. Where the values differ, send them in one copy.

Not this finding: a few small tensors of each batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules._shared import (
    NOISE_SHARE,
    SMALL_COPY_BYTES,
    WORTH_READS,
    first_row,
    ms,
    rows,
    share_evidence,
    size,
    steady_state,
    without_iterations,
    worth,
)
from tracelens.settings import Settings

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "repeated-small-copies"
READS = (*WORTH_READS, "repeated_small_copies", "idle_by_finding")
MIN_COPIES = Settings.repeated_copies
MIN_SHARE = NOISE_SHARE

not_checked = without_iterations


def check(frames: Frames) -> Iterator[Diagnosis]:
    """Groups of small copies of one size from one range, by the time lost in and behind them."""
    steady = steady_state(frames)
    groups = [
        row
        for row in rows(frames, "repeated_small_copies", direction="HtoD")
        if row["bytes"] <= SMALL_COPY_BYTES and row["copies"] >= MIN_COPIES
    ]
    if steady is None or not groups:
        return
    behind = first_row(frames, "idle_by_finding", finding=ID)
    stall_ms = ms(behind["median_ns"]) if behind else 0.0
    cost_ms = stall_ms + sum(ms(row["copy_ns"]) for row in groups)
    if steady.share(cost_ms) < MIN_SHARE:
        return
    worst = max(groups, key=lambda row: row["copies"])
    value = worth(frames, steady, ID, cost_ms)
    if value is None:
        return
    copies, place = worst["copies"], worst["range_name"]
    yield Diagnosis(
        id=ID,
        title=f"{copies:.0f} copies of {size(worst['bytes'])} to the GPU in each iteration"
        + (f", from '{place}'" if place else ""),
        **value.fields,
        evidence=[
            *_evidence(worst, stall_ms),
            share_evidence("share_of_period", steady.share(cost_ms), MIN_SHARE),
            Evidence("groups_of_such_copies", len(groups), "groups"),
        ],
        where=steady.where(ranges=[place] if place else []),
        explanation="Copies this small take a microsecond of the link and cost latency: each is a "
        "launch, and from pageable memory the host then waits for the stream, so that the queue of "
        "launches runs empty and the GPU idles until it is filled again.",
        hypothesis="A constant, an index or a mask is built from Python values inside a loop.",
        next_steps=[
            "Confirm: set a breakpoint on the copies with torch.cuda.set_sync_debug_mode('error') "
            "for one iteration; the traceback names the line.",
            "Make it once: self.register_buffer('scale', torch.tensor(0.5)), or build it on the "
            "GPU: torch.full((), 0.5, device=x.device).",
            "Pass Python numbers to operators (x * 0.5), and stack values that differ into one "
            "tensor that is sent once, from pinned memory, with non_blocking=True.",
        ],
        caveats=[
            "Copies of one size need not carry the same values: these may have to be sent, though "
            "not one by one.",
            *value.caveats,
        ],
    )


def _evidence(worst: dict[str, Any], stall_ms: float) -> list[Evidence]:
    return [
        Evidence("copies_of_one_size", worst["copies"], "copies/iteration", MIN_COPIES),
        Evidence("bytes_each", worst["bytes"], "bytes", SMALL_COPY_BYTES),
        Evidence("time_in_copies", ms(worst["copy_ns"]), "ms/iteration"),
        Evidence("idle_behind_copies", stall_ms, "ms/iteration"),
    ]
