"""Nesting of push/pop ranges: borders, depth, threads, and against a slow obvious version."""

from __future__ import annotations

from pathlib import Path

import pytest
from bare import Span, put_ranges
from exports import Range, make_export
from hypothesis import given
from hypothesis import strategies as st

from tracelens.engine import Engine
from tracelens.loaders import open_source


def nested(tmp_path: Path, *ranges: Range) -> dict[str, tuple[str | None, int]]:
    """Name of each range -> name of its parent, and its depth."""
    engine = Engine([open_source(make_export(tmp_path / "run.sqlite", ranges=ranges))])
    engine.need("range_nesting")
    rows = engine.connection.execute(
        "SELECT r.name, p.name, n.depth FROM range_nesting AS n "
        "JOIN host_range AS r USING (range_id) "
        "LEFT JOIN host_range AS p ON n.parent_id = p.range_id"
    ).fetchall()
    return {name: (parent, depth) for name, parent, depth in rows}


def nested_ids(spans: list[Span]) -> dict[int, tuple[int | None, int]]:
    """The same for bare spans of one thread, by their place in the list."""
    engine = Engine([])
    put_ranges(engine, spans)
    frame = engine.frame("range_nesting")
    return {
        row["range_id"]: (row["parent_id"], row["depth"]) for row in frame.iter_rows(named=True)
    }


def test_parent_is_the_innermost_range_around(tmp_path: Path) -> None:
    assert nested(
        tmp_path,
        Range(0, 100, "iter_0"),
        Range(10, 40, "forward"),
        Range(20, 30, "layer"),
        Range(50, 90, "backward"),
        Range(110, 120, "iter_1"),
    ) == {
        "iter_0": (None, 0),
        "forward": ("iter_0", 1),
        "layer": ("forward", 2),
        "backward": ("iter_0", 1),
        "iter_1": (None, 0),
    }


def test_equal_bounds_nest_in_the_order_of_recording(tmp_path: Path) -> None:
    assert nested(tmp_path, Range(0, 9, "outer"), Range(0, 9, "middle"), Range(0, 9, "inner")) == {
        "outer": (None, 0),
        "middle": ("outer", 1),
        "inner": ("middle", 2),
    }


def test_shared_borders(tmp_path: Path) -> None:
    """What begins where another ends is beside it; what begins or ends with its parent is in it."""
    assert nested(
        tmp_path,
        Range(0, 20, "whole"),
        Range(0, 10, "first"),
        Range(10, 20, "second"),
        Range(20, 30, "next"),
    ) == {
        "whole": (None, 0),
        "first": ("whole", 1),
        "second": ("whole", 1),
        "next": (None, 0),
    }


def test_empty_ranges(tmp_path: Path) -> None:
    assert nested(
        tmp_path,
        Range(0, 20, "whole"),
        Range(0, 0, "at its start"),
        Range(5, 5, "inside"),
        Range(5, 5, "inside that"),
        Range(30, 30, "alone"),
    ) == {
        "whole": (None, 0),
        "at its start": ("whole", 1),
        "inside": ("whole", 1),
        "inside that": ("inside", 2),
        "alone": (None, 0),
    }


def test_threads_nest_apart_and_domains_together(tmp_path: Path) -> None:
    assert nested(
        tmp_path,
        Range(0, 100, "main"),
        Range(10, 20, "of a library", domain=3),
        Range(10, 20, "elsewhere", thread=7),
    ) == {"main": (None, 0), "of a library": ("main", 1), "elsewhere": (None, 0)}


def test_start_end_ranges_do_not_nest(tmp_path: Path) -> None:
    ranges = [Range(0, 50, "request", style="start_end"), Range(10, 20, "step")]
    assert nested(tmp_path, *ranges) == {"step": (None, 0)}


def test_open_range_holds_what_follows(tmp_path: Path) -> None:
    ranges = [Range(0, None, "epoch"), Range(10, 20, "step"), Range(30, 40, "step 2")]
    assert nested(tmp_path, *ranges) == {
        "epoch": (None, 0),
        "step": ("epoch", 1),
        "step 2": ("epoch", 1),
    }


def test_a_range_that_outlives_its_parent_keeps_it(tmp_path: Path) -> None:
    """Stacks of two domains may cross; what follows at the top has no parent that is closed."""
    assert nested(
        tmp_path,
        Range(0, 10, "first"),
        Range(5, 15, "crossing", domain=1),
        Range(20, 30, "after"),
    ) == {"first": (None, 0), "crossing": ("first", 1), "after": (None, 0)}


def test_a_thousand_levels() -> None:
    spans = [(i, 2000 - i) for i in range(1000)]
    assert nested_ids(spans) == {i: (i - 1 if i else None, i) for i in range(1000)}


@st.composite
def stacks(draw: st.DrawFn) -> list[Span]:
    """Spans as a stack of pushes and pops leaves them, by the order of the pushes.

    Time may stand still between two of them, as a coarse clock makes it.
    """
    spans: list[list[int]] = []
    still_open: list[int] = []
    now = 0
    for is_push, wait in draw(st.lists(st.tuples(st.booleans(), st.integers(0, 2)), max_size=24)):
        now += wait
        if is_push:
            still_open.append(len(spans))
            spans.append([now, now])
        elif still_open:
            spans[still_open.pop()][1] = now
    for place in still_open:
        spans[place][1] = now + 1
    return [(start, end) for start, end in spans]


def slow_parents(spans: list[Span]) -> dict[int, tuple[int | None, int]]:
    """For each span, the last one in order (start, longest, recorded) that is open around it."""
    order = sorted(range(len(spans)), key=lambda i: (spans[i][0], -spans[i][1], i))
    found: dict[int, tuple[int | None, int]] = {}
    for place, i in enumerate(order):
        start, end = spans[i]
        around = [
            j
            for j in order[:place]
            if spans[j][1] >= end and (spans[j][1] > start or spans[j] == spans[i])
        ]
        found[i] = (around[-1] if around else None, len(around))
    return found


@given(stacks())
def test_nesting_is_what_the_slow_version_says(spans: list[Span]) -> None:
    assert nested_ids(spans) == slow_parents(spans)


@pytest.mark.parametrize("at", [0, 10])
def test_edge_at_a_moment_is_the_last_of_it(at: int, tmp_path: Path) -> None:
    ranges = [Range(0, 10, "a"), Range(0, 10, "b"), Range(10, 20, "c")]
    engine = Engine([open_source(make_export(tmp_path / "run.sqlite", ranges=ranges))])
    engine.need("range_edge")
    rows = engine.connection.execute(
        "SELECT name FROM range_edge JOIN host_range USING (range_id) WHERE at_ns = ?", [at]
    ).fetchall()
    assert rows == [("b",) if at == 0 else ("c",)]
