"""Worths on real recordings, against recordings of the same program without the fault."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tracelens.engine import Engine
from tracelens.loaders import open_source

# what the same program gained without its fault: (recording, finding, ms an iteration, tolerance)
SHIPPED = [("starved", "input-starved", 25.6, 0.1)]
SHARED = [
    ("fat_h2d", "transfer-bound", 34.0, 0.1),
    ("allocthrash", "allocator-churn", 13.8, 0.2),
    ("smalldtod", "repeated-small-copies", 3.3, 0.35),
    ("hostsync", "host-sync", 2.15, 0.5),
]


def worths(path: Path) -> tuple[dict[str, float], float, float]:
    """Worths in ms, the period in ms, and the replay's error."""
    engine = Engine([open_source(path)])
    check = engine.frame("replay_check").row(0, named=True)
    rows = engine.frame("what_if").select("scenario", pl.col("recoverable_ns") / 1e6)
    return dict(rows.iter_rows()), check["measured_period_ns"] / 1e6, check["error_share"]


def check_worth(path: Path, finding: str, gained_ms: float, tolerance: float) -> None:
    gains, period_ms, error = worths(path)
    assert error < 0.03
    assert gains.pop(finding) == pytest.approx(gained_ms, rel=tolerance)
    # the planted fault is the only one
    assert all(gain < 0.03 * period_ms for gain in gains.values()), gains


@pytest.mark.parametrize(("name", "finding", "gained_ms", "tolerance"), SHIPPED)
def test_worth_of_a_shipped_recording(sample_traces, name, finding, gained_ms, tolerance):
    check_worth(sample_traces / f"{name}.sqlite", finding, gained_ms, tolerance)


@pytest.mark.parametrize(("name", "finding", "gained_ms", "tolerance"), SHARED)
def test_worth_of_a_shared_recording(shared, name, finding, gained_ms, tolerance):
    check_worth(shared / "traces" / "nsys" / f"{name}.sqlite", finding, gained_ms, tolerance)


@pytest.mark.parametrize("name", ["healthy", "ckpt"])
def test_a_healthy_recording_gains_nothing(sample_traces, name):
    gains, period_ms, error = worths(sample_traces / f"{name}.sqlite")
    assert error < 0.03
    assert all(gain < 0.03 * period_ms for gain in gains.values()), gains


def test_an_unfused_optimizer_is_told_apart_from_slow_dispatch_elsewhere(sample_traces):
    gains, period_ms, error = worths(sample_traces / "optloop.sqlite")
    assert error < 0.03
    assert gains["launch-bound"] > 0.1 * period_ms
    assert gains["optimizer-small-kernels"] > 0.1 * period_ms
    assert gains["host-stall"] < 0.03 * period_ms
    assert sum(gains.values()) <= period_ms


@pytest.mark.parametrize("name", ["healthy", "starved", "optloop", "cudagraph", "ckpt"])
def test_every_window_of_a_recording_is_spent_to_the_nanosecond(sample_traces, name):
    engine = Engine([open_source(sample_traces / f"{name}.sqlite")])
    spent = engine.frame("budget_part").group_by("iteration_index").agg(spent_ns=pl.col("ns").sum())
    windows = engine.frame("iteration_window").join(spent, on="iteration_index", how="left")
    assert (windows["end_ns"] - windows["start_ns"] == windows["spent_ns"].fill_null(0)).all()
