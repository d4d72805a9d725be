"""device-to-device-copies: the GPU spends time copying its own memory.

The finding: copies within the device take a noticeable part of the iteration.

The cause: ``.contiguous()``, ``.clone()``, ``torch.cat`` of what could be written in place, slices
assigned one by one, a key-value cache that grows by copying, channels-last conversions back and
forth.

The cure: write into preallocated memory, keep one memory layout throughout.

Not this finding: copies that kernels make (``copy_`` with a cast or other strides is a kernel),
and copies between GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules._shared import (
    NOISE_SHARE,
    first_row,
    ms,
    share_evidence,
    size,
    steady_state,
    without_iterations,
)

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "device-to-device-copies"
READS = ("steady_period", "device_to_device_copies")
MIN_SHARE = NOISE_SHARE

not_checked = without_iterations


def check(frames: Frames) -> Iterator[Diagnosis]:
    """Number, bytes and time of the copies in an iteration."""
    steady, seen = steady_state(frames), first_row(frames, "device_to_device_copies")
    if steady is None or seen is None:
        return
    copy_ms = ms(seen["copy_ns"])
    if steady.share(copy_ms) < MIN_SHARE:
        return
    place = seen["range_name"]
    yield Diagnosis(
        id=ID,
        severity="info",
        title=f"{seen['copies']:,.0f} copies within the GPU move {size(seen['bytes'])} and take "
        f"{copy_ms:.1f} ms an iteration",
        evidence=[
            Evidence("copy_time", copy_ms, "ms/iteration"),
            share_evidence("share_of_period", steady.share(copy_ms), MIN_SHARE),
            Evidence("copies", seen["copies"], "copies/iteration"),
            Evidence("bytes_copied", seen["bytes"], "bytes/iteration"),
        ],
        where=steady.where(ranges=[place] if place else []),
        explanation="Each byte is read and written once more and nothing is computed. The copies "
        "share the memory's bandwidth with the kernels beside them.",
        hypothesis="Tensors are cloned, made contiguous, or concatenated where they could be "
        "written in place.",
        next_steps=[
            "Measure: record with ranges around the layers, and see which of them the copies come "
            "from.",
            "Preallocate and write with out= or copy_ into slices; avoid .contiguous() and "
            ".clone(); keep channels_last from end to end.",
        ],
        caveats=["Some of these copies may run beside kernels and cost less than they take."],
    )
