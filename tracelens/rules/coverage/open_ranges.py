"""open-ranges: ranges that were never closed within the recording.

What is lacking: their end is not known. It is shown as the end of the capture and left out of
medians; the phases after it may be nested in it by mistake.

The cause: a push without a pop (an exception, an early return), a range that outlived the capture,
or a process that was killed.

The cure: ``with torch.cuda.nvtx.range(...)`` instead of push and pop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import CoverageWarning

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "open-ranges"
READS = ("coverage_ranges",)


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """User ranges that end with the capture."""
    rows = [row for row in frames["coverage_ranges"].to_dicts() if row["open_ranges"]]
    count = sum(row["open_ranges"] for row in rows)
    if not count:
        return
    named = f"'{rows[0]['open_name']}'" + (f" and {count - 1} more" if count > 1 else "")
    yield CoverageWarning(
        ID,
        "low",
        f"{count} {'range was' if count == 1 else 'ranges were'} never closed ({named}): the end "
        "is not known.",
        "Use with torch.cuda.nvtx.range('name'), which closes on exceptions too, and stop the "
        "capture outside of ranges.",
    )
