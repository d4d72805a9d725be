"""Comparisons and gates as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import tracelens


@pytest.fixture(scope="module")
def nsys(shared: Path) -> Path:
    return shared / "traces" / "nsys"


def test_the_optimizer_got_faster(nsys: Path) -> None:
    done = tracelens("compare", nsys / "optloop.sqlite", nsys / "foreach.sqlite")
    told = " ".join(done.stdout.split())
    assert "The optimizer phase got faster: 73.03 -> 9.31 ms" in told
    assert "95 % sure of" in told


def test_a_run_against_itself_is_no_evidence(sample_traces: Path) -> None:
    healthy = sample_traces / "healthy.sqlite"
    done = tracelens("compare", healthy, healthy, "--fail-if-slower", "0")
    assert done.returncode == 0
    assert "No evidence of any difference." in done.stdout
    assert "faster" not in done.stdout
    assert "slower" not in done.stdout


def test_gate_trips_on_evidence_only(sample_traces: Path) -> None:
    healthy, ckpt = sample_traces / "healthy.sqlite", sample_traces / "ckpt.sqlite"
    gate = ("--fail-if-slower", "5")
    assert tracelens("compare", healthy, ckpt, *gate).returncode == 1
    assert tracelens("compare", ckpt, healthy, *gate).returncode == 0


def test_a_gate_that_cannot_judge_says_so(nsys: Path) -> None:
    sides = (nsys / "healthy.sqlite", nsys / "infer.sqlite")
    done = tracelens("compare", *sides, "--fail-if-slower", "5")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_markdown_and_json(sample_traces: Path) -> None:
    sides = (sample_traces / "healthy.sqlite", sample_traces / "ckpt.sqlite")
    assert tracelens("compare", *sides, "--format", "markdown").stdout.startswith("## healthy")
    found = json.loads(tracelens("compare", *sides, "--format", "json").stdout)
    assert found["schema"] == "tracelens-compare/1"
    assert len(found["period"]["base_values_ms"]) == found["window"]["periods"]


def test_a_baseline_forgives_what_was_there_before(sample_traces: Path, tmp_path: Path) -> None:
    starved, kept = sample_traces / "starved.sqlite", tmp_path / "main.json"
    tracelens("analyze", starved, "--format", "json", "--output", kept)
    gate = ("--fail-on", "medium", "--baseline", kept)
    same = tracelens("analyze", starved, *gate)
    assert same.returncode == 0
    assert "same: input-starved" in same.stdout
    new = tracelens("analyze", sample_traces / "optloop.sqlite", *gate, "--format", "markdown")
    assert new.returncode == 1
    assert "new: launch-bound" in new.stdout
    assert "gone: input-starved" in new.stdout
