"""The budget of a window: a partition that sums to it exactly."""

from __future__ import annotations

import itertools

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelens.engine import Engine

NAMES = {1: "compute", 2: "communication", 3: "copy"}


def budget(ops: list[tuple[int, int, int, str | None]], windows: list[tuple[int, int]]) -> set:
    """The parts of windows on one device, from operations (start, end, class, phase)."""
    engine = Engine([])
    frame = pl.DataFrame(
        ops, schema=["start_ns", "end_ns", "name_id", "phase"], orient="row"
    ).with_columns(device_id=pl.lit(7), op_id=pl.int_range(pl.len()))
    engine.put("gpu_op", frame.drop("phase"))
    engine.put("op_phase", frame.with_columns(pl.col("phase").cast(pl.String)))
    engine.put("op_class", pl.DataFrame({"name_id": list(NAMES), "op_class": NAMES.values()}))
    engine.put(
        "iteration_window",
        pl.DataFrame(windows, schema=["start_ns", "end_ns"], orient="row").with_columns(
            device_id=pl.lit(7), iteration_index=pl.int_range(pl.len())
        ),
    )
    # Every gap has one cause here, cut at the borders of windows as the step does.
    engine.need("idle_gap")
    engine.put(
        "idle_cause",
        engine.frame_of(
            """SELECT 7 AS device_id, iteration_index, 'launch' AS cause,
            least(g.end_ns, w.end_ns) - greatest(g.start_ns, w.start_ns) AS idle_ns
            FROM idle_gap AS g JOIN iteration_window AS w
            ON g.start_ns < w.end_ns AND g.end_ns > w.start_ns"""
        ),
    )
    parts = engine.frame("budget_part")
    return set(parts.select("iteration_index", "part", "role", "cause", "ns").iter_rows())


def test_each_instant_counts_once_and_compute_goes_first():
    ops = [
        (0, 10, 1, "forward"),
        (5, 25, 2, None),  # hidden until 10
        (20, 30, 3, None),  # hidden until 25
        (40, 50, 1, "backward"),
    ]
    assert budget(ops, [(0, 60)]) == {
        (0, "compute", "forward", None, 10),
        (0, "communication", None, None, 15),
        (0, "copy", None, None, 5),
        (0, "compute", "backward", None, 10),
        (0, "idle", None, "launch", 10),
        (0, "idle", None, "unknown", 10),  # after the last operation, no gap
    }


def test_of_two_phases_that_compute_at_once_the_earlier_counts():
    ops = [(0, 10, 1, "forward"), (4, 14, 1, "backward"), (6, 8, 1, "optimizer")]
    assert budget(ops, [(0, 14)]) == {
        (0, "compute", "forward", None, 10),
        (0, "compute", "backward", None, 4),
    }


def test_work_and_idle_are_cut_where_windows_meet():
    ops = [(0, 10, 1, "forward"), (30, 40, 1, "forward")]
    assert budget(ops, [(0, 5), (5, 20), (20, 40)]) == {
        (0, "compute", "forward", None, 5),
        (1, "compute", "forward", None, 5),
        (1, "idle", None, "launch", 10),
        (2, "idle", None, "launch", 10),
        (2, "compute", "forward", None, 10),
    }


def test_windows_that_overlap_are_each_spent():
    ops = [(0, 10, 1, "forward"), (20, 40, 1, "backward")]
    assert budget(ops, [(0, 30), (5, 40), (20, 20)]) == {
        (0, "compute", "forward", None, 10),
        (0, "compute", "backward", None, 10),
        (0, "idle", None, "launch", 10),
        (1, "compute", "forward", None, 5),
        (1, "compute", "backward", None, 20),
        (1, "idle", None, "launch", 10),
    }


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(-50, 200),
            st.integers(0, 60),
            st.sampled_from(list(NAMES)),
            st.sampled_from(["forward", "backward", None]),
        ),
        min_size=1,
        max_size=12,
    ),
    st.lists(st.integers(-60, 270), min_size=2, max_size=5),
    st.booleans(),
)
def test_parts_sum_to_every_window(ops, borders, overlapping):
    windows = list(itertools.pairwise(borders if overlapping else sorted(borders)))
    windows = [(min(window), max(window)) for window in windows]
    parts = budget([(s, s + length, kind, phase) for s, length, kind, phase in ops], windows)
    for index, (start, end) in enumerate(windows):
        assert sum(ns for i, *_, ns in parts if i == index) == end - start
    assert all(ns > 0 for *_, ns in parts)
