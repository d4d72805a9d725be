"""The report's numbers, from frames that a reader can check by eye (tests/runs.py)."""

from __future__ import annotations

import math
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import frames, report

from tracelens.diagnosis import Findings
from tracelens.options import Options
from tracelens.report import READS
from tracelens.stats import stats


def test_stats_of_four_values() -> None:
    assert stats([4.0, 1.0, 2.0, 3.0]) == {
        "median": 2.5, "min": 1.0, "max": 4.0, "p10": 1.3, "p90": 3.7, "stdev": 1.290994, "n": 4,
    }  # fmt: skip


def test_stats_of_one_value_have_no_deviation() -> None:
    assert stats([7.0])["stdev"] is None
    assert stats([7.0])["p90"] == 7.0


@pytest.mark.parametrize("values", [[], [None], [math.nan, math.inf]])
def test_stats_of_nothing_are_unknown_and_not_zero(values: list[float | None]) -> None:
    told = stats(values)
    assert told.pop("n") == 0
    assert set(told.values()) == {None}


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True) | st.none(), max_size=20))
def test_stats_are_ordered_and_finite(values: list[float | None]) -> None:
    told = stats(v for v in values if v is None or not abs(v) > 1e100)
    if told["n"]:
        order = [told[k] for k in ("min", "p10", "median", "p90", "max")]
        assert all(v is not None and math.isfinite(v) for v in order)
        assert all(a <= b + 1e-6 * max(1, abs(b)) for a, b in pairwise(order))


def test_keys_are_the_contract() -> None:
    told = report()
    assert set(told) >= {
        "schema", "tool", "trace", "coverage", "iterations", "phases", "ratios", "optimizer",
        "budget", "diagnoses", "not_checked",
    }  # fmt: skip
    assert told["schema"] == "tracelens/1"
    assert set(told["trace"]["counts"]) == {
        "kernels", "memcpys", "memsets", "graph_launches", "api_calls", "ranges", "marks",
    }  # fmt: skip
    assert set(told["coverage"]["attribution"]) == {
        "direct", "cross_thread", "graph", "annotation", "none",
    }  # fmt: skip


def test_iterations_count_all_and_measure_the_steady() -> None:
    told = report()["iterations"]
    assert (told["count"], told["method"], told["steady"]) == (4, "numbered ranges", [1, 3])
    assert (told["period_ms"]["median"], told["period_ms"]["n"]) == (61.0, 2)
    assert told["gap_ms"]["median"] == 25.0
    assert told["rows"][3]["period_ms"] is None


def test_phases_are_medians_over_steady_instances() -> None:
    told = {p["phase"]: p for p in report()["phases"]}
    assert list(told) == ["backward", "forward", "optimizer"]
    assert told["forward"]["gpu_span_ms"]["median"] == 13.0
    assert told["forward"]["gpu_span_ms"]["n"] == 3
    assert told["forward"]["instances"] == 4
    assert told["optimizer"]["names"] == ["optim"]
    assert told["backward"]["attribution"] == {"cross_thread": 4 * 151}


def test_where_nothing_is_steady_all_instances_count() -> None:
    given = frames()
    given["phase_instances"] = given["phase_instances"].with_columns(is_steady=pl.lit(False))
    told = {p["phase"]: p for p in report(given)["phases"]}
    assert told["forward"]["gpu_span_ms"]["n"] == 4


def test_ratio_and_optimizer_are_medians_over_steady_iterations() -> None:
    told = report()
    assert told["ratios"]["backward_over_forward"] == pytest.approx(25 / 13, abs=1e-6)
    assert told["optimizer"] == {
        "kernels_per_iteration": 18.0, "mean_kernel_us": 150.0, "kernels_per_ms": 6.0,
        "busy_pct": 98.0,
    }  # fmt: skip


def test_a_rank_alone_has_no_peers_to_be_held_against() -> None:
    assert report()["ranks"] == []


def test_ranks_are_told_side_by_side() -> None:
    given = frames()
    other = pl.lit(1, pl.Int64)
    late = given["ranks"].with_columns(
        device_index=other, rank=other, lost_ms=pl.lit(9.5), clock_residual_us=pl.lit(1.4)
    )
    given["ranks"] = pl.concat([given["ranks"], late], how="vertical_relaxed")
    first, second = report(given)["ranks"]
    assert (first["device"], first["lost_ms"]) == (0, None)
    assert (second["rank"], second["lost_ms"]) == (1, 9.5)
    assert second["clock"] == {"offset_ms": 0.0, "residual_us": 1.4, "method": "reference"}


def test_parts_of_the_budget_sum_to_its_total() -> None:
    (budget,) = report()["budget"]
    assert sum(p["ms"] for p in budget["parts"]) == budget["total_ms"] == 61.25
    assert budget["parts"][1] == {"part": "idle", "cause": "input", "ms": 22.5}


def test_an_empty_trace_gives_a_whole_report() -> None:
    given = {name: frame.clear() for name, frame in frames().items()}
    given["trace_count"] = frames()["trace_count"].with_columns(
        start_ns=pl.lit(None, pl.Int64), end_ns=pl.lit(None, pl.Int64)
    )
    given["attribution_count"] = frames()["attribution_count"]
    told = report(given, Findings())
    assert told["optimizer"] is None
    assert told["ratios"] == {"backward_over_forward": None}
    assert told["iterations"]["steady"] is None
    assert told["trace"]["span_ms"] == 0.0


def test_samples_a_second() -> None:
    told = report(options=Options(samples_per_iteration=61.0))
    assert told["throughput"] == {"samples_per_iteration": 61.0, "samples_per_second": 1000.0}
    assert report()["throughput"] is None


def test_the_run_by_hand_has_all_that_a_report_reads() -> None:
    assert set(frames()) == set(READS)


def test_a_device_without_work_in_iterations_has_a_budget_that_is_unknown() -> None:
    given = frames()
    given["budget"] = given["budget"].clear()
    assert report(given)["budget"] == [
        {
            "device": 0,
            "total_ms": 60.0,
            "iterations": 0,
            "parts": [
                {"part": "unknown", "cause": "no GPU work was recorded in iterations", "ms": 60.0}
            ],
        }
    ]
    given["iteration"] = given["iteration"].head(2)
    assert report(given)["budget"] == []


def test_kernels_are_summed_over_devices() -> None:
    given = frames()
    other = given["kernels"].with_columns(instances=pl.lit(100, pl.Int64), total_ms=pl.lit(30.0))
    given["kernels"] = pl.concat([given["kernels"], other])
    (told,) = report(given)["kernels"]
    assert (told["instances"], told["total_ms"], told["mean_us"]) == (300, 150.0, 500.0)
    assert told["share_pct"] == 100.0


def test_the_verdict_on_a_phase_is_what_takes_most_of_its_time() -> None:
    told = {p["phase"]: p["verdict"] for p in report()["phases"]}
    assert told == {
        "backward": "compute-bound", "forward": "compute-bound", "optimizer": "launch-bound",
    }  # fmt: skip
    given = frames()
    given["phase_budget"] = given["phase_budget"].clear()
    assert {p["verdict"] for p in report(given)["phases"]} == {None}


def test_operators_and_memory_are_those_of_the_views() -> None:
    told = report()
    assert told["operators"][0]["name"] == "aten::mm"
    assert told["operators"][0]["self_gpu_ms"] == 120.0
    assert told["memory"][0]["device"] == 0
    assert told["memory"][0]["growth_mb_per_iteration"] == 1.5
