"""A whole training step as one CUDA graph: its phases are those in which it was captured."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import tracelens as tl


@pytest.fixture(scope="module")
def trace(sample_traces: Path) -> tl.Trace:
    return tl.open(sample_traces / "cudagraph.sqlite")


def test_phases_sum_to_each_replay_within_a_percent(trace: tl.Trace) -> None:
    phases = (
        trace.phase_instances()
        .group_by("iteration_index")
        .agg(pl.col("phase"), ms=pl.col("gpu_span_ms").sum())
        .drop_nulls("iteration_index")
        .sort("iteration_index")
    )
    replays = trace.projections().filter(pl.col("name").str.starts_with("iter_"))
    assert [sorted(p) for p in phases["phase"]] == [["backward", "forward", "optimizer"]] * 8
    assert phases["ms"].to_list() == pytest.approx(replays["gpu_span_ms"].to_list(), rel=0.01)


def test_launch_and_capture_are_both_told(trace: tl.Trace) -> None:
    frame = trace.graph_operations()
    assert set(frame["launched_in"]) == {f"iter_{i}" for i in range(8)}
    assert set(frame["launch_phase"]) == {None}
    places = frame.filter(~pl.col("captured_in").str.starts_with("cub::"))
    assert set(places.select("captured_in", "capture_phase").rows()) == {
        ("forward", "forward"),
        ("backward", "backward"),
        ("optim", "optimizer"),
    }
    library = frame.filter(pl.col("captured_in").str.starts_with("cub::"))
    assert set(library["capture_phase"]) == {"backward"}
    assert (library.height > 0, frame["capture_phase"].null_count()) == (True, 0)
