"""One scenario, two recorders: Nsight Systems and torch.profiler must lead to the same findings."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

import tracelens as tl

SCENARIOS = ("healthy", "starved")
LOUD = ("high", "medium")
REPLAYS, NODES = 8, 382 + 65
TRUTH_NAMES = {"forward": "forward", "backward": "backward", "optimizer": "optim"}


@pytest.fixture(scope="module")
def reports(sample_traces: Path) -> dict[str, tuple[Any, Any]]:
    """For each scenario the report of the Nsight recording and that of torch.profiler's."""
    suffixes = ("sqlite", "pt.trace.json.gz")
    return {
        name: tuple(tl.open(sample_traces / f"{name}.{suffix}").report() for suffix in suffixes)
        for name in SCENARIOS
    }  # type: ignore[return-value]


@pytest.mark.parametrize("name", SCENARIOS)
def test_same_iterations(reports: dict[str, tuple[Any, Any]], name: str) -> None:
    nsys, torch = reports[name]
    assert torch["iterations"]["count"] == nsys["iterations"]["count"]
    names = [{row["name"] for row in r["iterations"]["rows"]} for r in (nsys, torch)]
    assert names[0] == names[1]


@pytest.mark.parametrize(("name", "expected"), [("healthy", []), ("starved", ["input-starved"])])
def test_same_findings(reports: dict[str, tuple[Any, Any]], name: str, expected: list[str]) -> None:
    for report in reports[name]:
        assert [d["id"] for d in report["diagnoses"] if d["severity"] in LOUD] == expected


@pytest.mark.parametrize("name", SCENARIOS)
def test_backward_over_forward_agrees(reports: dict[str, tuple[Any, Any]], name: str) -> None:
    nsys, torch = (report["ratios"]["backward_over_forward"] for report in reports[name])
    assert torch == pytest.approx(nsys, rel=0.08)


@pytest.mark.parametrize("name", SCENARIOS)
def test_phases_are_those_that_cuda_events_measured(
    reports: dict[str, tuple[Any, Any]], sample_traces: Path, name: str
) -> None:
    truth = json.loads((sample_traces / f"{name}.pt.truth.json").read_text(encoding="utf-8"))
    told = {p["phase"]: p["gpu_span_ms"]["median"] for p in reports[name][1]["phases"]}
    for role in ("backward", "optimizer"):
        measured = [p["gpu_ms"] for p in truth["phases"] if p["phase"] == TRUTH_NAMES[role]]
        assert told[role] == pytest.approx(statistics.median(measured), rel=0.02)


def test_recorded_operators_are_told(reports: dict[str, tuple[Any, Any]]) -> None:
    nsys, torch = reports["healthy"]
    codes = [{w["code"] for w in report["coverage"]["warnings"]} for report in (nsys, torch)]
    assert "recorded-operators" not in codes[0]
    assert "recorded-operators" in codes[1]


def test_all_gpu_time_is_some_operator_s(sample_traces: Path) -> None:
    trace = tl.open(sample_traces / "starved.pt.trace.json.gz")
    whole_ms = trace.kernels()["total_ms"].sum()
    assert trace.operators()["self_gpu_ms"].sum() == pytest.approx(whole_ms, rel=0.001)


@pytest.mark.shared
@pytest.mark.parametrize("graph_lanes", ["none", "all", "autograd"])
def test_annotated_graphs_have_phases(shared: Path, graph_lanes: str) -> None:
    path = shared / "traces" / "kineto" / "annotated" / f"annotated_{graph_lanes}.json.gz"
    report = tl.open(path).report()
    assert report["coverage"]["attribution"]["annotation"] == REPLAYS * NODES
    busy = {p["phase"]: p["gpu_busy_ms"]["median"] for p in report["phases"]}
    assert busy["backward"] == pytest.approx(5.0338, rel=0.01)
    assert busy["attention"] == pytest.approx(0.5654, rel=0.01)


@pytest.mark.shared
def test_display_lanes_are_no_streams(shared: Path) -> None:
    folder = shared / "traces" / "kineto" / "annotated"
    streams = [
        set(tl.open(folder / f"annotated_{lanes}.json.gz").operations()["stream_id"])
        for lanes in ("none", "all")
    ]
    assert streams[0] == streams[1]


@pytest.mark.shared
def test_graph_without_annotations_says_what_is_not_known(shared: Path) -> None:
    report = tl.open(shared / "traces" / "kineto" / "annotated" / "raw.json.gz").report()
    codes = {w["code"]: w["message"] for w in report["coverage"]["warnings"]}
    assert "unattributed-operations" in codes
    assert report["ratios"]["backward_over_forward"] is None
