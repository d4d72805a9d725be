"""Metrics and views of the report, from rows that a reader can check by eye."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tracelens.engine import Engine


def engine(**relations: list[dict[str, Any]]) -> Engine:
    """An engine in which these relations are given, and nothing is loaded."""
    made = Engine([])
    for name, rows in relations.items():
        made.put(name, pl.DataFrame(rows, infer_schema_length=None))
    return made


def instance(phase: str, iteration: int, start: int, span: int, **more: Any) -> dict[str, Any]:
    return {
        "device_id": 0, "iteration_index": iteration, "phase": phase, "name": phase, "range_id": 1,
        "start_ns": start, "end_ns": start + span, "span_ns": span, "busy_ns": span - 1,
        "cpu_ns": 5, "ops": 3, "kernels": 2, "kernel_ns": 4_000, "method": "direct",
        "is_steady": True, **more,
    }  # fmt: skip


def labelled(phase: str, start: int, end: int, known: bool) -> dict[str, Any]:
    return {
        "device_id": 0, "iteration_index": 0, "phase": phase, "range_id": None, "start_ns": start,
        "end_ns": end, "method": "annotation", "is_known_role": known,
    }  # fmt: skip


def ratios(instances: list[dict[str, Any]], ops: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made = engine(phase_instance=instances, op_phase=ops)
    return made.frame("phase_ratio").sort("iteration_index").to_dicts()


RANGED = [labelled("other", 0, 1, True)]
"""An operation that has no part in the ratio."""


def test_ratio_sums_the_spans_of_an_iteration() -> None:
    told = ratios(
        [
            instance("forward", 0, 0, 10),
            instance("backward", 0, 10, 25),
            instance("forward", 0, 40, 10),
            instance("backward", 0, 50, 35),
            instance("forward", 1, 100, 10),
            instance("optimizer", 1, 110, 5),
        ],
        RANGED,
    )
    assert [(r["forward_ns"], r["backward_ns"], r["backward_over_forward"]) for r in told] == [
        (20, 60, 3.0)
    ]


def test_labels_of_unknown_role_before_backward_are_forward() -> None:
    ops = [
        labelled("forward", 0, 10, True),
        labelled("attention", 4, 20, False),
        labelled("backward", 20, 60, True),
        labelled("attention", 30, 50, False),
    ]
    label = {"range_id": None, "method": "annotation"}
    told = ratios(
        [instance("forward", 0, 0, 10, **label), instance("backward", 0, 20, 40, **label)], ops
    )
    assert [(r["forward_ns"], r["backward_ns"]) for r in told] == [(20, 40)]


def test_optimizer_density() -> None:
    made = engine(
        phase_instance=[
            instance("optimizer", 0, 0, 1_000_000, kernels=40, kernel_ns=80_000, busy_ns=250_000),
            instance("optimizer", 0, 2_000_000, 1_000_000, kernels=0, kernel_ns=0, busy_ns=250_000),
            instance("forward", 0, 5, 100),
        ]
    )
    (row,) = made.frame("optimizer_density").to_dicts()
    assert (row["kernels"], row["mean_kernel_us"]) == (40, 2.0)
    assert (row["kernels_per_ms"], row["busy_pct"]) == (20.0, 25.0)


WINDOWS = {0: 100, 1: 60, 2: 61, 3: 62, 4: 63, 5: 40}
"""Iterations and the lengths of their windows in ms: the first warms up, the last has no period."""


def test_budget_is_the_mean_of_the_middle_half_and_sums_to_it() -> None:
    parts = [
        {
            "device_id": 0, "iteration_index": i, "part": part, "role": role, "cause": cause,
            "ns": ns,
        }
        for i, ms in WINDOWS.items()
        for part, role, cause, ns in (
            ("compute", "forward", None, 30_000_000),
            ("idle", None, "input", (ms - 30) * 1_000_000),
        )
    ]  # fmt: skip
    windows = [
        {
            "device_id": 0, "iteration_index": i, "is_steady": i > 0,
            "period_ns": None if i == 5 else ms * 1_000_000,
        }
        for i, ms in WINDOWS.items()
    ]  # fmt: skip
    made = engine(
        budget_part=parts,
        iteration_window=windows,
        examined_iteration=[
            {"device_id": 0, "iteration_index": i, "is_lead": False} for i in WINDOWS
        ],
        device=[{"device_id": 0, "device_index": 0}],
    )
    told = made.frame("budget").to_dicts()
    assert [(p["part"], p["role"], p["cause"], p["ms"]) for p in told] == [
        ("idle", None, "input", pytest.approx(31.0)),
        ("compute", "forward", None, pytest.approx(30.0)),
    ]
    assert {p["iterations"] for p in told} == {3}
    assert sum(p["share_pct"] for p in told) == pytest.approx(100)


def test_phases_count_steady_instances_or_all_where_none_is() -> None:
    made = engine(
        phase_instance=[
            instance("forward", 0, 0, 90_000_000, is_steady=False),
            instance("forward", 1, 100, 10_000_000),
            instance("forward", 2, 200, 12_000_000, name="fwd"),
            instance("evaluation", 2, 300, 7_000_000, is_steady=False),
        ],
        device=[{"device_id": 0, "device_index": 0}],
    )
    told = made.frame("phases").to_dicts()
    assert [(p["phase"], p["instances"], p["counted"], p["gpu_span_ms"]) for p in told] == [
        ("forward", 3, 2, 11.0),
        ("evaluation", 1, 1, 7.0),
    ]
    assert told[0]["names"] == ["forward", "fwd"]
    assert told[0]["mean_kernel_us"] == 2.0


def test_phase_budget_divides_the_time_of_each_phase() -> None:
    ops = [
        {"op_id": n, "name_id": n, "phase": phase, "start_ns": 0, "end_ns": ns}
        for n, (phase, ns) in enumerate([("forward", 60), ("forward", 30), ("data", 40)])
    ]
    kinds = ["compute", "communication", "copy"]
    made = engine(
        budget_part=[
            {"device_id": 0, "iteration_index": 1, "part": "compute", "role": "forward", "ns": 60}
        ],
        idle_cause=[
            {"device_id": 0, "iteration_index": 1, "role": role, "cause": cause, "idle_ns": ns}
            for role, cause, ns in (("forward", "launch", 7), ("data", "input", 90))
        ],
        iteration_window=[{"device_id": 0, "iteration_index": 1, "is_steady": True}],
        examined_iteration=[{"device_id": 0, "iteration_index": 1, "is_lead": False}],
        phase_instance=[
            {
                "device_id": 0,
                "iteration_index": 1,
                "phase": phase,
                "busy_ns": busy,
                "is_steady": True,
            }
            for phase, busy in (("forward", 80), ("data", 40))
        ],
        op_phase=ops,
        op_class=[{"name_id": n, "op_class": kind} for n, kind in enumerate(kinds)],
    )
    told = {row.pop("phase"): tuple(row.values()) for row in made.frame("phase_budget").to_dicts()}
    assert told == {"forward": (60, 20, 0, 7, 0), "data": (0, 0, 40, 0, 90)}
