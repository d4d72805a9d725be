"""unattributed-operations: GPU work inside iterations that no range explains.

What is lacking: the launches of these operations lie outside all phases, on a thread that no single
phase can be named for. Budgets show them as compute without a role.

The cause: phases without a range, or launches from a thread that works for several phases at once,
such as a prefetcher.

The cure: ranges around the missing phases, on the thread that launches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import CoverageWarning

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "unattributed-operations"
READS = ("coverage_operations", "coverage_ranges")
MIN_SHARE = 0.05
"""Of the operations' time. Less does not change any phase's picture."""


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """The share of GPU time without a phase, where the program marks phases at all."""
    rows = frames["coverage_operations"].to_dicts()
    total_ns, without_ns = (
        sum(row[key] for row in rows) for key in ("iteration_ns", "unattributed_ns")
    )
    marked = sum(row["user_ranges"] for row in frames["coverage_ranges"].to_dicts())
    if not marked or not total_ns or without_ns < MIN_SHARE * total_ns:
        return
    count = sum(row["unattributed"] for row in rows)
    yield CoverageWarning(
        ID,
        "medium" if without_ns > total_ns / 2 else "low",
        f"{count:,} GPU operations of the iterations, {without_ns / total_ns:.0%} of their GPU "
        "time, were launched outside all phases.",
        "Put ranges around the phases that have none, on the thread that launches the work.",
    )
