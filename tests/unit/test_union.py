"""Busy time: the union of a device's operations, against counting every nanosecond."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
from bare import put
from hypothesis import given
from hypothesis import strategies as st

from tracelens.engine import Engine

GPU_OP = {"op_id": pl.Int64, "device_id": pl.Int64, "start_ns": pl.Int64, "end_ns": pl.Int64}
Operation = tuple[int, int, int]
"""Its device, start and end."""


def engine_with(operations: list[Operation]) -> Engine:
    engine = Engine([])
    put(engine, "gpu_op", GPU_OP, [(i, *operation) for i, operation in enumerate(operations)])
    return engine


def busy(operations: list[Operation]) -> list[tuple[int, ...]]:
    """Device, start and end of each stretch, in order."""
    frame = engine_with(operations).frame("busy_interval").sort("device_id", "start_ns")
    return frame.select("device_id", "start_ns", "end_ns").rows()


def test_overlapping_streams_count_once() -> None:
    assert busy([(0, 0, 10), (0, 5, 20), (0, 6, 8), (0, 30, 40)]) == [
        (0, 0, 20),
        (0, 30, 40),
    ]


def test_operations_that_touch_are_one_stretch() -> None:
    assert busy([(0, 0, 10), (0, 10, 20)]) == [(0, 0, 20)]


def test_a_long_operation_hides_the_gaps_of_shorter_ones() -> None:
    assert busy([(0, 0, 100), (0, 10, 20), (0, 50, 60), (0, 90, 110)]) == [(0, 0, 110)]


def test_devices_are_apart() -> None:
    assert busy([(0, 0, 10), (1, 5, 20)]) == [(0, 0, 10), (1, 5, 20)]


operations = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 40), st.integers(0, 9)).map(
        lambda drawn: (drawn[0], drawn[1], drawn[1] + drawn[2])
    ),
    max_size=12,
)


@given(operations)
def test_union_is_what_counting_says(drawn: list[Operation]) -> None:
    stretches = busy(drawn)
    for device in (0, 1):
        counted = {ns for d, a, b in drawn if d == device for ns in range(a, b)}
        ours = [s for s in stretches if s[0] == device]
        assert sum(end - start for _, start, end in ours) == len(counted)
        assert {ns for _, a, b in ours for ns in range(a, b)} == counted
        assert all(left[2] < right[1] for left, right in pairwise(ours))


@given(operations)
def test_gaps_are_what_the_union_leaves(drawn: list[Operation]) -> None:
    gaps = engine_with(drawn).frame("idle_gap").select("device_id", "start_ns", "end_ns").rows()
    stretches = busy(drawn)
    between = [
        (left[0], left[2], right[1]) for left, right in pairwise(stretches) if left[0] == right[0]
    ]
    assert sorted(gaps) == between
