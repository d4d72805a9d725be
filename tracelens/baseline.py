"""A run held against the JSON report of an earlier one: which findings are new, or worse."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tracelens.diagnosis import MEDIUM_SHARE, SEVERITIES
from tracelens.errors import TracelensError
from tracelens.report import SCHEMA, Report
from tracelens.stats import number

REGRESSIONS = ("new", "worse")
_ORDER = {"new": 0, "worse": 1, "same": 2, "better": 3, "gone": 4}
Found = Mapping[str, Any]


def read(path: Path) -> Report:
    """The report in a file. Raises TracelensError where it holds none that can be compared."""
    hint = f"make one with: tracelens analyze RUN --format json --output {path}"
    try:
        report = json.loads(path.read_bytes())
    except OSError as error:
        raise TracelensError(f"{path} cannot be read ({error.strerror})", hint=hint) from None
    except ValueError:
        raise TracelensError(f"{path} is no JSON report", hint=hint) from None
    if not isinstance(report, dict) or report.get("schema") != SCHEMA:
        raise TracelensError(f"{path} is no report of schema {SCHEMA}", hint=hint)
    if not {"diagnoses", "iterations", "trace"} <= set(report):
        raise TracelensError(f"{path} is a report that was cut short", hint=hint)
    return report


def changes(report: Report, baseline: Report, name: str) -> dict[str, Any]:
    """What became of each finding since the baseline, regressions first.

    A finding is worse where its severity rose, or its worth by 3 % of the period or more: what
    shows above the noise of clocks and schedulers. Better is the reverse.
    """
    now, then = _worst(report["diagnoses"]), _worst(baseline["diagnoses"])
    found = [_change(id, now.get(id), then.get(id)) for id in dict.fromkeys([*now, *then])]
    return {
        "file": name,
        "files": list(baseline["trace"]["files"]),
        "period_ms": baseline["iterations"]["period_ms"]["median"],
        "findings": sorted(found, key=lambda row: _ORDER[row["change"]]),
    }


def regressed(report: Report) -> list[dict[str, Any]]:
    """The diagnoses of a report with a baseline that are new in it, or worse."""
    worse = {r["id"] for r in report["baseline"]["findings"] if r["change"] in REGRESSIONS}
    return [d for d in report["diagnoses"] if d["id"] in worse]


def _worst(diagnoses: Iterable[Found]) -> dict[str, Found]:
    """For each finding the most urgent place that shows it: reports list these first."""
    worst: dict[str, Found] = {}
    for diagnosis in diagnoses:
        worst.setdefault(diagnosis["id"], diagnosis)
    return worst


def _change(id: str, now: Found | None, then: Found | None) -> dict[str, Any]:
    return {
        "id": id,
        "change": _verdict(now, then),
        **{key: None if now is None else now[key] for key in ("severity", "recoverable_ms")},
        "baseline_severity": None if then is None else then["severity"],
        "baseline_recoverable_ms": None if then is None else number(then["recoverable_ms"]),
    }


def _verdict(now: Found | None, then: Found | None) -> str:
    if then is None:
        return "new"
    if now is None:
        return "gone"
    urgency = SEVERITIES.index(then["severity"]) - SEVERITIES.index(now["severity"])
    grown = (now["share_of_period"] or 0.0) - (then["share_of_period"] or 0.0)
    if urgency > 0 or (urgency == 0 and grown >= MEDIUM_SHARE):
        return "worse"
    return "better" if urgency < 0 or grown <= -MEDIUM_SHARE else "same"
