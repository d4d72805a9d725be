"""Two runs side by side: what got faster or slower, how sure that is, and where the time went.

Only steady iterations count, and as many of one run as of the other: the first ones of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tracelens import bootstrap
from tracelens._comparable import Side, level, reasons, shared_window
from tracelens._version import __version__
from tracelens.stats import number

if TYPE_CHECKING:
    from tracelens.trace import Trace

Comparison: TypeAlias = dict[str, Any]

SCHEMA = "tracelens-compare/1"
SMALLEST_SHARE = 0.01
"""Below this share of itself a difference says nothing: one step of a GPU's clock, 15 MHz in some
1,900, changes every kernel by nearly as much."""
_MOVED = {"faster": "less", "slower": "more", "no evidence": "no evidence"}
"""Parts of a budget shrink and grow."""
_KERNEL_RESAMPLES = 2_000
_KERNEL_SHARE = 0.0005
"""Kernels below this share of the period, in both runs, can't change what anybody notices."""


@dataclass(frozen=True)
class _Sample:
    """Values of one measure, one an iteration, in the order of time."""

    base: Sequence[float]
    new: Sequence[float]

    def measure(self, statistic: bootstrap.Statistic, seed: int, resamples: int) -> dict[str, Any]:
        found = bootstrap.difference(self.base, self.new, statistic, seed, resamples)
        share = found.value / found.base if found.base else None
        return {
            "statistic": statistic,
            "base_ms": number(found.base),
            "new_ms": number(found.new),
            "difference_ms": number(found.value),
            "change_share": number(share),
            "interval_ms": [number(found.low), number(found.high)],
            "verdict": _verdict(found, share),
        }

    def raw(self) -> dict[str, Any]:
        return {
            "base_values_ms": [number(v) for v in self.base],
            "new_values_ms": [number(v) for v in self.new],
        }


def compare(base: Trace | str | Path, new: Trace | str | Path, *, seed: int = 0) -> Comparison:
    """What differs between two runs ("tracelens-compare/1"): plain dicts, lists, finite numbers.

    Differences are NEW less BASE, in milliseconds an iteration, means over the devices of a run.
    ``seed`` fixes the resampling, so that one pair of files always gives one answer.

    Raises TracelensError where a run has too few steady iterations to say anything.
    """
    sides = (_side(base), _side(new))
    window = shared_window(*sides)
    found = reasons(*sides)
    periods = _Sample(*(s.periods(window.periods) for s in sides))
    median, mean = (
        periods.measure(statistic, seed, bootstrap.RESAMPLES) for statistic in bootstrap.STATISTICS
    )
    return {
        "schema": SCHEMA,
        "tool": {"version": __version__},
        "base": sides[0].described(),
        "new": sides[1].described(),
        "window": {"periods": window.periods, "phases": window.phases},
        "comparability": {"level": level(found), "reasons": [r.to_dict() for r in found]},
        "method": {
            "confidence": bootstrap.CONFIDENCE,
            "resamples": bootstrap.RESAMPLES,
            "seed": seed,
            "smallest_share": SMALLEST_SHARE,
        },
        "period": {"median": median, "mean": mean, **periods.raw()},
        "phases": _phases(sides, window.phases, seed),
        "budget": _budget(sides, window.periods, seed),
        "kernels": _kernels(sides, window.periods, median["base_ms"], seed),
    }


def slower_by(comparison: Comparison, share: float) -> bool:
    """Whether there is evidence that an iteration takes longer, and by this share or more.

    The median iteration counts, and the mean one: rare stalls show only in the second.
    """
    measures = (comparison["period"]["median"], comparison["period"]["mean"])
    return any(m["verdict"] == "slower" and m["change_share"] >= share for m in measures)


def _side(given: Trace | str | Path) -> Side:
    from tracelens.trace import Trace, open

    trace = given if isinstance(given, Trace) else open(given)
    return Side(trace.names, trace.engine.frames(Side.READS))


def _verdict(found: bootstrap.Difference, share: float | None) -> str:
    # what comes from nothing has no share to judge, and is no less sure for that
    is_small = share is not None and abs(share) < SMALLEST_SHARE
    if is_small or found.low <= 0 <= found.high:
        return "no evidence"
    return "slower" if found.value > 0 else "faster"


def _phases(sides: tuple[Side, Side], count: int, seed: int) -> list[dict[str, Any]]:
    """Phases of both runs by their time in an iteration, the largest difference first; then those
    that only one has."""
    base, new = (side.phases(count) for side in sides)
    rows = []
    for phase in dict.fromkeys([*base, *new]):
        if phase in base and phase in new:
            sample = _Sample(base[phase], new[phase])
            measure = sample.measure("median", seed, bootstrap.RESAMPLES)
            rows.append({"phase": phase, **measure, **sample.raw()})
        else:
            rows.append({"phase": phase, "verdict": "vanished" if phase in base else "appeared"})
    return sorted(rows, key=lambda row: -abs(row.get("difference_ms") or 0.0))


def _budget(sides: tuple[Side, Side], count: int, seed: int) -> dict[str, Any]:
    """Means over the iterations: a mean of partitions is a partition, so differences add up."""
    base, new = (side.parts(count) for side in sides)
    none = [0.0] * count
    parts = []
    for key in dict.fromkeys([*base, *new]):
        sample = _Sample(base.get(key, none), new.get(key, none))
        named = dict(zip(("part", "role", "cause"), key, strict=True))
        told = {k: v for k, v in named.items() if v is not None}
        measure = sample.measure("mean", seed, _KERNEL_RESAMPLES)
        parts.append({**told, **measure, "verdict": _MOVED[measure["verdict"]]})
    return {
        "base_ms": number(sum(row["base_ms"] for row in parts)),
        "new_ms": number(sum(row["new_ms"] for row in parts)),
        "parts": sorted(parts, key=lambda row: row["difference_ms"]),
    }


def _kernels(
    sides: tuple[Side, Side], count: int, period_ms: float, seed: int
) -> dict[str, list[dict[str, Any]]]:
    """Names that only one run has, and those whose time in an iteration changed."""
    base, new = (side.kernels(count) for side in sides)
    least_ms = _KERNEL_SHARE * period_ms
    rows: dict[str, list[dict[str, Any]]] = {"appeared": [], "vanished": [], "changed": []}
    for name in dict.fromkeys([*base, *new]):
        one, two = base.get(name), new.get(name)
        present = [kernel for kernel in (one, two) if kernel is not None]
        if max(kernel.mean_ms for kernel in present) < least_ms:
            continue
        told: dict[str, Any] = {"name": name, "short_name": present[-1].short_name}
        if one and two:
            sample = _Sample(one.values_ms, two.values_ms)
            measure = sample.measure("mean", seed, _KERNEL_RESAMPLES)
            counts = {
                "base_instances": number(one.instances),
                "new_instances": number(two.instances),
            }
            if measure["verdict"] != "no evidence":
                rows["changed"].append({**told, **counts, **measure})
        else:
            only = present[0]
            told |= {"instances": number(only.instances), "ms": number(only.mean_ms)}
            rows["vanished" if one else "appeared"].append(told)
    for kind, key in (("appeared", "ms"), ("vanished", "ms"), ("changed", "difference_ms")):
        rows[kind].sort(key=lambda row: -abs(row[key]))
    return rows
