"""exposed-communication: collectives that no compute hides.

The finding: in a typical iteration the GPU runs communication kernels and computes nothing beside
them, though all ranks are there.

The cause: gradients or parameters are exchanged when they are needed and not earlier: buckets that
are too large (or one single bucket) to overlap backward, a wait directly behind the collective, too
little compute for the amount exchanged, a slow link between the GPUs.

The cure: overlap (DDP's ``bucket_cap_mb``, FSDP's prefetching), less to exchange (``no_sync`` with
gradient accumulation, bfloat16 gradients), larger batches.

Not this finding: collectives that run beside compute, and the time from a rank's arrival until the
last one's, which faster communication would not shorten (rank-straggler, where it is always the
same one). On a recording of one rank alone that waiting cannot be told apart, and is included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules._shared import (
    NOISE_SHARE,
    WORTH_READS,
    Steady,
    Worth,
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
    """The median iteration's communication that nothing runs beside, without the waiting."""
    steady, seen = steady_state(frames), first_row(frames, "exposed_communication")
    if steady is None or seen is None:
        return
    is_apart = seen["transfer_ns"] is not None
    own_ms = ms(seen["transfer_ns"] if is_apart else seen["exposed_ns"])
    if steady.share(own_ms) < MIN_SHARE:
        return
    value = worth(frames, steady, ID, own_ms)
    if value is None:
        return
    value = _at_most(value, own_ms, steady)
    yield Diagnosis(
        id=ID,
        title=f"Communication that no compute hides takes {own_ms:.1f} ms of each "
        f"{steady.median_period_ms:.1f} ms iteration",
        **value.fields,
        evidence=list(_evidence(seen, steady, own_ms)),
        where=steady.where(),
        explanation="While these kernels run, no other kernel does: the iteration waits for the "
        "exchange" + (_apart(seen) if is_apart else ", or for the peers that take part in it."),
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
        caveats=[*_caveats(seen), *value.caveats],
    )


def _at_most(value: Worth, own_ms: float, steady: Steady) -> Worth:
    """A replay without collectives is also rid of the waiting in them: that part is not this
    finding's."""
    if value.recoverable_ms <= own_ms:
        return value
    return replace(value, recoverable_ms=own_ms, share=steady.share(own_ms))


def _apart(seen: dict[str, Any]) -> str:
    return (
        f". The {ms(seen['wait_ns']):.1f} ms an iteration in which it waits for other ranks to "
        "come are not counted."
    )


def _evidence(seen: dict[str, Any], steady: Steady, own_ms: float) -> Iterator[Evidence]:
    total_ms, exposed_ms = ms(seen["communication_ns"]), ms(seen["exposed_ns"])
    hidden = max(0.0, 1 - exposed_ms / total_ms) if total_ms else 0.0
    yield Evidence("exposed_communication", own_ms, "ms/iteration")
    yield share_evidence("share_of_period", steady.share(own_ms), MIN_SHARE)
    if seen["wait_ns"] is not None:
        yield Evidence("exposed_waiting_for_ranks", ms(seen["wait_ns"]), "ms/iteration")
    yield Evidence("communication", total_ms, "ms/iteration")
    yield share_evidence("hidden_behind_compute", hidden, None)
    yield Evidence("collectives", seen["collectives"], "kernels/iteration")
    yield Evidence("longest_kernel", seen["kernel_name"] or "")
    if seen["bus_bytes_per_s"]:
        yield Evidence("bus_bandwidth", seen["bus_bytes_per_s"] / 1e9, "GB/s")


def _caveats(seen: dict[str, Any]) -> Iterator[str]:
    if seen["transfer_ns"] is None:
        yield (
            "A collective's time contains the wait for the slowest peer: record all ranks and "
            "analyse them together to tell the two apart."
        )
    elif not seen["has_all_ranks"]:
        yield (
            "Not all ranks of the process groups are in the recording: waiting for those that are "
            "missing counts as exchange here."
        )
