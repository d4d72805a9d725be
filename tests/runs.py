"""A small run by hand, as the frames that a report is made from: it waits for its input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from tracelens.diagnosis import CoverageWarning, Diagnosis, Evidence, Findings, NotChecked
from tracelens.options import Options
from tracelens.report import Report, build

FILES = [Path("run.sqlite")]


def phase(index: int, role: str | None, name: str, span: float, kernels: int) -> dict[str, Any]:
    return {
        "device_index": 0,
        "iteration_index": index,
        "phase": role or name,
        "name": name,
        "start_ms": 60.0 * index,
        "end_ms": 60.0 * index + span,
        "gpu_span_ms": span,
        "gpu_busy_ms": span - 1,
        "cpu_ms": 5.0,
        "operations": kernels + 1,
        "kernels": kernels,
        "mean_kernel_us": 10.0,
        "attribution": "cross_thread" if role == "backward" else "direct",
        "is_steady": index > 0,
    }


def frames() -> dict[str, pl.DataFrame]:
    """Four iterations of 90, 60, 62 and an unknown period; the first is warm-up."""
    periods = [90.0, 60.0, 62.0, None]
    rows: dict[str, list[dict[str, Any]]] = {
        "source": [
            {
                "source_id": 0, "format": "nsys-sqlite", "producer": "Nsight Systems 2023.4.4",
                "rank_in_name": None, "notes": "[]",
            }
        ],
        "trace_count": [
            {
                "kernels": 400, "memcpys": 4, "memsets": 0, "graph_launches": 0, "api_calls": 500,
                "ranges": 16, "marks": 0, "start_ns": 1_000_000, "end_ns": 301_000_000,
            }
        ],
        "attribution_count": [
            {
                "operations": 404, "direct": 200, "cross_thread": 200, "graph": 0, "annotation": 0,
                "unattributed": 4, "unlinked": 1,
            }
        ],
        "devices": [
            {
                "device_index": 0, "process_index": 0, "process_name": "python", "ordinal": 0,
                "rank": None, "name": "NVIDIA H200", "operations": 404, "start_ms": 1.0,
                "end_ms": 301.0, "busy_ms": 150.0, "busy_pct": 50.0,
            }
        ],
        "iteration": [
            {
                "process_id": 7, "iteration_index": i, "start_ns": 60_000_000 * i,
                "method": "numbered ranges", "confidence": "high",
            }
            for i in range(4)
        ],
        "iterations": [
            {
                "device_index": 0, "iteration_index": i, "name": f"iter_{i}", "start_ms": 60.0 * i,
                "end_ms": 60.0 * i + 36, "period_ms": period,
                "gap_ms": None if period is None else period - 36, "is_steady": i > 0,
            }
            for i, period in enumerate(periods)
        ],
        "phase_instances": [
            row
            for i in range(4)
            for row in (
                phase(i, "forward", "forward", 11.0 + i, 100),
                phase(i, "backward", "backward", 23.0 + i, 150),
                phase(i, "optimizer", "optim", 3.0, 18),
            )
        ],
        "phase_budget": [
            phase_budget("forward", compute=36, wait=3),
            phase_budget("backward", compute=72),
            phase_budget("optimizer", compute=4, launch=5),
        ],
        "phase_ratio": [
            {"iteration_index": i, "is_steady": i > 0, "backward_over_forward": (23 + i) / (11 + i)}
            for i in range(4)
        ],
        "optimizer_density": [
            {
                "iteration_index": i, "is_steady": i > 0, "kernels": 18, "mean_kernel_us": 150.0,
                "kernels_per_ms": 6.0, "busy_pct": 98.0,
            }
            for i in range(4)
        ],
        "budget": [
            budget_part("compute", "backward", None, 24.0),
            budget_part("idle", None, "input", 22.5),
            budget_part("compute", "forward", None, 11.0),
            budget_part("compute", "optimizer", None, 3.0),
            budget_part("idle", None, "launch", 0.5),
            budget_part("copy", None, None, 0.25),
        ],
        "ranks": [
            {
                "device_index": 0, "rank": None, "steady_iterations": 3, "period_ms": 61.0,
                "busy_ms": 36.0, "compute_ms": 36.0, "idle_ms": 25.0, "exposed_ms": 0.0,
                "wait_ms": None, "exposed_wait_ms": None, "lost_ms": None, "last_pct": None,
                "clock_offset_ms": 0.0, "clock_residual_us": None, "clock_method": "reference",
            }
        ],
        "kernels": [
            {
                "device_index": 0, "name": "void gemm<float>(int)", "short_name": "gemm",
                "kind": "kernel", "op_class": "compute", "instances": 200, "total_ms": 120.0,
                "mean_us": 600.0, "share_pct": 80.0,
            }
        ],
        "operators": [
            {
                "name": "aten::mm", "calls": 100, "cpu_ms": 5.25, "self_cpu_ms": 5.0,
                "gpu_ms": 120.0, "self_gpu_ms": 120.0, "operations": 200, "shapes": 3,
            }
        ],
        "memory_summary": [
            {
                "device_index": 0, "allocations": 933, "peak_mb": 1499.75,
                "peak_reserved_mb": 1556.0, "allocations_per_iteration": 311.0,
                "allocated_mb_per_iteration": 2442.5, "growth_mb_per_iteration": 1.5,
                "is_absolute": True,
            }
        ],
    }  # fmt: skip
    return {name: pl.DataFrame(given) for name, given in rows.items()}


def phase_budget(phase: str, compute: int, launch: int = 0, wait: int = 0) -> dict[str, Any]:
    return {
        "phase": phase, "compute_ns": compute, "communication_ns": 0, "copy_ns": 0,
        "launch_ns": launch, "wait_ns": wait,
    }  # fmt: skip


def budget_part(part: str, role: str | None, cause: str | None, ms: float) -> dict[str, Any]:
    return {
        "device_index": 0, "part": part, "role": role, "cause": cause, "ms": ms,
        "share_pct": ms / 61.25, "iterations": 2,
    }  # fmt: skip


FINDINGS = Findings(
    diagnoses=(
        Diagnosis(
            id="input-starved",
            severity="high",
            title="The GPU waits 22.5 ms in each iteration for the next batch",
            recoverable_ms=22.5,
            share_of_period=0.36,
            evidence=(Evidence("input_idle_ms", 22.5, "ms", 1.8),),
            where={"device": 0, "iterations": [1, 3]},
            explanation="Between two iterations the GPU is idle, and the host makes no CUDA call.",
            hypothesis="The data loader works in the main process.",
            next_steps=("Feed one batch again and again: the gap should go.", "num_workers=8"),
            caveats=("A rare stall is another finding.",),
        ),
        Diagnosis(
            id="activation-recompute",
            severity="info",
            title="Backward runs forward's kernels again",
        ),
    ),
    warnings=(
        CoverageWarning(
            "open-ranges", "low", "1 range was never closed.", "End the capture later."
        ),
    ),
    not_checked=(NotChecked("rank-straggler", "one rank only"),),
)


def report(
    given: dict[str, pl.DataFrame] | None = None,
    findings: Findings = FINDINGS,
    options: Options | None = None,
) -> Report:
    """The report of that run, or of frames in its stead."""
    return build(given or frames(), FILES, findings, options or Options())
