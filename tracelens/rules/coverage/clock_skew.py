"""clock-skew: what the GPU did and what the host did cannot have happened at the times recorded.

What is bent: the clocks of host and GPU were not matched. Busy times, periods and kernels hold;
all that compares host and GPU, the causes of idle time above all, cannot be known.

What shows it: operations that start before their own launch; waits for the GPU that return before
the work launched ahead of them has ended; or no operation at all that starts soon after its launch,
though a queue holds only so many.

The cause: the profiler's clock synchronisation failed, or files of several machines were merged.

The cure: record again; a current driver and profiler; one file for each machine.

Not this warning: operations that start long after their launches. A backlog of seconds is a deep
queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tracelens.diagnosis import CoverageWarning
from tracelens.rules._shared import ms, rows

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "clock-skew"
READS = ("clock_skew", "process")


def check(frames: Frames) -> Iterator[CoverageWarning]:
    """Processes whose GPU clock is off, the surest sign of each."""
    for skewed in rows(frames, "clock_skew", is_skewed=True):
        named = rows(frames, "process", process_id=skewed["process_id"])
        of = f" in process {named[0]['pid']}" if named else ""
        yield CoverageWarning(
            ID,
            "high",
            f"{_sign(skewed)}{of}: the clocks of host and GPU disagree.",
            "Record again with a current driver and profiler, one file for each machine; until "
            "then believe no cause of idle time. Periods, spans and busy times hold.",
        )


def _sign(skewed: Mapping[str, Any]) -> str:
    if skewed["early_ops"]:
        return (
            f"{skewed['early_ops']:,} of {skewed['linked_ops']:,} GPU operations start before "
            f"their launch, half of them by {_time(skewed['early_ns'])} or more"
        )
    if skewed["broken_waits"]:
        return (
            f"{skewed['broken_waits']:,} of {skewed['waits']:,} waits for the GPU return before "
            f"the work launched ahead of them has ended, by {_time(skewed['broken_ns'])}"
        )
    return (
        f"No GPU operation starts sooner than {_time(skewed['least_delay_ns'])} after its launch, "
        f"though the queue holds work for {_time(skewed['deepest_ns'])} at most"
    )


def _time(ns: int) -> str:
    return f"{ms(ns) / 1e3:,.4g} s" if ns >= 1_000_000_000 else f"{ms(ns):.3g} ms"
