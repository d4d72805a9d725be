"""The report as plain data: the contract "tracelens/1", built from frames and findings alone.

Every number of it can be asked for its SQL: the frames are relations of the same name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from tracelens._version import __version__
from tracelens.settings import Settings
from tracelens.stats import median, number, stats

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from tracelens.diagnosis import Findings
    from tracelens.options import Options

Report: TypeAlias = dict[str, Any]
Frames: TypeAlias = "Mapping[str, pl.DataFrame]"
Rows: TypeAlias = list[dict[str, Any]]

SCHEMA = "tracelens/1"
READS = (
    "attribution_count",
    "budget",
    "devices",
    "iteration",
    "iterations",
    "kernels",
    "memory_summary",
    "operators",
    "optimizer_density",
    "phase_budget",
    "phase_instances",
    "phase_ratio",
    "ranks",
    "source",
    "trace_count",
)
"""Relations that a report is made from."""
COUNTS = ("kernels", "memcpys", "memsets", "graph_launches", "api_calls", "ranges", "marks")
METHODS = ("direct", "cross_thread", "graph", "annotation")
TOP_KERNELS = 20
TOP_OPERATORS = 20
"""Names listed in a report: the rest is a query away, and rarely worth a reader's time."""
_VERDICTS = {
    "compute_ns": "compute-bound",
    "launch_ns": "launch-bound",
    "copy_ns": "transfer-bound",
    "communication_ns": "communication-bound",
    "wait_ns": "waiting",
}
_SURENESS = {"low": 1, "medium": 2, "high": 3}


def build(
    frames: Frames, files: Sequence[Path | str], findings: Findings, options: Options
) -> Report:
    """The report of one run: plain dicts, lists, strings and finite numbers; times in ms."""
    rows = {name: frames[name].to_dicts() for name in READS}
    iterations = _iterations(rows["iteration"], rows["iterations"])
    return {
        "schema": SCHEMA,
        "tool": {"version": __version__},
        "trace": _trace(files, rows["source"], rows["trace_count"], rows["devices"]),
        "coverage": _coverage(rows["attribution_count"], rows["source"], findings),
        "iterations": iterations,
        "throughput": _throughput(iterations["period_ms"], options.samples_per_iteration),
        "phases": _phases(rows["phase_instances"], rows["phase_budget"]),
        "ratios": {"backward_over_forward": _ratio(rows["phase_ratio"])},
        "optimizer": _optimizer(rows["optimizer_density"]),
        "budget": _budget(rows["budget"]) + _unknown_budget(rows),
        "kernels": _kernels(rows["kernels"]),
        "ranks": _ranks(rows["ranks"]),
        "operators": [_numbers(row) for row in rows["operators"][:TOP_OPERATORS]],
        "memory": [_memory(row) for row in rows["memory_summary"]],
        "diagnoses": [d.to_dict() for d in findings.diagnoses],
        "not_checked": [n.to_dict() for n in findings.not_checked],
        "baseline": None,
    }


def _steady(rows: Rows) -> Rows:
    """The rows of steady iterations, or all where none is."""
    return [row for row in rows if row["is_steady"]] or rows


def _trace(
    files: Sequence[Path | str], sources: Rows, counts: Rows, devices: Rows
) -> dict[str, Any]:
    total = counts[0]
    start, end = total["start_ns"], total["end_ns"]
    return {
        "files": [str(path) for path in files],
        "format": _joined(source["format"] for source in sources),
        "producer": _joined(source["producer"] for source in sources),
        "span_ms": 0.0 if start is None else number((end - start) / 1e6),
        "counts": {name: total[name] for name in COUNTS},
        "devices": [
            {
                "device": row["device_index"],
                "process": row["process_index"],
                "ordinal": row["ordinal"],
                "rank": row["rank"],
                "name": row["name"],
                "busy_ms": number(row["busy_ms"]),
                "busy_pct": number(row["busy_pct"]),
            }
            for row in devices
        ],
    }


def _joined(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, values)))


def _coverage(counts: Rows, sources: Rows, findings: Findings) -> dict[str, Any]:
    total = counts[0]
    notes = [
        {"code": code, "severity": "low", "message": message, "advice": advice}
        for source in sources
        for code, message, advice in json.loads(source["notes"])
    ]
    return {
        "attribution": {**{m: total[m] for m in METHODS}, "none": total["unattributed"]},
        "unlinked": total["unlinked"],
        "warnings": [w.to_dict() for w in findings.warnings] + notes,
    }


def _iterations(found: Rows, windows: Rows) -> dict[str, Any]:
    """Iterations as found on the host, measured on the devices."""
    of_process: dict[int, int] = {}
    for row in found:
        of_process[row["process_id"]] = of_process.get(row["process_id"], 0) + 1
    best = max(found, key=lambda row: _SURENESS.get(row["confidence"], 0), default=None)
    steady = [row for row in windows if row["is_steady"]]
    indices = [row["iteration_index"] for row in steady]
    return {
        "count": max(of_process.values(), default=0),
        "method": best["method"] if best else None,
        "confidence": best["confidence"] if best else None,
        "steady": [min(indices), max(indices)] if indices else None,
        "period_ms": stats(row["period_ms"] for row in steady),
        "gap_ms": stats(row["gap_ms"] for row in steady),
        "rows": [
            {
                "index": row["iteration_index"],
                "name": row["name"],
                "device": row["device_index"],
                "start_ms": number(row["start_ms"]),
                "period_ms": number(row["period_ms"]),
                "gap_ms": number(row["gap_ms"]),
                "is_steady": row["is_steady"],
            }
            for row in windows
        ],
    }


def _throughput(period_ms: Mapping[str, Any], samples: float | None) -> dict[str, Any] | None:
    if samples is None:
        return None
    median = period_ms["median"]
    rate = number(samples * 1e3 / median) if median else None
    return {"samples_per_iteration": samples, "samples_per_second": rate}


def _phases(instances: Rows, budgets: Rows) -> Rows:
    """One row a role over all devices, the longest first."""
    of_phase: dict[str, Rows] = {}
    for row in instances:
        of_phase.setdefault(row["phase"], []).append(row)
    verdicts = {row["phase"]: _verdict(row) for row in budgets}
    phases = [
        {**_phase(phase, rows), "verdict": verdicts.get(phase)} for phase, rows in of_phase.items()
    ]
    return sorted(phases, key=lambda p: (-(p["gpu_span_ms"]["median"] or 0.0), p["phase"]))


def _phase(phase: str, instances: Rows) -> dict[str, Any]:
    counted = _steady(instances)
    kernels = sum(row["kernels"] for row in counted)
    kernel_us = sum(row["mean_kernel_us"] * row["kernels"] for row in counted if row["kernels"])
    attribution: dict[str, int] = {}
    for row in instances:
        method = row["attribution"] or "none"
        attribution[method] = attribution.get(method, 0) + row["operations"]
    return {
        "phase": phase,
        "names": sorted({row["name"] for row in instances if row["name"] is not None}),
        "instances": len(instances),
        "gpu_span_ms": stats(row["gpu_span_ms"] for row in counted),
        "gpu_busy_ms": stats(row["gpu_busy_ms"] for row in counted),
        "cpu_ms": stats(row["cpu_ms"] for row in counted),
        "kernels_per_instance": median(row["kernels"] for row in counted),
        "mean_kernel_us": number(kernel_us / kernels) if kernels else None,
        "attribution": attribution,
    }


def _verdict(budget: Mapping[str, Any]) -> str | None:
    """What takes most of a phase's time; None where it took none in the steady state."""
    column, verdict = max(_VERDICTS.items(), key=lambda item: budget[item[0]])
    return verdict if budget[column] > 0 else None


def _ratio(ratios: Rows) -> float | None:
    return median(row["backward_over_forward"] for row in _steady(ratios))


def _optimizer(density: Rows) -> dict[str, Any] | None:
    """Medians over the steady iterations of all devices."""
    if not density:
        return None
    counted = _steady(density)
    return {
        "kernels_per_iteration": median(row["kernels"] for row in counted),
        "mean_kernel_us": median(row["mean_kernel_us"] for row in counted),
        "kernels_per_ms": median(row["kernels_per_ms"] for row in counted),
        "busy_pct": median(row["busy_pct"] for row in counted),
    }


def _budget(parts: Rows) -> Rows:
    """For each device the parts of an ordinary iteration, the longest first."""
    of_device: dict[int, Rows] = {}
    for row in parts:
        of_device.setdefault(row["device_index"], []).append(row)
    return [
        {
            "device": device,
            "total_ms": number(sum(row["ms"] for row in rows)),
            "iterations": rows[0]["iterations"],
            "parts": [_part(row) for row in rows],
        }
        for device, rows in sorted(of_device.items())
    ]


def _unknown_budget(rows: Mapping[str, Rows]) -> Rows:
    """For devices none of whose operations lie in an iteration: the host's period, all unknown."""
    told = {row["device_index"] for row in rows["budget"]}
    starts = sorted(row["start_ns"] for row in rows["iteration"])
    period_ms = median((b - a) / 1e6 for a, b in pairwise(starts))
    if len(starts) < Settings.min_iterations or period_ms is None:
        return []
    unknown = {"part": "unknown", "cause": "no GPU work was recorded in iterations"}
    return [
        {
            "device": row["device_index"],
            "total_ms": period_ms,
            "iterations": 0,
            "parts": [{**unknown, "ms": period_ms}],
        }
        for row in rows["devices"]
        if row["device_index"] not in told
    ]


def _part(row: Mapping[str, Any]) -> dict[str, Any]:
    told = {key: row[key] for key in ("part", "role", "cause") if row[key] is not None}
    return {**told, "ms": number(row["ms"])}


def _kernels(kernels: Rows) -> Rows:
    """The names with the most GPU time, over all devices."""
    whole_ms = sum(row["total_ms"] for row in kernels)
    of_name: dict[str, Rows] = {}
    for row in kernels:
        of_name.setdefault(row["name"], []).append(row)
    names = [_kernel(rows, whole_ms) for rows in of_name.values()]
    return sorted(names, key=lambda k: -k["total_ms"])[:TOP_KERNELS]


def _kernel(rows: Rows, whole_ms: float) -> dict[str, Any]:
    total_ms = sum(row["total_ms"] for row in rows)
    instances = sum(row["instances"] for row in rows)
    return {
        "name": rows[0]["name"],
        "short_name": rows[0]["short_name"],
        "kind": rows[0]["kind"],
        "instances": instances,
        "total_ms": number(total_ms),
        "mean_us": number(total_ms * 1e3 / instances),
        "share_pct": number(100 * total_ms / whole_ms) if whole_ms else None,
    }


def _ranks(ranks: Rows) -> Rows:
    """The ranks side by side; none where there is one alone."""
    if len(ranks) < 2:
        return []
    measured = (
        "period_ms", "busy_ms", "compute_ms", "idle_ms", "exposed_ms", "wait_ms",
        "exposed_wait_ms", "lost_ms", "last_pct",
    )  # fmt: skip
    return [
        {
            "rank": row["rank"],
            "device": row["device_index"],
            "steady_iterations": row["steady_iterations"],
            **{key: number(row[key]) for key in measured},
            "clock": {
                "offset_ms": number(row["clock_offset_ms"]),
                "residual_us": number(row["clock_residual_us"]),
                "method": row["clock_method"],
            },
        }
        for row in ranks
    ]


def _memory(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"device": row["device_index"], **_numbers(row, leave="device_index")}


def _numbers(row: Mapping[str, Any], leave: str = "") -> dict[str, Any]:
    """A row with its floats made fit for a report."""
    return {k: number(v) if isinstance(v, float) else v for k, v in row.items() if k != leave}
