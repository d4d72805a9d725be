"""transfer-bound: copies between host and GPU that nothing overlaps take the time.

The finding: in a typical iteration the GPU's compute units wait while the copy engine moves data
between host and device. Only the part of a copy that no kernel runs beside is counted.

The cause: batches that are copied when they are needed, in the stream that needs them. From
pageable memory the driver must stage the data through a pinned buffer, which runs at a fraction of
the link's speed and blocks the calling thread until the copy is done, so that nothing else can be
launched either.

The cure: pinned memory (``pin_memory=True``), ``non_blocking=True``, the next batch copied in a
stream of its own while this one computes, smaller data (uint8 instead of float32, cast on the GPU).

Not this finding: copies that run beside compute cost nothing. Many tiny copies cost latency and
not bandwidth (repeated-small-copies; host-sync where results are read back).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules._shared import (
    NOISE_SHARE,
    SMALL_COPY_BYTES,
    WORTH_READS,
    ms,
    rows,
    share_evidence,
    size,
    steady_state,
    without_iterations,
    worth,
)

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "transfer-bound"
READS = (*WORTH_READS, "transfer_bound")
MIN_SHARE = NOISE_SHARE
HOST_COPIES = {"HtoD": "to the GPU", "DtoH": "from the GPU"}
MOSTLY = 0.5
"""A property of most of the bytes is told as the copies' own."""

not_checked = without_iterations


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The exposed time of host copies that are large enough to be bound by bandwidth."""
    steady = steady_state(frames)
    copies = [
        row
        for row in rows(frames, "transfer_bound")
        if row["direction"] in HOST_COPIES and row["bytes"] > SMALL_COPY_BYTES * row["copies"]
    ]
    exposed_ms = sum(ms(row["exposed_ns"]) for row in copies)
    if steady is None or steady.share(exposed_ms) < MIN_SHARE:
        return
    worst = max(copies, key=lambda row: row["exposed_ns"])
    value = worth(frames, steady, ID, exposed_ms)
    if value is None:
        return
    yield Diagnosis(
        id=ID,
        title=f"Copies {HOST_COPIES[worst['direction']]} that nothing overlaps take "
        f"{exposed_ms:.1f} ms of each {steady.median_period_ms:.1f} ms iteration",
        **value.fields,
        evidence=_evidence(worst, exposed_ms, steady.share(exposed_ms)),
        where=steady.where(ranges=[worst["range_name"]] if worst["range_name"] else []),
        explanation=f"An iteration moves {size(worst['bytes'])} {HOST_COPIES[worst['direction']]} "
        f"at {_rate(worst):.1f} GB/s, and the compute units have nothing to do meanwhile. "
        + _memory_and_call(worst),
        hypothesis="The batch is copied at the moment it is needed"
        + (", from pageable memory." if _pageable(worst) >= MOSTLY else "."),
        next_steps=[
            "Confirm: leave the batch on the GPU (copy it once, before the loop). The period "
            "should fall by about the worth.",
            "DataLoader(..., pin_memory=True) and batch.to(device, non_blocking=True).",
            "Copy the next batch in a side stream while this one computes: with "
            "torch.cuda.stream(copy_stream): next_batch = ..., then "
            "torch.cuda.current_stream().wait_stream(copy_stream).",
            "Send less: uint8 or bfloat16 on the wire, cast and augment on the GPU.",
        ],
        caveats=[
            "A copy that must come first (the result of this very iteration) cannot be overlapped.",
            *value.caveats,
        ],
    )


def _evidence(worst: dict[str, Any], exposed_ms: float, share: float) -> list[Evidence]:
    return [
        Evidence("exposed_copy_time", exposed_ms, "ms/iteration"),
        share_evidence("share_of_period", share, MIN_SHARE),
        Evidence("bytes_copied", worst["bytes"], "bytes/iteration"),
        Evidence("copies", worst["copies"], "copies/iteration"),
        Evidence("rate", _rate(worst), "GB/s"),
        share_evidence("bytes_in_pageable_memory", _pageable(worst), None),
        share_evidence("copy_time_inside_its_call", _blocked(worst), None),
    ]


def _memory_and_call(worst: dict[str, Any]) -> str:
    text = ""
    if _pageable(worst) >= MOSTLY:
        text += "The host memory is pageable: the driver stages it through a pinned buffer. "
    if _blocked(worst) >= MOSTLY:
        text += "The call returns only when the copy is done, so that nothing else is launched."
    return text.strip()


def _rate(row: dict[str, Any]) -> float:
    """Bytes a nanosecond are gigabytes a second."""
    return float(row["bytes"] / row["copy_ns"]) if row["copy_ns"] else 0.0


def _pageable(row: dict[str, Any]) -> float:
    return float(row["pageable_bytes"] / row["bytes"]) if row["bytes"] else 0.0


def _blocked(row: dict[str, Any]) -> float:
    return float(row["blocked_ns"] / row["copy_ns"]) if row["copy_ns"] else 0.0
