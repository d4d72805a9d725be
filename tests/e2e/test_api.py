"""The Python API, on the sample traces."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import tracelens as tl

FRAMES = (
    "budget", "devices", "gaps", "iterations", "kernels", "operations", "phase_instances", "phases",
    "projections", "ranges",
)  # fmt: skip


@pytest.fixture(scope="module")
def starved(sample_traces: Path) -> tl.Trace:
    return tl.open(sample_traces / "starved.sqlite")


@pytest.mark.parametrize("name", FRAMES)
def test_frames_are_the_views_of_the_same_name(starved: tl.Trace, name: str) -> None:
    frame = getattr(starved, name)()
    assert isinstance(frame, pl.DataFrame)
    assert frame.height == starved.sql(f"SELECT count(*) FROM {name}").fetchall()[0][0] > 0
    assert not [c for c in frame.columns if c.endswith("device_id")]


def test_phases_agree_with_the_report(starved: tl.Trace) -> None:
    phases = {row["phase"]: row for row in starved.phases().to_dicts()}
    for told in starved.report()["phases"]:
        ours = phases[told["phase"]]
        for key in ("gpu_span_ms", "gpu_busy_ms", "cpu_ms"):
            assert ours[key] == pytest.approx(told[key]["median"], abs=1e-6)
        assert ours["instances"] == told["instances"]
        assert ours["kernels_per_instance"] == told["kernels_per_instance"]


def test_one_path_several_paths_or_a_list(sample_traces: Path) -> None:
    a, b = sample_traces / "starved.sqlite", sample_traces / "healthy.sqlite"
    assert tl.open(a).files == [a]
    assert tl.open(a, b).files == tl.open([a, b]).files == [a, b]
    with pytest.raises(tl.TracelensError, match="no file was named"):
        tl.open()


def test_two_ranks_are_two_devices(sample_traces: Path) -> None:
    both = tl.open(sample_traces / "starved.sqlite", sample_traces / "healthy.sqlite")
    assert both.devices()["device_index"].to_list() == [0, 1]
    assert both.report()["trace"]["counts"]["kernels"] == 3152 + 4728


def test_a_query_never_reads_a_variable_of_the_caller(starved: tl.Trace) -> None:
    frame_of_mine = pl.DataFrame({"a": [1]})
    with pytest.raises(tl.TracelensError, match="frame_of_mine"):
        starved.sql("SELECT * FROM frame_of_mine")
    assert frame_of_mine.height == 1


def test_names_in_strings_and_comments_build_nothing(sample_traces: Path) -> None:
    trace = tl.open(sample_traces / "starved.sqlite")
    assert trace.sql("SELECT 'kernels' AS a -- FROM operations").fetchall() == [("kernels",)]
    tables = trace.engine.connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall()
    assert tables == [(0,)]


def test_notebooks_show_the_report(starved: tl.Trace) -> None:
    assert "63.68 ms an iteration" in starved._repr_html_()
    assert "starved.sqlite" in repr(starved)


def test_the_public_names_are_there() -> None:
    assert all(hasattr(tl, name) for name in tl.__all__)
    assert set(tl.__all__) <= set(dir(tl))
