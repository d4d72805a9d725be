"""When tables may go: after their last reader, and never what was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from exports import Call, Kernel, make_export

import tracelens as tl
from tracelens import engine
from tracelens.lifetimes import Lifetimes
from tracelens.loaders import open_source

READS = {
    "report": ["metric", "view"],
    "metric": ["op", "view"],
    "view": ["op", "gap"],
    "gap": ["busy"],
    "busy": ["op"],
    "op": [],
}


def lifetimes(*wanted: str) -> Lifetimes:
    return Lifetimes(wanted, READS.__getitem__, lambda name: name == "view")


def test_a_table_goes_after_its_last_reader() -> None:
    lives = lifetimes("report")
    assert lives.after("busy") == (set(), set())
    assert lives.after("gap") == ({"busy"}, set())
    assert lives.after("view") == (set(), set())
    assert lives.after("metric") == (set(), set())
    assert lives.after("report") == ({"metric", "op", "gap"}, {"view"})


def test_what_was_asked_for_stays_with_the_tables_beneath_it() -> None:
    lives = lifetimes("report", "view", "busy")
    for name in ("busy", "gap", "view", "metric"):
        assert lives.after(name) == (set(), set())
    assert lives.after("report") == ({"metric"}, set())


@pytest.mark.parametrize(("small", "left"), [(0, None), (4 << 20, 4080)])
def test_a_report_in_passing_is_the_same_and_leaves_little_of_a_large_file(
    sample_traces: Path, small: int, left: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_SMALL_BYTES", small)
    path = sample_traces / "starved.sqlite"
    kept, passing = (tl.open(path, cache=False) for _ in range(2))
    assert passing.report(in_passing=True) == kept.report()
    query = "SELECT sum(estimated_size) FROM duckdb_tables() WHERE table_name = 'examined_op'"
    assert passing.engine.connection.execute(query).fetchall() == [(left,)]
    assert passing.gaps().equals(kept.gaps())


def test_what_was_read_ahead_is_not_held_nor_read_again(
    sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_SMALL_BYTES", 0)
    trace = tl.open(sample_traces / "starved.sqlite", cache=False)
    trace.engine.need(*trace.engine._stager.names)
    loads: list[object] = []
    monkeypatch.setattr(trace.engine.sources[0], "load", loads.append)
    trace.report(in_passing=True)
    assert not loads
    assert trace.engine._stager._ahead is None


def test_a_frame_is_fetched_once_for_all_steps_and_then_let_go(
    sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tl.open(sample_traces / "starved.sqlite", cache=False)
    fetched: list[str] = []
    fetch = engine._fetched

    def noted(connection: Any, query: str) -> pl.DataFrame:
        fetched.append(query)
        return fetch(connection, query)

    monkeypatch.setattr(engine, "_fetched", noted)
    trace.engine.need("replayed")
    for step in ("host_pause", "idle_cause", "replayed"):
        assert {"examined_op", "examined_call"} <= set(trace.engine.reads(step))
    assert fetched.count('SELECT * FROM "examined_op"') == 1
    assert fetched.count('SELECT * FROM "examined_call"') == 1
    assert not trace.engine._shared


def test_what_is_put_in_place_of_a_relation_is_what_steps_see(sample_traces: Path) -> None:
    held = tl.open(sample_traces / "starved.sqlite", cache=False).engine
    held._stage(["replayed"])
    before = held.frame_for_steps("examined_op", held.connection)
    assert held.frame_for_steps("examined_op", held.connection) is before
    held.put("examined_op", before.head(0))
    assert held.frame_for_steps("examined_op", held.connection).is_empty()


@pytest.mark.parametrize("threads", [1, 2])
def test_what_a_step_asked_for_is_not_built_again(tmp_path: Path, threads: int) -> None:
    # without ranges, iterations are told from the sequence of kernels, which only then is made
    calls = [Call(n * 100, n * 100 + 10, correlation=n + 1) for n in range(40)]
    kernels = [
        Kernel(n * 100 + 20, n * 100 + 60, correlation=n + 1, name=f"kernel {n % 4}")
        for n in range(40)
    ]
    path = make_export(tmp_path / "run.sqlite", calls=calls, kernels=kernels)
    held = engine.Engine([open_source(path)])
    held.connection.execute(f"SET threads = {threads}")
    held.need("iteration", "op_phase")
    assert held.frame("kernel_sequence").height == 40
    assert held.frame("op_phase").height == 40
