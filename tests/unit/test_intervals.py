"""Interval arithmetic of the steps, against counting every nanosecond."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tracelens.steps import _intervals

INTERVALS = st.lists(st.tuples(st.integers(-20, 20), st.integers(-2, 9)), max_size=7)
Spans = list[tuple[int, int]]
"""Start and length of each interval; what has no length, or less, holds nothing."""


def frame(spans: Spans) -> pl.DataFrame:
    rows = [(start, start + length) for start, length in spans]
    return pl.DataFrame(rows, schema={"start_ns": pl.Int64, "end_ns": pl.Int64}, orient="row")


def held(spans: Iterable[tuple[int, int]]) -> set[int]:
    """Every nanosecond that they cover."""
    return {ns for start, length in spans for ns in range(start, start + length)}


def told(intervals: pl.DataFrame) -> set[int]:
    return {ns for start, end in intervals.iter_rows() for ns in range(start, end)}


@given(INTERVALS)
def test_a_union_covers_the_same_and_nothing_twice(spans: Spans) -> None:
    union = _intervals.union(frame(spans))
    assert told(union) == held(spans)
    assert sum(end - start for start, end in union.iter_rows()) == len(held(spans))
    assert union["start_ns"].is_sorted()
    # what touches is one
    assert not set(union["start_ns"]) & set(union["end_ns"])


@given(INTERVALS, st.lists(st.integers(-25, 35), max_size=5))
def test_times_inside_and_what_is_covered_before_them(spans: Spans, times: list[int]) -> None:
    moments = pl.Series(times, dtype=pl.Int64)
    inside = _intervals.inside(moments, frame(spans))
    before = _intervals.covered_before(moments, frame(spans))
    assert inside.to_list() == [time in held(spans) for time in times]
    assert before.to_list() == [sum(ns < time for ns in held(spans)) for time in times]


@given(INTERVALS, INTERVALS)
def test_what_is_exposed_is_covered_by_nothing_else(spans: Spans, others: Spans) -> None:
    exposed = _intervals.exposed(frame(spans), frame(others))
    assert told(exposed) == held(spans) - held(others)
    assert exposed["start_ns"].is_sorted()


def test_what_has_no_start_or_end_covers_nothing() -> None:
    rows = [(None, 5), (1, None), (2, 4)]
    intervals = pl.DataFrame(rows, schema={"start_ns": pl.Int64, "end_ns": pl.Int64}, orient="row")
    assert _intervals.union(intervals).rows() == [(2, 4)]
    times = pl.Series([None, 3], dtype=pl.Int64)
    assert _intervals.covered_before(times, intervals).to_list() == [0, 1]
    assert _intervals.inside(times, intervals).to_list() == [False, True]
