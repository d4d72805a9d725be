"""irregular-iterations: some iterations take far longer than the rest.

The finding: a minority of steady iterations exceeds 1.3 times the median period. The report names
them, how regularly they come, and which part of their time grew.

The cause: something that happens every N iterations or now and then: Python's garbage collector,
evaluation, a checkpoint, logging, a data-loader worker that restarts at an epoch's end, input
shapes that are new (compilation, autotuning, allocation).

The cure: depends on what was open in the excess: ``gc.disable()`` and ``gc.collect()`` at a chosen
moment, asynchronous checkpoints, persistent workers, padded shapes.

Not this finding: the first iterations (cold-start). The worth is the mean excess over the median
iteration, as a share of the mean period: medians do not see what is rare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from tracelens.diagnosis import Diagnosis, Evidence, severity_of
from tracelens.rules._shared import (
    NOISE_SHARE,
    ms,
    rows,
    share_evidence,
    steady_state,
    without_iterations,
)
from tracelens.settings import Settings

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "irregular-iterations"
READS = ("steady_period", "irregular_iterations")
LONG_FACTOR = Settings.warmup_factor
"""The bound that tells warm-up from steady state."""
MIN_PERIODS = 4
"""With fewer periods the median itself may be an odd one."""
MIN_SHARE = NOISE_SHARE


def not_checked(frames: Frames) -> str | None:
    """It takes iterations, and enough of them for a median that means something."""
    if reason := without_iterations(frames):
        return reason
    if len(_periods(frames)) < MIN_PERIODS:
        return f"fewer than {MIN_PERIODS} steady periods, too few to tell which are unusual"
    return None


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The mean excess over the median period, where some periods stand out."""
    steady, periods = steady_state(frames), _periods(frames)
    if steady is None or not periods:
        return
    typical_ms = median(ms(row["period_ns"]) for row in periods)
    mean_ms = fmean(ms(row["period_ns"]) for row in periods)
    long = [row for row in periods if ms(row["period_ns"]) > LONG_FACTOR * typical_ms]
    excess_ms = mean_ms - typical_ms
    if not long or excess_ms < MIN_SHARE * mean_ms:
        return
    worst = max(long, key=lambda row: row["period_ns"])
    worst_ms, share = ms(worst["period_ns"]), excess_ms / mean_ms
    indexes = [row["iteration_index"] for row in long]
    yield Diagnosis(
        id=ID,
        severity=severity_of(share),
        recoverable_ms=excess_ms,
        share_of_period=share,
        share_of="mean",
        title=f"{len(long)} of {len(periods)} iterations take up to {worst_ms:.0f} ms instead of "
        f"{typical_ms:.1f} ms{_rhythm(long)}",
        evidence=_evidence(long, worst, typical_ms, mean_ms),
        where=steady.where(
            iterations=[min(indexes), max(indexes)],
            long_iterations=indexes,
            ranges=sorted({row["open_range"] for row in long if row["open_range"]}),
        ),
        explanation=f"The typical iteration takes {typical_ms:.1f} ms, the mean one "
        f"{mean_ms:.1f} ms: the difference is lost in iterations "
        f"{', '.join(map(str, indexes[:8]))}{' …' if len(indexes) > 8 else ''}. In the longest, "
        f"{_grown(worst)} grew by {ms(worst['grew_ns']):.0f} ms{_what_was_open(worst)}.",
        hypothesis=_hypothesis(worst, long),
        next_steps=[
            "Confirm: put a range around what runs every N iterations (evaluation, checkpoint, "
            "logging), or run once with gc.disable() before the loop, and see which ones vanish.",
            "Python's collector: gc.freeze() after set-up, gc.disable(), and gc.collect() every "
            "few hundred iterations.",
            "Checkpoints: torch.distributed.checkpoint.async_save; data loaders: "
            "persistent_workers=True; new shapes: pad to a few sizes.",
        ],
        caveats=[
            "In a short recording a rare event weighs more, or less, than in the whole run.",
        ],
    )


def _evidence(
    long: Sequence[dict[str, Any]], worst: dict[str, Any], typical_ms: float, mean_ms: float
) -> list[Evidence]:
    share = (mean_ms - typical_ms) / mean_ms
    return [
        Evidence("median_period", typical_ms, "ms"),
        Evidence("mean_period", mean_ms, "ms"),
        Evidence("longest_period", ms(worst["period_ns"]), "ms", LONG_FACTOR * typical_ms),
        Evidence("long_iterations", len(long), "iterations"),
        share_evidence("excess_share_of_mean_period", share, MIN_SHARE),
        Evidence("what_grew", _grown(worst)),
        Evidence("growth_in_the_longest", ms(worst["grew_ns"]), "ms"),
    ]


def _periods(frames: Frames) -> list[dict[str, Any]]:
    return [row for row in rows(frames, "irregular_iterations") if row["period_ns"] is not None]


def _rhythm(long: Sequence[dict[str, Any]]) -> str:
    """How regularly the long iterations come."""
    places = [row["iteration_index"] for row in long]
    steps = {b - a for a, b in pairwise(places)}
    if len(steps) == 1 and (step := steps.pop()) > 1:
        return f", every {step}{_ORDINAL.get(step, 'th')} one"
    return ""


_ORDINAL = {2: "nd", 3: "rd"}


def _grown(row: dict[str, Any]) -> str:
    """The part of the iteration's budget that grew most, in words."""
    part, detail = row["grew_part"], row["grew_detail"]
    if part is None:
        return "its time"
    return f"{part} ({detail})" if detail else str(part)


def _what_was_open(row: dict[str, Any]) -> str:
    return f", with '{row['open_range']}' open on the host" if row["open_range"] else ""


def _hypothesis(worst: dict[str, Any], long: Sequence[dict[str, Any]]) -> str:
    if worst["grew_part"] == "idle":
        rare = "Python's garbage collector, or work that is done every N iterations"
        return f"The host was held up: {rare if _rhythm(long) else 'something that is rare'}."
    return "These iterations do more work: evaluation, other shapes, or a second pass."
