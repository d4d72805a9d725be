"""clock-skew: GPU operations start before their own launches.

What is bent: the clocks of host and GPU were not matched. Busy times, periods and kernels hold;
all that compares host and GPU, the causes of idle time above all, is not.

The cause: the profiler's clock synchronisation failed, or files of several machines were merged.

The cure: record again; a current driver and profiler; one file for each machine.

Not this warning: operations that start long after their launches. A backlog of seconds is a deep
queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import CoverageWarning
from tracelens.rules._shared import clocks_disagree, ms

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "clock-skew"
READS = ("coverage_operations",)


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """Devices on which operations come before their launches."""
    skewed = [row for row in frames["coverage_operations"].to_dicts() if clocks_disagree(row)]
    if not skewed:
        return
    worst = max(skewed, key=lambda row: row["earliest_ns"])
    yield CoverageWarning(
        ID,
        "high",
        f"{worst['early']:,} of {worst['operations']:,} GPU operations of device "
        f"{worst['device_index']} start before their launch, by up to "
        f"{ms(worst['earliest_ns']):.3g} ms: the clocks of host and GPU disagree.",
        "Record again with a current driver and profiler, one file for each machine; until then "
        "believe no cause of idle time.",
    )
