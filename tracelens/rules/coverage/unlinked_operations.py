"""unlinked-operations: GPU operations whose launch was not recorded.

What is lacking: they count as busy, but belong to no thread, so to no phase, and the cause of the
idle time before them is unknown.

The cause: an export or a capture that was cut in time, or a recording without CUDA API calls.

The cure: record with ``--trace=cuda`` including API calls, and export without filters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import CoverageWarning

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "unlinked-operations"
READS = ("coverage_operations",)
MIN_SHARE = 0.01
"""At the edges of any capture a few operations lose their launch."""


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """The share of operations without a launch."""
    total, unlinked = (
        sum(row[key] for row in frames["coverage_operations"].to_dicts())
        for key in ("operations", "unlinked")
    )
    if not total or unlinked < MIN_SHARE * total:
        return
    yield CoverageWarning(
        ID,
        "medium",
        f"{unlinked:,} of {total:,} GPU operations ({unlinked / total:.0%}) have no recorded "
        "launch: they are counted as busy, and belong to no phase.",
        "Record CUDA API calls too (--trace=cuda,nvtx), and export the whole time range.",
    )
