"""Busy time: the union of a device's operations, against counting every nanosecond."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
from bare import put
from hypothesis import given
from hypothesis import strategies as st

from tracelens.engine import Engine

GPU_OP = {"op_id": pl.Int64, "device_id": pl.Int64, "start_ns": pl.Int64, "end_ns": pl.Int64}
OP_PHASE = {
    **GPU_OP,
    "process_id": pl.Int64,
    "name_id": pl.Int64,
    "kind": pl.String,
    "phase": pl.String,
    "range_id": pl.Int64,
    "replay_call_id": pl.Int64,
    "iteration_index": pl.Int64,
    "method": pl.String,
}
PHASES = ("forward", "backward", None)
CLASSES = ("compute", "communication", "copy")
WINDOW = {
    "device_id": pl.Int64,
    "iteration_index": pl.Int64,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "is_steady": pl.Boolean,
}
PHASE_RANGE = {
    "range_id": pl.Int64,
    "name": pl.String,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "is_open": pl.Boolean,
}
Operation = tuple[int, int, int]
"""Its device, start and end."""
Working = tuple[int, int, int, int, int]
"""The same, with its phase's and its class's place in PHASES and CLASSES."""


def engine_with(operations: list[Operation]) -> Engine:
    engine = Engine([])
    put(engine, "gpu_op", GPU_OP, [(i, *operation) for i, operation in enumerate(operations)])
    return engine


def gaps(operations: list[Operation]) -> list[tuple[int, ...]]:
    """Device, start and end of each gap, in order."""
    frame = engine_with(operations).frame("idle_gap").sort("device_id", "start_ns")
    return frame.select("device_id", "start_ns", "end_ns").rows()


def test_overlapping_streams_count_once() -> None:
    assert gaps([(0, 0, 10), (0, 5, 20), (0, 6, 8), (0, 30, 40)]) == [(0, 20, 30)]


def test_operations_that_touch_leave_no_gap() -> None:
    assert gaps([(0, 0, 10), (0, 10, 20)]) == []


def test_a_long_operation_hides_the_gaps_of_shorter_ones() -> None:
    assert gaps([(0, 0, 100), (0, 10, 20), (0, 50, 60), (0, 90, 110)]) == []


def test_devices_are_apart() -> None:
    assert gaps([(0, 0, 10), (1, 5, 20), (0, 15, 25)]) == [(0, 10, 15)]


operations = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 40), st.integers(0, 9)).map(
        lambda drawn: (drawn[0], drawn[1], drawn[1] + drawn[2])
    ),
    max_size=12,
)
workings = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(0, 40),
        st.integers(0, 9),
        st.integers(0, len(PHASES) - 1),
        st.integers(0, len(CLASSES) - 1),
    ).map(lambda drawn: (drawn[0], drawn[1], drawn[1] + drawn[2], *drawn[3:])),
    max_size=12,
)
windows = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 15)).map(lambda w: (w[0], w[0] + w[1])), max_size=4
)


@given(operations)
def test_gaps_are_what_counting_says(drawn: list[Operation]) -> None:
    found = gaps(drawn)
    for device in (0, 1):
        mine = [(a, b) for d, a, b in drawn if d == device]
        ran = {ns for a, b in mine for ns in range(a, b)}
        idle = {ns for d, a, b in found if d == device for ns in range(a, b)}
        seen = {ns for a, b in mine for ns in (a, b)}
        # an operation without length may lie in a gap, and then parts it
        assert idle == set(range(min(seen, default=0), max(seen, default=0))) - ran
        ours = [(a, b) for d, a, b in found if d == device]
        assert all(left[1] <= right[0] for left, right in pairwise(ours))


def working_engine(drawn: list[Working], windows: list[tuple[int, int]]) -> Engine:
    engine = engine_with([working[:3] for working in drawn])
    rows = [
        (
            i,
            d,
            a,
            b,
            1,
            kind,
            "kernel",
            PHASES[phase],
            phase if PHASES[phase] else None,
            None,
            0,
            "x",
        )
        for i, (d, a, b, phase, kind) in enumerate(drawn)
    ]
    put(engine, "op_phase", OP_PHASE, rows)
    names = {"name_id": pl.Int64, "op_class": pl.String}
    put(engine, "op_class", names, list(enumerate(CLASSES)))
    opened = [(d, i, a, b, True) for d in (0, 1) for i, (a, b) in enumerate(windows)]
    put(engine, "iteration_window", WINDOW, opened)
    ranges = [(i, phase, 0, 0, False) for i, phase in enumerate(PHASES)]
    put(engine, "phase_range", PHASE_RANGE, ranges)
    return engine


@given(workings, windows)
def test_work_in_windows_is_what_counting_says(
    drawn: list[Working], opened: list[tuple[int, int]]
) -> None:
    counted: dict[tuple[object, ...], int] = {}
    for device in (0, 1):
        mine = sorted(
            (a, b, i, phase, CLASSES[kind])
            for i, (d, a, b, phase, kind) in enumerate(drawn)
            if d == device
        )
        communicates = any(kind == "communication" for *_, kind in mine)
        for index, (opening, closing) in enumerate(opened):
            for ns in range(opening, closing):
                running = [(phase, kind) for a, b, _, phase, kind in mine if a <= ns < b]
                computing = [PHASES[phase] for phase, kind in running if kind == "compute"]
                other = [kind for _, kind in running if kind != "copy"]
                held = [("busy", None)] * bool(running)
                held += [("compute", computing[0])] if computing else []
                held += [("communication", None)] * bool(other and communicates)
                for layer, phase in held:
                    key = (device, index, layer, phase)
                    counted[key] = counted.get(key, 0) + 1
    found = working_engine(drawn, opened).frame("window_work").rows()
    assert {row[:4]: row[4] for row in found} == counted


@given(workings)
def test_busy_time_of_phases_is_what_counting_says(drawn: list[Working]) -> None:
    counted = {}
    for device in (0, 1):
        for number, phase in enumerate(PHASES):
            mine = [(a, b) for d, a, b, p, _ in drawn if (d, p) == (device, number)]
            if phase is not None and mine:
                counted[device, phase] = len({ns for a, b in mine for ns in range(a, b)})
    frame = working_engine(drawn, []).frame("phase_instance")
    found = {
        (d, phase): ns for d, phase, ns in frame.select("device_id", "phase", "busy_ns").rows()
    }
    assert found == counted
