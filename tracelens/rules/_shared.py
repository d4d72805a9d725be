"""What most rules need: the steady state, what a fix is worth, and where it was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracelens.diagnosis import Evidence, Severity, severity_of
from tracelens.settings import Settings

if TYPE_CHECKING:
    from tracelens.rules import Frames

NOISE_SHARE = 0.01
"""Less than this share of the period is lost in the scatter of clocks and of the host's scheduler:
it is not told at all."""
SMALL_COPY_BYTES = Settings.staged_copy_bytes
"""Copies up to this size cost latency, larger ones bandwidth."""
MAX_NAME = 60
"""Characters of a kernel's name that a title has room for."""
WORTH_READS = ("steady_period", "what_if", "replay_check")
"""What :func:`worth` and :func:`steady_state` read."""
HOST_READS = (*WORTH_READS, "coverage_operations", "clock_skew")
"""What :func:`without_host_side` and :func:`worth` read."""


@dataclass(frozen=True)
class Steady:
    """The steady iterations of one device."""

    device: int
    rank: int | None
    first: int
    last: int
    span_ms: tuple[float, float]
    median_period_ms: float
    mean_period_ms: float

    def where(self, **more: Any) -> dict[str, Any]:
        """``where`` of a diagnosis on this device, without the keys that are unknown."""
        place = {
            "device": self.device,
            "rank": self.rank,
            "iterations": [self.first, self.last],
            "span_ms": self.span_ms,
            **more,
        }
        return {key: value for key, value in place.items() if value not in (None, [], "")}

    def within(self, ms: float) -> float:
        """Milliseconds, no more than the period: medians of the two may come from different
        iterations."""
        return min(ms, self.median_period_ms)

    def share(self, ms: float) -> float:
        """Milliseconds an iteration as a share of the median period."""
        return ms / self.median_period_ms if self.median_period_ms else 0.0


@dataclass(frozen=True)
class Worth:
    """What a fix would save, an iteration."""

    recoverable_ms: float
    share: float
    caveats: tuple[str, ...]

    @property
    def severity(self) -> Severity:
        """Severity by the share of the period."""
        return severity_of(self.share)

    @property
    def fields(self) -> dict[str, Any]:
        """The keywords of a diagnosis that follow from it."""
        return {
            "severity": self.severity,
            "recoverable_ms": self.recoverable_ms,
            "share_of_period": self.share,
        }


def rows(frames: Frames, name: str, **wanted: Any) -> list[dict[str, Any]]:
    """The rows of a relation whose columns have these values."""
    return [
        row for row in frames[name].to_dicts() if all(row[key] == v for key, v in wanted.items())
    ]


def first_row(frames: Frames, name: str, **wanted: Any) -> dict[str, Any] | None:
    """The first such row, or ``None``."""
    return next(iter(rows(frames, name, **wanted)), None)


def steady_state(frames: Frames) -> Steady | None:
    """The steady iterations of the device in these frames, ``None`` where there are too few."""
    row = first_row(frames, "steady_period")
    if row is None or not row["median_period_ns"]:
        return None
    return Steady(
        device=row["device_index"],
        rank=row["rank"],
        first=row["first_iteration"],
        last=row["last_iteration"],
        span_ms=(ms(row["start_ns"]), ms(row["end_ns"])),
        median_period_ms=row["median_period_ns"] / 1e6,
        mean_period_ms=row["mean_period_ns"] / 1e6,
    )


def without_iterations(frames: Frames) -> str | None:
    """The reason that bars every finding about the steady state where no iterations were found."""
    if steady_state(frames) is None:
        return "fewer than three steady iterations were found: there is no period to compare with"
    return None


def without_host_side(frames: Frames) -> str | None:
    """The reason that bars findings about idle causes: no iterations, launches, or common clock."""
    if reason := without_iterations(frames):
        return reason
    seen = first_row(frames, "coverage_operations")
    if seen and seen["operations"] and seen["unlinked"] == seen["operations"]:
        return "the launches were not recorded, so the cause of idle time cannot be known"
    if first_row(frames, "clock_skew", is_skewed=True):
        return "the clocks of host and GPU disagree, so the cause of idle time cannot be known"
    return None


def worth(frames: Frames, steady: Steady, scenario: str, measured_ms: float) -> Worth | None:
    """What the replay says of a scenario, never more than the period; ``None`` where that is noise.

    ``measured_ms`` is the time that the cause was seen to take: the upper bound that stands in
    where nothing was replayed.
    """
    replayed = first_row(frames, "what_if", scenario=scenario)
    check = first_row(frames, "replay_check")
    caveats = []
    if replayed is None:
        ms = measured_ms
        caveats.append("The worth is the time measured, an upper bound: no replay was possible.")
    else:
        ms = max(replayed["recoverable_ns"], 0) / 1e6
        if check is not None and abs(check["error_share"]) > Settings.replay_tolerance:
            error = abs(check["error_share"])
            caveats.append(
                f"The worth is an upper bound: the replay misses the measured period by "
                f"{error:.1%}."
            )
        elif replayed["is_upper_bound"]:
            caveats.append("The worth is an upper bound.")
    ms = steady.within(ms)
    share = steady.share(ms)
    return Worth(ms, share, tuple(caveats)) if share >= NOISE_SHARE else None


def share_evidence(name: str, share: float, threshold: float | None = NOISE_SHARE) -> Evidence:
    """A share of one as evidence in percent."""
    return Evidence(name, share * 100, "%", None if threshold is None else threshold * 100)


def ms(ns: float | None) -> float:
    """Nanoseconds as milliseconds; nothing as zero."""
    return (ns or 0) / 1e6


def size(count: float) -> str:
    """A number of bytes as a reader says it."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


def short_kernel_name(name: str) -> str:
    """A kernel's name without its namespaces, template and argument lists."""
    head = name.removeprefix("void ").split("(")[0].split("<")[0]
    return head.rpartition("::")[2] or name[:MAX_NAME]
