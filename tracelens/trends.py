"""How runs of one kind develop over time, and where they changed.

Runs are of one kind where their names differ in numbers only (``nightly-2026-11-01`` and
``nightly-2026-11-02``), on the same GPUs.

A change is a step, not a stray run: the median of the runs after it (three to five) lies apart from
that of the runs before it (likewise) by more than three standard deviations of single runs, and by
more than what matters: 3 % of the value, for shares three hundredths, for the worth of a finding
3 % of the period. The deviation is robust: 1.4826 times the median difference of one run from the
next, over the square root of two, which a step hardly changes; or the same from the distances to
the two medians, where that is larger.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, TypeAlias

from tracelens.diagnosis import MEDIUM_SHARE
from tracelens.errors import TracelensError
from tracelens.stats import number

if TYPE_CHECKING:
    from tracelens.archives import Archive

Rows: TypeAlias = list[dict[str, Any]]
Values: TypeAlias = Sequence[float | None]

SCHEMA = "tracelens-trends/1"
LEAST, MOST = 3, 5
"""Runs on each side of a change."""
DEVIATIONS = 3.0
_MAD_TO_DEVIATION = 1.4826
_OF_RUN = ("period_ms", "backward_over_forward", "idle_share")


@dataclass(frozen=True)
class Change:
    """A step in the values of a metric: the first run after it, and the medians around it."""

    place: int
    before: float
    after: float


def trends(archive: Archive, series: str | None = None) -> dict[str, Any]:
    """Metrics by run and date for each kind of run ("tracelens-trends/1"), the largest first.

    ``series`` is a pattern whose match, or its groups, in the name of a run says what kind it is.
    Raises TracelensError where it is no regular expression.
    """
    import polars as pl

    pattern = _compiled(series)
    runs = archive.runs.collect()
    good = runs.filter(runs["status"] == "ok").sort("recorded_at", "run", nulls_last=True)
    worths = archive.findings.filter(pl.col("recoverable_ms").is_not_null())
    worths = worths.select("run_key", name="finding", value="recoverable_ms")
    worth = _by_run(worths.collect().to_dicts())
    spans = archive.phases.select("run_key", name="phase", value="gpu_span_ms")
    span = _by_run(spans.collect().to_dicts())
    kinds: dict[tuple[str, str], Rows] = {}
    for row in good.to_dicts():
        gpus = ", ".join(sorted(name or "unknown" for name in row["gpus"]))
        kinds.setdefault((_kind(row["run"], pattern), gpus), []).append(row)
    return {
        "schema": SCHEMA,
        "runs": runs.height,
        "errors": runs.height - good.height,
        "series": [
            {
                "name": name,
                "gpus": gpus,
                "runs": [_run(row) for row in rows],
                "metrics": list(_metrics(rows, worth, span)),
            }
            for (name, gpus), rows in sorted(kinds.items(), key=lambda kind: -len(kind[1]))
        ],
    }


def changes(values: Values, least: float, share: float = 0.0) -> list[Change]:
    """The steps in a row of values, unknown ones left out; see this module for what counts.

    ``least`` is the smallest difference that matters, ``share`` the same as a share of the value.
    """
    known = [(place, value) for place, value in enumerate(values) if value is not None]
    steps = [abs(b - a) for (_, a), (_, b) in pairwise(known)]
    noise = _MAD_TO_DEVIATION * median(steps) / math.sqrt(2) if steps else 0.0
    found = []
    for at in range(LEAST, len(known) - LEAST + 1):
        before = [v for _, v in known[max(0, at - MOST) : at]]
        after = [v for _, v in known[at : at + MOST]]
        old, new = median(before), median(after)
        apart = [*(abs(v - old) for v in before), *(abs(v - new) for v in after)]
        spread = max(noise, _MAD_TO_DEVIATION * median(apart))
        needed = max(DEVIATIONS * spread, least, share * abs(old))
        if abs(new - old) > needed:
            # the split that leaves least unexplained is where the step is
            found.append((sum(apart) / abs(new - old), at, Change(known[at][0], old, new)))
    return _apart(found)


def _apart(found: Sequence[tuple[float, int, Change]]) -> list[Change]:
    """One change of each cluster: splits beside the true one seem to change something as well."""
    kept: list[tuple[int, Change]] = []
    for _, at, change in sorted(found, key=lambda item: item[:2]):
        if all(abs(at - other) >= LEAST for other, _ in kept):
            kept.append((at, change))
    return [change for _, change in sorted(kept, key=lambda item: item[0])]


def _metrics(
    rows: Rows, worth: Mapping[str, dict[str, float]], span: Mapping[str, dict[str, float]]
) -> Iterator[dict[str, Any]]:
    for metric in _OF_RUN:
        is_share = metric == "idle_share"
        values = [row[metric] for row in rows]
        yield _metric(
            metric, rows, values, *((MEDIUM_SHARE, 0.0) if is_share else (0.0, MEDIUM_SHARE))
        )
    for phase in _names(rows, span):
        values = [span.get(row["run_key"], {}).get(phase) for row in rows]
        yield _metric(f"phase {phase}", rows, values, 0.0, MEDIUM_SHARE)
    periods = [row["period_ms"] for row in rows if row["period_ms"] is not None]
    least = MEDIUM_SHARE * median(periods) if periods else 0.0
    for finding in _names(rows, worth):
        # a run without the finding has nothing to recover
        values = [worth.get(row["run_key"], {}).get(finding, 0.0) for row in rows]
        yield _metric(f"finding {finding}", rows, values, least, 0.0)


def _metric(name: str, rows: Rows, values: Values, least: float, share: float) -> dict[str, Any]:
    return {
        "metric": name,
        "values": [number(value) for value in values],
        "changes": [
            {
                "run": rows[change.place]["run"],
                "recorded_at": _iso(rows[change.place]["recorded_at"]),
                "before": number(change.before),
                "after": number(change.after),
            }
            for change in changes(values, least, share)
        ],
    }


def _names(rows: Rows, values: Mapping[str, dict[str, float]]) -> list[str]:
    return sorted(set(chain.from_iterable(values.get(row["run_key"], {}) for row in rows)))


def _by_run(rows: Rows) -> dict[str, dict[str, float]]:
    """Values by run and name; the largest where a name shows several times."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["value"] is not None:
            of_run = found.setdefault(row["run_key"], {})
            of_run[row["name"]] = max(row["value"], of_run.get(row["name"], row["value"]))
    return found


def _run(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{key: row[key] for key in ("run_key", "run", "top_finding")},
        "recorded_at": _iso(row["recorded_at"]),
    }


def _kind(run: str, pattern: re.Pattern[str] | None) -> str:
    found = None if pattern is None else pattern.search(run)
    if found is None:
        return re.sub(r"\d+", "#", run)
    return "/".join(filter(None, found.groups())) or found[0]


def _compiled(series: str | None) -> re.Pattern[str] | None:
    try:
        return None if series is None else re.compile(series)
    except re.error as error:
        raise TracelensError(
            f"the pattern {series!r} for series is no regular expression ({error})",
            hint="for example: '^[a-z]+'",
        ) from None


def _iso(time: Any) -> str | None:
    return None if time is None else str(time.isoformat())
