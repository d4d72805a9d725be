"""no-iterations: no iterations were found, neither by ranges nor by a periodic sequence of kernels.

What is lacking: without iterations there is no period, no budget and no worth. Counts, busy times
and kernels are still right.

The cure: a range around each iteration with its number in the name
(``torch.cuda.nvtx.range(f"iter_{i}")``), ``--iterations REGEX`` where ranges exist under other
names, and a recording of ten iterations or more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import CoverageWarning

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "no-iterations"
READS = ("coverage_operations", "coverage_iterations")


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """GPU work, but no iteration in any process."""
    found = sum(row["iterations"] for row in frames["coverage_iterations"].to_dicts())
    operations = sum(row["operations"] for row in frames["coverage_operations"].to_dicts())
    if found or not operations:
        return
    yield CoverageWarning(
        ID,
        "medium",
        f"No iterations were found in {operations:,} GPU operations: nothing is said of periods, "
        "budgets or worths.",
        "Put a numbered range around each iteration (torch.cuda.nvtx.range(f'iter_{i}')), or name "
        "the ranges that are iterations with --iterations REGEX.",
    )
