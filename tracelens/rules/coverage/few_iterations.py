"""few-iterations: too few iterations for anything periodic to be claimed.

What is lacking: below three steady iterations a median is one iteration's value, and what is rare
cannot be told from what is usual.

The cure: record ten iterations or more after warm-up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import CoverageWarning
from tracelens.settings import Settings

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "few-iterations"
READS = ("coverage_iterations",)
MIN_ITERATIONS = Settings.min_iterations
"""The fewest of which one can be odd and the median still be a usual one."""


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """The process with the fewest steady iterations, among those with any on the GPU."""
    seen = [row for row in frames["coverage_iterations"].to_dicts() if row["on_gpu"]]
    fewest = min(seen, key=lambda row: row["steady_iterations"], default=None)
    if fewest is None or fewest["steady_iterations"] >= MIN_ITERATIONS:
        return
    yield CoverageWarning(
        ID,
        "medium",
        f"Only {fewest['on_gpu']} iterations were recorded, {fewest['steady_iterations']} of "
        "them steady: medians rest on too few, and nothing periodic is claimed.",
        "Record at least ten iterations after warm-up.",
    )
