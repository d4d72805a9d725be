"""Which iterations of a long capture have their idle time looked at."""

from __future__ import annotations

import polars as pl
import pytest

import tracelens as tl
from tracelens.engine import Engine
from tracelens.loaders import open_source
from tracelens.settings import Settings

OPS_AN_ITERATION = 10


def chosen(iterations: int, examined_ops: int, longest: int | None = None) -> pl.DataFrame:
    """The iterations looked at of a run of 100 ns each, one of them longer."""
    engine = Engine([], settings=Settings(examined_ops=examined_ops))
    lengths = [300 if i == longest else 100 for i in range(iterations)]
    ends = pl.Series(lengths).cum_sum()
    engine.put(
        "iteration_window",
        pl.DataFrame(
            {
                "device_id": 7,
                "iteration_index": range(iterations),
                "start_ns": ends - pl.Series(lengths),
                "end_ns": ends,
            }
        ),
    )
    engine.put("gpu_op", pl.DataFrame({"device_id": [7] * (iterations * OPS_AN_ITERATION)}))
    return engine.frame("examined_iteration").sort("iteration_index")


def test_all_iterations_of_a_short_capture() -> None:
    told = chosen(iterations=40, examined_ops=400)
    assert told["iteration_index"].to_list() == list(range(40))
    assert not told["is_lead"].any()


def test_the_middle_the_longest_and_some_spread_of_a_long_one() -> None:
    told = chosen(iterations=1000, examined_ops=1600, longest=123)
    looked_at = told.filter(~pl.col("is_lead"))["iteration_index"].to_list()
    assert set(range(480, 521)) <= set(looked_at)
    assert 123 in looked_at
    assert {i // 100 for i in looked_at} == set(range(10))
    assert len(looked_at) < 160


def test_one_before_each_is_looked_at_for_what_it_leaves_behind() -> None:
    told = chosen(iterations=1000, examined_ops=1600, longest=123)
    leads = set(told.filter(pl.col("is_lead"))["iteration_index"])
    looked_at = set(told.filter(~pl.col("is_lead"))["iteration_index"])
    assert 122 in leads
    assert {i - 1 for i in looked_at if i > 0} <= leads | looked_at


@pytest.mark.parametrize("name", ["starved", "healthy", "optloop"])
def test_a_part_of_the_iterations_tells_what_all_of_them_do(sample_traces, name: str) -> None:
    source = open_source(sample_traces / f"{name}.sqlite")
    whole = tl.Trace(Engine([source])).findings.diagnoses
    part = tl.Trace(Engine([source], settings=Settings(examined_ops=2500))).findings.diagnoses
    assert [(d.id, d.severity) for d in part] == [(d.id, d.severity) for d in whole]
    for some, every in zip(part, whole, strict=True):
        assert some.recoverable_ms == pytest.approx(every.recoverable_ms, rel=0.05)
