"""exposed-communication: collectives that no compute hides.

The finding: in a typical iteration the GPU runs communication kernels and nothing beside them.

The cause: gradients or parameters are exchanged when they are needed and not earlier: buckets that
are too large (or one single bucket) to overlap backward, a wait directly behind the collective, too
little compute for the amount exchanged, a slow link between the GPUs.

The cure: overlap (DDP's ``bucket_cap_mb``, FSDP's prefetching), less to exchange (``no_sync`` with
gradient accumulation, bfloat16 gradients), larger batches.

Not this finding: collectives that run beside compute. Time spent waiting inside a collective for a
peer that arrives late is rank-straggler's, which takes the recordings of several ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules._shared import (
    NOISE_SHARE,
    WORTH_READS,
    first_row,
    ms,
    share_evidence,
    steady_state,
    without_iterations,
    worth,
)

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "exposed-communication"
READS = (*WORTH_READS, "exposed_communication")
MIN_SHARE = NOISE_SHARE


def not_checked(frames: Frames) -> str | None:
    """It takes iterations, and collectives in them."""
    if reason := without_iterations(frames):
        return reason
    if first_row(frames, "exposed_communication") is None:
        return "no communication kernels were recorded"
    return None


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The median iteration's communication that nothing runs beside."""
    steady, seen = steady_state(frames), first_row(frames, "exposed_communication")
    if steady is None or seen is None:
        return
    exposed_ms, total_ms = ms(seen["exposed_ns"]), ms(seen["communication_ns"])
    if steady.share(exposed_ms) < MIN_SHARE:
        return
    value = worth(frames, steady, ID, exposed_ms)
    hidden = max(0.0, 1 - exposed_ms / total_ms) if total_ms else 0.0
    yield Diagnosis(
        id=ID,
        title=f"Communication that no compute hides takes {exposed_ms:.1f} ms of each "
        f"{steady.median_period_ms:.1f} ms iteration",
        **value.fields,
        evidence=[
            Evidence("exposed_communication", exposed_ms, "ms/iteration"),
            share_evidence("share_of_period", steady.share(exposed_ms), MIN_SHARE),
            Evidence("communication", total_ms, "ms/iteration"),
            share_evidence("hidden_behind_compute", hidden, None),
            Evidence("collectives", seen["collectives"], "kernels/iteration"),
            Evidence("longest_kernel", seen["kernel_name"] or ""),
        ],
        where=steady.where(),
        explanation="While these kernels run, no other kernel does: the iteration waits for the "
        "exchange, or for the peers that take part in it.",
        hypothesis="The exchange starts too late to overlap backward, or there is too little "
        "compute to hide it.",
        next_steps=[
            "Confirm: run some iterations without the exchange (with model.no_sync() for DDP) and "
            "compare the period.",
            "DDP: gradient_as_bucket_view=True, bucket_cap_mb smaller for an earlier start; FSDP: "
            "set_modules_to_forward_prefetch and set_modules_to_backward_prefetch.",
            "Exchange less: gradient accumulation under no_sync(), the bf16_compress_hook, larger "
            "batches.",
        ],
        caveats=[
            "A collective's time contains the wait for the slowest peer: record all ranks and "
            "analyse them together to tell the two apart.",
            *value.caveats,
        ],
    )
