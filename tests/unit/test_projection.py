"""Projection of ranges onto the GPU: what a range owns, and against a slow obvious version."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from bare import Span, put, put_ranges
from exports import Call, Kernel, Node, Range, make_export
from hypothesis import given
from hypothesis import strategies as st

from tracelens.engine import Engine
from tracelens.loaders import open_source

LAUNCHED_OP = {
    "op_id": pl.Int64,
    "call_id": pl.Int64,
    "thread_id": pl.Int64,
    "call_start_ns": pl.Int64,
    "call_end_ns": pl.Int64,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
}
CALLS = [Call(10, 12, 1), Call(20, 22, 2), Call(30, 32, 3)]
KERNELS = [Kernel(100, 150, 1), Kernel(160, 200, 2), Kernel(190, 240, 3, stream=8)]


def projection(tmp_path: Path, ranges: list[Range], **rows: list) -> dict[str, tuple[int, ...]]:
    """Name of each range -> start, span, operations, launches."""
    content = {"kernels": KERNELS, "calls": CALLS, **rows}
    path = make_export(tmp_path / "run.sqlite", ranges=ranges, **content)
    engine = Engine([open_source(path)])
    engine.need("range_projection")
    rows = engine.connection.execute(
        "SELECT r.name, p.start_ns, p.span_ns, p.ops, p.launches "
        "FROM range_projection AS p JOIN host_range AS r USING (range_id)"
    ).fetchall()
    return {row[0]: row[1:] for row in rows}


def test_every_enclosing_range_owns_what_is_launched_inside(tmp_path: Path) -> None:
    ranges = [Range(0, 50, "iter_0"), Range(5, 25, "forward"), Range(40, 45, "empty of launches")]
    assert projection(tmp_path, ranges) == {"iter_0": (100, 140, 3, 3), "forward": (100, 100, 2, 2)}


def test_borders_count_as_inside(tmp_path: Path) -> None:
    assert projection(tmp_path, [Range(20, 22, "exact")]) == {"exact": (160, 40, 1, 1)}


def test_a_call_that_straddles_a_border_is_outside(tmp_path: Path) -> None:
    assert projection(tmp_path, [Range(11, 31, "r"), Range(21, 21, "in a call")]) == {
        "r": (160, 40, 1, 1)
    }


def test_equal_bounds_own_the_same(tmp_path: Path) -> None:
    """NVIDIA's script loses the level of such ranges: each is the other's parent there."""
    own = (100, 140, 3, 3)
    assert projection(tmp_path, [Range(0, 50, "a"), Range(0, 50, "b")]) == {"a": own, "b": own}


def test_a_domain_created_twice_counts_once(tmp_path: Path) -> None:
    """NVIDIA's script fails on it, or counts the domain's ranges twice."""
    path = make_export(
        tmp_path / "run.sqlite",
        kernels=KERNELS,
        calls=CALLS,
        ranges=[Range(0, 50, "r", domain=1)],
        domains={1: "serving"},
        sql=["INSERT INTO NVTX_EVENTS SELECT * FROM NVTX_EVENTS WHERE eventType = 75"],
    )
    engine = Engine([open_source(path)])
    engine.need("range_projection", "host_range")
    frame = engine.frame_of(
        "SELECT domain, ops FROM range_projection JOIN host_range USING (range_id)"
    )
    assert frame.rows() == [("serving", 3)]


def test_other_threads_launches_are_not_owned(tmp_path: Path) -> None:
    ranges = [Range(0, 50, "main"), Range(0, 50, "other", thread=7)]
    calls = [Call(10, 12, 1), Call(20, 22, 2, thread=7), Call(30, 32, 3)]
    assert projection(tmp_path, ranges, calls=calls) == {
        "main": (100, 140, 2, 2),
        "other": (160, 40, 1, 1),
    }


def test_start_end_ranges_overlap_freely(tmp_path: Path) -> None:
    ranges = [
        Range(0, 25, "first", style="start_end"),
        Range(15, 50, "second", style="start_end"),
        Range(0, 50, "closed elsewhere", style="start_end", end_thread=7),
    ]
    assert projection(tmp_path, ranges) == {"first": (100, 100, 2, 2), "second": (160, 80, 2, 2)}


def test_operations_of_a_graph_launch(tmp_path: Path) -> None:
    kernels = [Kernel(100 + i, 101 + i, correlation=1, node=i + 1) for i in range(5)]
    calls = [Call(10, 12, 1, name="cudaGraphLaunch_v10000")]
    nodes = [Node(1, i + 1) for i in range(5)]
    found = projection(
        tmp_path, [Range(0, 50, "replay")], kernels=kernels, calls=calls, nodes=nodes
    )
    assert found == {"replay": (100, 5, 5, 1)}


def test_operation_without_a_launch_belongs_to_no_range(tmp_path: Path) -> None:
    assert projection(tmp_path, [Range(0, 500, "r")], kernels=[Kernel(100, 150)]) == {}


Operation = tuple[int, ...]


def project(spans: list[Span], ops: list[Operation]) -> dict[int, tuple[int, ...]]:
    """Projection of bare spans of one thread; an operation is a row of LAUNCHED_OP."""
    engine = Engine([])
    put_ranges(engine, spans, style="start_end")
    put(engine, "launched_op", LAUNCHED_OP, ops)
    frame = engine.frame("range_projection")
    return {
        row["range_id"]: (row["start_ns"], row["end_ns"], row["ops"], row["launches"])
        for row in frame.iter_rows(named=True)
    }


def slow_projection(spans: list[Span], ops: list[Operation]) -> dict[int, tuple[int, ...]]:
    found = {}
    for i, (start, end) in enumerate(spans):
        inside = [op for op in ops if start <= op[3] and op[4] <= end]
        if inside:
            first, last = min(op[5] for op in inside), max(op[6] for op in inside)
            found[i] = (first, last, len(inside), len({op[1] for op in inside}))
    return found


@st.composite
def launches(draw: st.DrawFn) -> list[Operation]:
    """Operations of calls that follow one another on a thread; a call may hold one other call."""
    ops: list[Operation] = []
    now = call = 0
    step = st.integers(0, 3)
    for wait, before, inside, after, count, is_double in draw(
        st.lists(st.tuples(step, step, step, step, st.integers(1, 3), st.booleans()), max_size=8)
    ):
        start = now + wait
        now = start + before + inside + after
        bounds = [(start, now)]
        if is_double:
            bounds.append((start + before, start + before + inside))
        for a, b in bounds:
            call += 1
            for _ in range(count):
                begin = draw(st.integers(0, 50))
                ops.append((len(ops), call, 1, a, b, begin, begin + draw(step)))
    return ops


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)), max_size=6), launches())
def test_projection_is_what_the_slow_version_says(
    starts: list[tuple[int, int]], ops: list[Operation]
) -> None:
    spans = [(start, start + length) for start, length in starts]
    assert project(spans, ops) == slow_projection(spans, ops)
