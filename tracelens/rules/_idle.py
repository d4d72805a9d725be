"""What findings about idle time share: the part of the median iteration's that is theirs, in a
steady state, and what it is worth to be rid of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracelens.diagnosis import Evidence
from tracelens.rules._shared import (
    HOST_READS,
    NOISE_SHARE,
    Steady,
    Worth,
    first_row,
    ms,
    share_evidence,
    steady_state,
    worth,
)

if TYPE_CHECKING:
    from tracelens.rules import Frames

IDLE_READS = (*HOST_READS, "idle_by_finding")
"""What :func:`idle_of` reads, and ``without_host_side`` for those that use it."""
MIN_SHARE = NOISE_SHARE


@dataclass(frozen=True)
class Idle:
    """The idle time of the median iteration that one finding answers for."""

    steady: Steady
    row: dict[str, Any]
    """Of the relation idle_by_finding."""
    ms: float
    """Milliseconds, no more than the period."""
    worth: Worth

    @property
    def of_period(self) -> str:
        """``2.8 ms of each 40.0 ms iteration``, for titles."""
        return f"{self.ms:.1f} ms of each {self.steady.median_period_ms:.1f} ms iteration"

    @property
    def place(self) -> str | None:
        """The range that was open on the host for most of it, else the phase, if known."""
        place: str | None = self.row["open_range"] or self.row["role"]
        return place

    @property
    def longest(self) -> Evidence:
        """The idle time of the worst iteration."""
        return Evidence("longest_in_one_iteration", ms(self.row["max_ns"]), "ms")

    @property
    def in_python(self) -> str:
        """A sentence on that code, to stand behind others; empty where no stacks were recorded."""
        frame = self.row["python_frame"]
        return f" The Python frame with most of that time: {frame}." if frame else ""

    @property
    def python_frame(self) -> list[Evidence]:
        """The Python code that the host was in for most of it, where stacks were recorded."""
        frame = self.row["python_frame"]
        return [Evidence("python_frame", frame)] if frame else []

    def evidence(self, name: str) -> list[Evidence]:
        """The idle time under the name that says what it is, and its share of the period."""
        share = self.steady.share(self.ms)
        return [
            Evidence(name, self.ms, "ms/iteration"),
            share_evidence("share_of_period", share, MIN_SHARE),
        ]


def idle_of(frames: Frames, finding: str) -> Idle | None:
    """The idle time of a finding on the device in these frames, ``None`` where there is no steady
    state, or where it is noise or being rid of it is worth next to nothing."""
    steady, row = steady_state(frames), first_row(frames, "idle_by_finding", finding=finding)
    if steady is None or row is None:
        return None
    idle_ms = steady.within(ms(row["median_ns"]))
    if steady.share(idle_ms) < MIN_SHARE:
        return None
    value = worth(frames, steady, finding, idle_ms)
    return None if value is None else Idle(steady, row, idle_ms, value)
