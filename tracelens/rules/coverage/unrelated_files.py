"""unrelated-files: files that were named as ranks of one run were not recorded at the same time.

What is lacking: a common run. Each file's own figures hold; what compares ranks means nothing.

The cause: several recordings were named at once, by a pattern or a folder.

The cure: name the ranks of one run only; ``tracelens batch`` analyses an archive run by run, and
``tracelens compare`` holds two runs side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import CoverageWarning

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "unrelated-files"
READS = ("capture_distance",)
MAX_APART_NS = 10_000_000_000
"""Ranks of one run are captured at the same time; clocks that NTP keeps differ by far less."""


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """Files whose recording overlaps with that of no other."""
    rows = frames["capture_distance"].to_dicts()
    apart = [row for row in rows if row["apart_ns"] > MAX_APART_NS]
    if apart:
        nearest_s = min(row["apart_ns"] for row in apart) / 1e9
        yield CoverageWarning(
            ID,
            "high",
            f"{len(apart)} of the files were recorded {nearest_s:,.0f} s or more from any other: "
            "they are no ranks of one run.",
            "Analyse them one by one, or with tracelens batch; compare two with tracelens compare.",
        )
