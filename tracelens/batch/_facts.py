"""From a report to the rows of an archive: plain data in, plain data out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from tracelens.report import Report

Rows: TypeAlias = list[dict[str, Any]]
LOUD = ("high", "medium")


def facts(report: Report) -> dict[str, Rows]:
    """Rows by table, without the keys of the run; ``runs`` has what a report tells of it."""
    return {
        "runs": [_run(report)],
        "iterations": [
            {"iteration": row["index"], **{k: row[k] for k in _ITERATION}}
            for row in report["iterations"]["rows"]
        ],
        "phases": [_phase(phase) for phase in report["phases"]],
        "findings": [
            *map(_finding, report["diagnoses"]),
            *map(_warning, report["coverage"]["warnings"]),
        ],
        "budget": [
            {"device": budget["device"], **_part(part, budget["total_ms"])}
            for budget in report["budget"]
            for part in budget["parts"]
        ],
    }


_ITERATION = ("device", "name", "start_ms", "period_ms", "gap_ms", "is_steady")


def _run(report: Report) -> dict[str, Any]:
    trace, iterations = report["trace"], report["iterations"]
    loud = [d for d in report["diagnoses"] if d["severity"] in LOUD]
    return {
        "format": trace["format"],
        "producer": trace["producer"],
        "gpus": [device["name"] for device in trace["devices"]],
        "span_ms": trace["span_ms"],
        "kernels": trace["counts"]["kernels"],
        "iterations": iterations["count"],
        "iteration_method": iterations["method"],
        "confidence": iterations["confidence"],
        **_periods(iterations),
        "samples_per_second": (report["throughput"] or {}).get("samples_per_second"),
        "idle_share": _share(report["budget"], "idle"),
        "exposed_share": _share(report["budget"], "communication"),
        "backward_over_forward": report["ratios"]["backward_over_forward"],
        "findings": len(loud),
        "top_finding": loud[0]["id"] if loud else None,
        "recoverable_ms": loud[0]["recoverable_ms"] if loud else None,
        "warnings": [w["code"] for w in report["coverage"]["warnings"]],
    }


def _periods(iterations: Mapping[str, Any]) -> dict[str, Any]:
    steady = [
        row["period_ms"]
        for row in iterations["rows"]
        if row["is_steady"] and row["period_ms"] is not None
    ]
    of = iterations["period_ms"]
    return {
        "steady_periods": of["n"],
        "period_ms": of["median"],
        "period_p10_ms": of["p10"],
        "period_p90_ms": of["p90"],
        "period_mean_ms": sum(steady) / len(steady) if steady else None,
    }


def _share(budgets: Iterable[Mapping[str, Any]], part: str) -> float | None:
    """The share of a part in the iterations of all devices; None where there is no budget."""
    known = [b for b in budgets if b["iterations"] and b["total_ms"]]
    total_ms = sum(b["total_ms"] for b in known)
    if not total_ms:
        return None
    of_part = sum(p["ms"] for b in known for p in b["parts"] if p["part"] == part)
    return float(of_part / total_ms)


def _phase(phase: Mapping[str, Any]) -> dict[str, Any]:
    span = phase["gpu_span_ms"]
    return {
        "phase": phase["phase"],
        "instances": phase["instances"],
        "gpu_span_ms": span["median"],
        "gpu_span_p10_ms": span["p10"],
        "gpu_span_p90_ms": span["p90"],
        "gpu_busy_ms": phase["gpu_busy_ms"]["median"],
        "cpu_ms": phase["cpu_ms"]["median"],
        "kernels": phase["kernels_per_instance"],
        "mean_kernel_us": phase["mean_kernel_us"],
        "verdict": phase["verdict"],
    }


def _finding(diagnosis: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": "finding",
        "finding": diagnosis["id"],
        **{k: diagnosis[k] for k in ("severity", "title", "recoverable_ms", "share_of_period")},
        "device": diagnosis["where"].get("device"),
        "evidence": json.dumps(diagnosis["evidence"]),
    }


def _warning(warning: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": "warning",
        "finding": warning["code"],
        "severity": warning["severity"],
        "title": warning["message"],
    }


def _part(part: Mapping[str, Any], total_ms: float) -> dict[str, Any]:
    share = part["ms"] / total_ms if total_ms else None
    return {k: part.get(k) for k in ("part", "role", "cause", "ms")} | {"share": share}
