"""What most rules need: the steady state, what a fix is worth, and where it was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracelens.diagnosis import Evidence, Severity, severity_of

if TYPE_CHECKING:
    from tracelens.rules import Frames

NOISE_SHARE = 0.01
"""Less than this share of the period is lost in the scatter of clocks and of the host's scheduler:
it is not told at all."""
TRUSTED_REPLAY_ERROR = 0.03
"""A replay that misses the measured period by more has missed a dependency: what it promises is
an upper bound."""
WORTH_READS = ("steady_period", "what_if", "replay_check")
"""What :func:`worth` and :func:`steady_state` read."""


@dataclass(frozen=True)
class Steady:
    """The steady iterations of one device."""

    device: int
    rank: int | None
    first: int
    last: int
    iterations: int
    median_period_ms: float
    mean_period_ms: float

    def where(self, **more: Any) -> dict[str, Any]:
        """``where`` of a diagnosis on this device, without the keys that are unknown."""
        place = {
            "device": self.device,
            "rank": self.rank,
            "iterations": [self.first, self.last],
            **more,
        }
        return {key: value for key, value in place.items() if value not in (None, [], "")}

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
        iterations=row["steady_iterations"],
        median_period_ms=row["median_period_ns"] / 1e6,
        mean_period_ms=row["mean_period_ns"] / 1e6,
    )


def without_iterations(frames: Frames) -> str | None:
    """The reason that bars every finding about the steady state where no iterations were found."""
    if steady_state(frames) is None:
        return "no steady iterations were found, so there is no period to compare with"
    return None


def worth(
    frames: Frames, steady: Steady, scenario: str, measured_ms: float, own_share: float = 1.0
) -> Worth:
    """What the replay says of a scenario, never more than the period.

    ``measured_ms`` is the time that the cause was seen to take: the upper bound that stands in
    where nothing was replayed. ``own_share`` is the part of the cause that is this finding's where
    another finding owns the rest.
    """
    replayed = first_row(frames, "what_if", scenario=scenario)
    check = first_row(frames, "replay_check")
    caveats = []
    if replayed is None:
        ms = measured_ms
        caveats.append("The worth is the time measured, an upper bound: no replay was possible.")
    else:
        ms = max(replayed["recoverable_ns"], 0) / 1e6 * own_share
        if check is not None and abs(check["error_share"]) > TRUSTED_REPLAY_ERROR:
            error = abs(check["error_share"])
            caveats.append(
                f"The worth is an upper bound: the replay misses the measured period by "
                f"{error:.1%}."
            )
        elif replayed["is_upper_bound"]:
            caveats.append("The worth is an upper bound.")
    ms = min(ms, steady.median_period_ms)
    return Worth(ms, steady.share(ms), tuple(caveats))


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
