"""Two small runs side by side, by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from exports import Call, Kernel, Range, make_export

import tracelens as tl
from tracelens.comparison import _Sample, slower_by
from tracelens.reports import _compare

US = 1_000
WOBBLE = (0, 3, 1, 4, 2, 0, 3, 1, 4, 2)
"""Microseconds that iterations differ by, in turn."""


def run(
    path: Path, kernels: dict[str, Sequence[tuple[str, int]]], iterations: int = 8,
    gpu: str = "NVIDIA H200",
) -> Path:  # fmt: skip
    """``kernels``: for each phase its kernels (name, microseconds), back to back, 1 ms apart."""
    ranges, ops, calls = [], [], []
    at = correlation = 0
    for i in range(iterations):
        start = at
        for phase, work in kernels.items():
            begin = at
            for name, length in work:
                correlation += 1
                calls.append(Call(at + US, at + 2 * US, correlation))
                end = at + (3 + length + WOBBLE[i]) * US
                ops.append(Kernel(at + 3 * US, end, correlation, name))
                at = end + US
            ranges.append(Range(begin, at, phase))
        ranges.append(Range(start, at, f"iter_{i}"))
        at += US
    device = (
        "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, cuDevice INTEGER)",
        f"INSERT INTO TARGET_INFO_GPU VALUES (0, 0, '{gpu}', 0)",
    )
    return make_export(path, kernels=ops, calls=calls, ranges=ranges, sql=device)


TRAINING = {
    "forward": [("gemm", 300), ("relu", 100)],
    "backward": [("gemm", 800)],
    "optimizer": [("adam_one", 200), ("adam_two", 200)],
}
FUSED = TRAINING | {"optimizer": [("adam_fused", 100)]}


def compare(tmp_path: Path, base: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    return tl.compare(run(tmp_path / "base.sqlite", **base), run(tmp_path / "new.sqlite", **new))


@pytest.fixture
def fused(tmp_path: Path) -> dict[str, Any]:
    return compare(tmp_path, {"kernels": TRAINING}, {"kernels": FUSED})


def test_the_phase_that_changed_got_faster_and_the_others_did_not(fused: dict[str, Any]) -> None:
    verdicts = {p["phase"]: p["verdict"] for p in fused["phases"]}
    assert verdicts == {"optimizer": "faster", "forward": "no evidence", "backward": "no evidence"}
    optimizer = fused["phases"][0]
    # two kernels of 200 and one of 100 us; launches lie 4 us apart, iterations differ by 2
    assert optimizer["base_ms"] == pytest.approx(0.408, abs=0.005)
    assert optimizer["new_ms"] == pytest.approx(0.102, abs=0.005)
    low, high = optimizer["interval_ms"]
    assert low < optimizer["difference_ms"] < high < 0
    assert len(optimizer["base_values_ms"]) == 8


def test_the_budget_moves_by_what_the_period_does(fused: dict[str, Any]) -> None:
    moved = sum(part["difference_ms"] for part in fused["budget"]["parts"])
    assert moved == pytest.approx(fused["period"]["mean"]["difference_ms"], abs=1e-5)
    assert fused["budget"]["parts"][0]["role"] == "optimizer"
    assert fused["budget"]["parts"][0]["verdict"] == "less"


def test_what_comes_from_nothing_is_more_and_what_goes_to_nothing_less() -> None:
    none, some = [0.0] * 8, [26.0, 27.0, 26.5, 25.5, 26.2, 26.8, 27.1, 25.9]
    appeared = _Sample(none, some).measure("mean", 0, 1_000)
    assert (appeared["change_share"], appeared["verdict"]) == (None, "slower")
    assert _Sample(some, none).measure("mean", 0, 1_000)["verdict"] == "faster"
    assert _Sample(none, none).measure("mean", 0, 1_000)["verdict"] == "no evidence"


def test_kernels_that_appeared_vanished_and_changed(tmp_path: Path) -> None:
    slow = FUSED | {"backward": [("gemm", 900)]}
    found = compare(tmp_path, {"kernels": TRAINING}, {"kernels": slow})["kernels"]
    assert [k["name"] for k in found["appeared"]] == ["adam_fused"]
    assert sorted(k["name"] for k in found["vanished"]) == ["adam_one", "adam_two"]
    assert [(k["name"], k["verdict"]) for k in found["changed"]] == [("gemm", "slower")]
    assert found["changed"][0]["base_instances"] == 2


def test_a_run_against_itself_shows_nothing(tmp_path: Path) -> None:
    found = compare(tmp_path, {"kernels": TRAINING}, {"kernels": TRAINING})
    assert found["comparability"] == {"level": "full", "reasons": []}
    assert {p["verdict"] for p in found["phases"]} == {"no evidence"}
    assert "No evidence of any difference." in _compare.as_text(found)
    assert found["kernels"] == {"appeared": [], "vanished": [], "changed": []}


def test_a_difference_that_rare_iterations_make_is_told(fused: dict[str, Any]) -> None:
    period = fused["period"]
    same = {"verdict": "no evidence", "difference_ms": 0.1, "change_share": 0.001}
    rare = {"verdict": "no evidence", "difference_ms": 74.4, "change_share": 2.0}
    told = fused | {
        "period": period | {"median": period["median"] | same, "mean": period["mean"] | rare}
    }
    assert "The mean iteration differs by +74.40 ms" in _compare.as_text(told)
    assert "The mean iteration" not in _compare.as_text(fused)


def test_windows_are_equal(tmp_path: Path) -> None:
    found = compare(tmp_path, {"kernels": TRAINING}, {"kernels": TRAINING, "iterations": 10})
    assert found["window"] == {"periods": 7, "phases": 8}
    assert len(found["period"]["base_values_ms"]) == len(found["period"]["new_values_ms"]) == 7


@pytest.mark.parametrize(
    ("new", "level", "code"),
    [
        ({"kernels": TRAINING, "gpu": "NVIDIA A100"}, "none", "other-gpu"),
        ({"kernels": TRAINING, "iterations": 5}, "limited", "few-iterations"),
        ({"kernels": {"forward": [("gemm", 300)]}}, "limited", "other-phases"),
        ({"kernels": {"prefill": [("gemm", 300)]}}, "none", "other-phases"),
    ],
)
def test_it_says_how_far_runs_can_be_compared(
    new: dict[str, Any], level: str, code: str, tmp_path: Path
) -> None:
    found = compare(tmp_path, {"kernels": TRAINING}, new)
    assert found["comparability"]["level"] == level
    assert code in [reason["code"] for reason in found["comparability"]["reasons"]]


def test_too_few_iterations_are_refused(tmp_path: Path) -> None:
    with pytest.raises(tl.TracelensError, match=r"new\.sqlite has 2 steady periods"):
        compare(tmp_path, {"kernels": TRAINING}, {"kernels": TRAINING, "iterations": 3})


def test_slower_needs_evidence_and_size(fused: dict[str, Any], tmp_path: Path) -> None:
    back = tl.compare(tmp_path / "new.sqlite", tmp_path / "base.sqlite")
    assert back["period"]["median"]["change_share"] == pytest.approx(0.22, abs=0.02)
    assert slower_by(back, 0.2)
    assert not slower_by(back, 0.3)
    assert not slower_by(fused, 0.0)


@pytest.mark.parametrize("render", [_compare.as_text, _compare.as_markdown, _compare.as_json])
def test_every_form_tells_the_difference(render: Any, fused: dict[str, Any]) -> None:
    text = render(fused)
    assert "0.41" in text or "0.408" in text
    assert "adam_fused" in text.replace("\\", "")
    assert "nan" not in text.lower()


def test_json_holds_what_was_found(fused: dict[str, Any]) -> None:
    assert json.loads(_compare.as_json(fused)) == fused
