"""Statistics of what is known: never NaN, infinity, or zero for nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

_DIGITS = 6


def stats(values: Iterable[float | None]) -> dict[str, float | int | None]:
    """Median, extremes, deciles and spread of what is known; None where nothing is, or for the
    sample deviation of a single value. Quantiles are interpolated linearly."""
    known = sorted(v for v in values if v is not None and math.isfinite(v))
    if not known:
        return {**dict.fromkeys(("median", "min", "max", "p10", "p90", "stdev")), "n": 0}
    return {
        "median": number(_quantile(known, 0.5)),
        "min": number(known[0]),
        "max": number(known[-1]),
        "p10": number(_quantile(known, 0.1)),
        "p90": number(_quantile(known, 0.9)),
        "stdev": number(_deviation(known)) if len(known) > 1 else None,
        "n": len(known),
    }


def _deviation(known: Sequence[float]) -> float:
    mean = math.fsum(known) / len(known)
    return math.hypot(*(value - mean for value in known)) / math.sqrt(len(known) - 1)


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def number(value: float | None) -> float | None:
    """A number as JSON can hold it: rounded, and None instead of NaN or infinity."""
    if value is None or not math.isfinite(value):
        return None
    return round(value, _DIGITS)


def median(values: Iterable[float | None]) -> float | None:
    """The median of what is known, or None."""
    return stats(values)["median"]
