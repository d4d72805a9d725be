"""Numbers, names and bars as people read them; shared by the renderers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tracelens.report import Report

MISSING = "-"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+")
LOUD = ("high", "medium")
_LEVELS = "▁▂▃▄▅▆▇█"
_PARTS = {"communication": "exposed communication", "copy": "exposed copies"}
_ORDER = {"compute": 0, "communication": 1, "copy": 2, "idle": 3}
_CAUSES = {
    "dependency": "other GPU work",
    "sync": "synchronising",
    "allocator": "cudaMalloc/Free",
    "launch": "slow launches",
    "input": "next batch",
    "host": "host elsewhere",
    "profiler": "profiler",
    "unknown": "cause unknown",
}


def one_line(text: object) -> str:
    """Text without control characters: nothing in a trace may steer a terminal."""
    return _CONTROL.sub(" ", "" if text is None else str(text))


def clean(text: object) -> str:
    """A name without control characters, and without space around it."""
    return one_line(text).strip()


def clipped(text: object, most: int) -> str:
    """A clean name of at most ``most`` letters, and a sign where it is cut."""
    whole = clean(text)
    return whole if len(whole) <= most else f"{whole[: most - 1]}…"


def ms(value: float | None) -> str:
    """Milliseconds: 0.0013, 2.16, 63.40, 1,240."""
    return MISSING if value is None else _digits(value)


def us(value: float | None) -> str:
    """Microseconds, in the same way."""
    return ms(value)


def count(value: float | None) -> str:
    """A count with thousands separated; medians may end in .5."""
    return MISSING if value is None else f"{value:,.1f}".removesuffix(".0")


def percent(share: float | None) -> str:
    """A share of one, in percent."""
    if share is None:
        return MISSING
    value = 100 * share
    return f"{value:.0f} %" if value >= 9.95 else f"{value:.1f} %"


def _digits(value: float) -> str:
    size = abs(value)
    places = 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 0.095 or size == 0 else 4
    return f"{value:,.{places}f}"


def share(part: float | None, whole: float | None) -> float | None:
    """``part / whole``, or None where there is none."""
    return None if part is None or not whole else part / whole


def plural(number: int, word: str) -> str:
    """``1 iteration``, ``2 iterations``."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def part_name(part: Mapping[str, Any]) -> str:
    """What a part of the budget is called: a role, or idle with what it waits for."""
    if part["part"] == "compute":
        return clean(part.get("role") or "other compute")
    if part["part"] == "idle":
        return cause_name(part.get("cause"))
    if part["part"] == "unknown":
        return f"not known: {clean(part.get('cause'))}"
    return _PARTS.get(part["part"], clean(part["part"]))


def cause_name(cause: str | None) -> str:
    """What idle time of a cause is called."""
    return f"idle: {_CAUSES.get(cause or 'unknown', clean(cause))}"


def ordered_parts(budget: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Parts with work first and idle last, the longest first in each."""
    return sorted(budget["parts"], key=lambda p: (_ORDER.get(p["part"], 4), -p["ms"]))


FEW_DEVICES = 2
"""Up to here each device has its budget told part by part; more of them share a table."""


def compared_parts(budgets: Sequence[Mapping[str, Any]], most: int) -> list[str]:
    """Names of the parts that tell devices apart: the ``most`` largest anywhere, work first."""
    size: dict[str, float] = {}
    order: dict[str, int] = {}
    for budget in budgets:
        for part in ordered_parts(budget):
            name = part_name(part)
            size[name] = max(size.get(name, 0.0), share(part["ms"], budget["total_ms"]) or 0.0)
            order.setdefault(name, _ORDER.get(part["part"], 4))
    # a part below a hundredth everywhere would only push a larger one off the page
    seen = [name for name in size if size[name] >= 0.01]
    largest = sorted(seen, key=lambda name: -size[name])[:most]
    return sorted(largest, key=lambda name: (order[name], -size[name]))


def part_shares(budget: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The share of each named part in the iteration of one device."""
    ms_of = {part_name(part): part["ms"] for part in budget["parts"]}
    return [percent(share(ms_of.get(name, 0.0), budget["total_ms"])) for name in names]


def device_name(report: Report, device: int) -> str:
    """What a device is called: its rank where it has one."""
    ranks = {d["device"]: d["rank"] for d in report["trace"]["devices"]}
    known = ranks.get(device)
    return f"GPU {device}" if known is None else f"rank {known}"


def sparkline(values: Sequence[float], width: int) -> str:
    """One block a value, from zero to the largest; the largest of a group where they are many."""
    group = -(-len(values) // width) if values else 1
    shown = [max(values[i : i + group]) for i in range(0, len(values), group)]
    top = max(shown, default=0.0)
    steps = len(_LEVELS) - 1
    return "".join(_LEVELS[round(v / top * steps) if top > 0 else 0] for v in shown)


def verdict(report: Report) -> str:
    """The report in a sentence or two."""
    if not report["trace"]["devices"]:
        return "No GPU work was recorded in this trace."
    period = report["iterations"]["period_ms"]["median"]
    loud = [d for d in report["diagnoses"] if d["severity"] in LOUD]
    if loud:
        advice = f"Fix {loud[0]['id']} first{_gain(loud[0])}."
    elif period is None:
        lack = "GPU work in its iterations" if report["iterations"]["count"] else "iterations"
        advice = f"Nothing stands out, but without {lack} hardly anything can be judged."
    elif any(w["severity"] in LOUD for w in report["coverage"]["warnings"]):
        advice = "Nothing stands out, as far as this recording can tell."
    else:
        advice = "Healthy: nothing here is worth fixing."
    return advice if period is None else f"{ms(period)} ms an iteration{_work(report)}. {advice}"


def _gain(finding: Mapping[str, Any]) -> str:
    if finding["recoverable_ms"] is None:
        return ""
    return f": worth {worth(finding)} ({percent(finding['share_of_period'])})"


def worth_and_share(finding: Mapping[str, Any]) -> str | None:
    """``worth 2.79 ms an iteration, 7.4 %``, or None for a fact that costs nothing."""
    if finding["recoverable_ms"] is None:
        return None
    return f"worth {worth(finding)}, {percent(finding['share_of_period'])}"


def worth(finding: Mapping[str, Any]) -> str:
    """What a fix saves of an iteration; of the mean one, which can be far from the median that the
    report shows, with its length."""
    gain, share_of_period = finding["recoverable_ms"], finding["share_of_period"]
    if finding["share_of"] == "mean" and share_of_period:
        return f"{ms(gain)} ms of the mean iteration's {ms(gain / share_of_period)} ms"
    return f"{ms(gain)} ms an iteration"


def _work(report: Report) -> str:
    """For how much of an iteration the GPU works, on the device that does so least."""
    worked = [
        sum(p["ms"] for p in b["parts"] if p["part"] != "idle") / b["total_ms"]
        for b in report["budget"]
        if b["iterations"] and b["total_ms"]
    ]
    return f", the GPU busy for {percent(min(worked))}" if worked else ""


def subject(report: Report) -> str:
    """What was analysed: recorder and GPUs."""
    trace = report["trace"]
    names = dict.fromkeys(clean(d["name"]) for d in trace["devices"] if d["name"])
    number = len(trace["devices"])
    gpus = ("" if number == 1 else f"{number} ") + (", ".join(names) or "GPU")
    if not number:
        gpus = "no GPU"
    return f"{clean(trace['producer'] or trace['format'])} · {gpus}"


def iteration_line(report: Report) -> str:
    """How many iterations there are, and how they were found."""
    found = report["iterations"]
    if not found["count"]:
        return "No iterations were found."
    steady = found["period_ms"]["n"]
    how = f"{clean(found['method'])}, {found['confidence']} confidence"
    return f"{plural(found['count'], 'iteration')} ({steady} steady periods; found from {how})"


def clocks(ranks: Sequence[Mapping[str, Any]]) -> str:
    """How well the clocks of the ranks were brought together."""
    methods = {row["clock"]["method"] for row in ranks}
    if methods == {"reference"}:
        return "all ranks are on one clock"
    apart = [r["clock"]["residual_us"] for r in ranks if r["clock"]["residual_us"] is not None]
    told = f"clocks aligned on collectives, which end within {us(max(apart))} µs" if apart else ""
    coarse = methods - {"reference", "collectives"}
    unaligned = (
        "clocks of some ranks are aligned only as well as their hosts' are" if coarse else ""
    )
    return "; ".join(filter(None, (told, unaligned)))


def since_baseline(report: Report) -> list[str]:
    """What changed since the baseline, a line a finding; periods first."""
    baseline = report["baseline"]
    then, now = baseline["period_ms"], report["iterations"]["period_ms"]["median"]
    files = ", ".join(clean(Path(f).name) for f in baseline["files"])
    lines = [f"period: {ms(then)} -> {ms(now)} ms, against {files}"]
    return lines + [
        f"{row['change']}: {clean(row['id'])}{_moved(row)}" for row in baseline["findings"]
    ]


def _moved(row: Mapping[str, Any]) -> str:
    told = [
        f"{clean(severity)}" + ("" if worth is None else f" {ms(worth)} ms")
        for severity, worth in (
            (row["baseline_severity"], row["baseline_recoverable_ms"]),
            (row["severity"], row["recoverable_ms"]),
        )
        if severity is not None
    ]
    return f" ({' -> '.join(told)})"
