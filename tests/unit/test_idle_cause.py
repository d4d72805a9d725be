"""Causes of idle: one gap each, on timelines drawn in microseconds.

Kernels run at k(start, end, correlation); calls at Call(start, end, correlation). The gap looked at
is always from 100 to 150, and the kernel that ends it is number 2.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.exports import PID, Call, Copy, Kernel, Range, make_export
from tracelens.engine import Engine
from tracelens.loaders import open_source

US = 1_000


def k(start: float, end: float, correlation: int | None, **more: object) -> Kernel:
    return Kernel(int(start * US), int(end * US), correlation, **more)


def launch(start: float, end: float, correlation: int | None = None, **more: object) -> Call:
    return Call(int(start * US), int(end * US), correlation, **more)


def call(name: str, start: float, end: float, **more: object) -> Call:
    return Call(int(start * US), int(end * US), None, name, **more)


def span(name: str, start: float, end: float) -> Range:
    return Range(int(start * US), int(end * US), name)


@pytest.fixture
def causes(tmp_path: Path):
    """The causes of the gaps of a run, in microseconds: {cause: us}."""

    def of(*, only: tuple[float, float] | None = None, **tables: object) -> dict[str, float]:
        path = tmp_path / "run.sqlite"
        make_export(path, **tables)
        engine = Engine([open_source(path)])
        rows = engine.frame("idle_cause")
        total = engine.frame("idle_gap")["gap_ns"].sum()
        assert rows["idle_ns"].sum() == total
        assert (rows["idle_ns"] > 0).all()
        if only is not None:
            rows = rows.filter(pl.col("start_ns").is_between(only[0] * US, only[1] * US))
        sums = rows.group_by("cause").agg(pl.col("idle_ns").sum() / US)
        return dict(sums.iter_rows())

    return of


def test_launched_before_the_gap_is_a_dependency(causes):
    assert causes(
        calls=[launch(0, 5, 1), launch(5, 10, 2)], kernels=[k(10, 100, 1), k(150, 160, 2)]
    ) == {"dependency": 50}


def test_dispatch_until_the_launch_and_its_latency_is_launch(causes):
    # 20 us of Python, 15 us in the call, 15 us until the kernel starts
    assert causes(
        calls=[launch(0, 5, 1), launch(120, 135, 2)], kernels=[k(10, 100, 1), k(150, 160, 2)]
    ) == {"launch": 50}


def test_a_late_start_after_the_launch_is_a_dependency_beyond_the_usual_latency(causes):
    assert causes(
        calls=[launch(0, 5, 1), launch(110, 120, 2)], kernels=[k(10, 100, 1), k(920, 930, 2)]
    ) == {"launch": 320, "dependency": 500}


def test_a_synchronise_costs_what_is_left_of_it_and_the_refill_behind_it(causes):
    # it waits from 20 to 110, of which 10 in the gap; its 80 us of waiting pay for the 40 behind
    assert causes(
        calls=[launch(0, 5, 1), call("cudaStreamSynchronize", 20, 110), launch(130, 140, 2)],
        kernels=[k(10, 100, 1), k(150, 160, 2)],
    ) == {"sync": 50}


def test_a_short_wait_pays_for_no_more_refill_than_it_lasted(causes):
    # 8 us of waiting while the device was busy, 2 in the gap: 10 for sync, the rest is dispatch
    assert causes(
        calls=[launch(0, 5, 1), call("cudaStreamSynchronize", 92, 102), launch(130, 140, 2)],
        kernels=[k(10, 100, 1), k(150, 160, 2)],
    ) == {"sync": 10, "launch": 40}


def test_the_shallow_queue_behind_a_synchronise_is_its_aftermath_until_the_credit_is_used(causes):
    # 30 us lost; two gaps of 20: the second is paid for by half
    assert causes(
        calls=[
            launch(0, 5, 1),
            call("cudaDeviceSynchronize", 70, 100),
            launch(110, 115, 2),
            launch(140, 145, 3),
        ],
        kernels=[k(10, 100, 1), k(120, 130, 2), k(150, 160, 3)],
    ) == {"sync": 30, "launch": 10}


def test_freeing_memory_is_the_allocators(causes):
    assert causes(
        calls=[launch(0, 5, 1), call("cudaFree", 100, 130), launch(135, 140, 2)],
        kernels=[k(10, 100, 1), k(150, 160, 2)],
    ) == {"allocator": 30, "launch": 20}


def test_silence_in_a_data_phase_is_input_with_the_refill_behind_it(causes):
    # silent from 30 to 330, of which 70 us with the device busy
    assert causes(
        calls=[launch(0, 5, 1), launch(25, 30, 9), launch(330, 335, 2)],
        kernels=[k(10, 100, 1), k(340, 350, 2)],
        ranges=[span("iter_0", 0, 400), span("data", 31, 329)],
    ) == {"input": 240}


def test_silence_between_iterations_is_input(causes):
    assert causes(
        calls=[launch(0, 5, 1), launch(405, 410, 2), launch(805, 810, 3)],
        kernels=[k(10, 100, 1), k(420, 500, 2), k(820, 900, 3)],
        ranges=[span("step_0", 0, 50), span("step_1", 400, 450), span("step_2", 800, 850)],
        only=(0, 450),
    ) == {"input": 320}


@pytest.mark.parametrize(("opens_us", "cause"), [(0, "host"), (-1990, "input")])
def test_silence_at_the_tail_of_an_open_iteration_is_no_input(causes, opens_us, cause):
    """What is done for an iteration behind its last launch is not input for the next (garbage
    collection, a log); what is done before its first one is."""
    starts = [2000 * i + opens_us for i in range(3)]
    assert causes(
        calls=[launch(2000 * i, 2000 * i + 5, i + 1) for i in range(3)],
        kernels=[k(2000 * i + 10, 2000 * i + 100, i + 1) for i in range(3)],
        ranges=[span(f"step_{i}", at, at + 1995) for i, at in enumerate(starts)],
        only=(0, 2000),
    ).keys() == {cause}


def test_silence_behind_what_is_launched_once_an_iteration_is_no_dispatch(causes):
    """Launches of one phase that lie in different iterations say nothing of dispatch."""
    names = [("copy", 0, 20), ("after", 20, 1900)]
    got = causes(
        calls=[launch(2000 * i, 2000 * i + 5, i + 1) for i in range(3)],
        kernels=[k(2000 * i + 10, 2000 * i + 100, i + 1) for i in range(3)],
        ranges=[
            *(span(f"step_{i}", 2000 * i, 2000 * i + 1990) for i in range(3)),
            *(span(n, 2000 * i + s, 2000 * i + e) for i in range(3) for n, s, e in names),
        ],
        only=(0, 2000),
    )
    assert got["host"] > 1800


def test_a_gap_in_which_a_graph_ran_unseen_is_unknown(causes):
    """The graph is launched behind operation 1 and leaves no record; 2 waits for it. The gap after
    that has no graph in it."""
    graph = call("cudaGraphLaunch_v10000", 8, 15)
    run = {
        "calls": [launch(0, 5, 1), graph, launch(16, 20, 2), launch(190, 195, 3)],
        "kernels": [k(10, 100, 1), k(150, 160, 2), k(200, 210, 3)],
    }
    assert causes(**run) == {"unknown": 50, "launch": 40}


def test_the_same_silence_in_another_phase_is_dispatch(causes):
    assert causes(
        calls=[launch(0, 5, 1), launch(330, 335, 2)],
        kernels=[k(10, 100, 1), k(340, 350, 2)],
        ranges=[span("iter_0", 0, 400), span("forward", 0, 390)],
    ) == {"launch": 240}


def test_a_longer_silence_in_another_phase_is_the_host(causes):
    assert causes(
        calls=[launch(0, 5, 1), launch(6, 10, 3), launch(2_000, 2_005, 2)],
        kernels=[k(10, 50, 1), k(50, 100, 3), k(2_010, 2_020, 2)],
        ranges=[span("iter_0", 0, 2_100), span("forward", 0, 2_050)],
    ) == {"host": 1910}


def test_the_profilers_own_time_is_the_profilers(causes):
    overhead = (
        "CREATE TABLE PROFILER_OVERHEAD(start INTEGER, end INTEGER, globalTid INTEGER, "
        "nameId INTEGER)",
        f"INSERT INTO PROFILER_OVERHEAD VALUES (105000, 125000, {(PID << 24) | PID}, 1)",
    )
    assert causes(
        calls=[launch(0, 5, 1), launch(130, 140, 2)],
        kernels=[k(10, 100, 1), k(150, 160, 2)],
        sql=overhead,
    ) == {"profiler": 20, "launch": 30}


def test_what_has_no_launch_or_began_before_it_is_unknown(causes):
    assert causes(
        calls=[launch(0, 5, 1), launch(410, 415, 3)],
        kernels=[k(10, 100, 1), k(150, 200, None), k(300, 400, 3)],
    ) == {"unknown": 150}


def test_back_pressure_and_a_flush_at_the_end_cost_nothing(causes):
    # the launch of 2 waits for room in the queue; the last call only flushes
    assert causes(
        calls=[
            launch(0, 5, 1),
            launch(5, 90, 2),
            call("cudaDeviceSynchronize", 100, 900),
        ],
        kernels=[k(10, 100, 1), k(102, 800, 2)],
    ) == {"dependency": 2}


def test_waiting_for_small_copies_is_sync_and_belongs_to_the_copies(tmp_path: Path):
    calls: list[Call] = []
    kernels, copies, ranges = [], [], []
    for i in range(3):
        at = 1_000 * i
        ranges.append(span(f"iter_{i}", at, at + 900))
        calls.append(launch(at, at + 5, 10 * i + 1))
        kernels.append(k(at + 10, at + 100, 10 * i + 1))
        for j in range(9):
            begin = at + 110 + 50 * j
            correlation = 100 + 10 * i + j
            calls.append(launch(begin, begin + 5, correlation, name="cudaMemcpyAsync"))
            calls.append(call("cudaStreamSynchronize", begin + 6, begin + 20))
            copies.append(Copy((begin + 8) * US, (begin + 10) * US, correlation, size=4096))
    make_export(tmp_path / "run.sqlite", calls=calls, kernels=kernels, copies=copies, ranges=ranges)
    engine = Engine([open_source(tmp_path / "run.sqlite")])
    sync = engine.frame("idle_cause").filter(pl.col("cause") == "sync")
    assert set(sync["finding"]) == {"repeated-small-copies"}
    assert set(sync["call_name"]) == {"cudaStreamSynchronize"}


def test_a_silence_says_what_the_operating_system_was_asked_for(tmp_path: Path):
    thread = (PID << 24) | PID
    make_export(
        tmp_path / "run.sqlite",
        calls=[launch(0, 5, 1), launch(2_000, 2_005, 2)],
        kernels=[k(10, 100, 1), k(2_010, 2_020, 2)],
        ranges=[span("iter_0", 0, 2_100), span("data", 6, 1_999)],
        sql=(
            "CREATE TABLE OSRT_API(start INTEGER, end INTEGER, nameId INTEGER, globalTid INTEGER)",
            "INSERT INTO StringIds VALUES (9001, 'pthread_cond_wait'), (9002, 'read')",
            f"INSERT INTO OSRT_API VALUES (20000, 300000, 9002, {thread})",
            f"INSERT INTO OSRT_API VALUES (310000, 1900000, 9001, {thread})",
        ),
    )
    rows = Engine([open_source(tmp_path / "run.sqlite")]).frame("idle_cause")
    assert rows.select("cause", "os_call", "open_range").rows() == [
        ("input", "pthread_cond_wait", "data")
    ]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 3_000),  # launch
            st.integers(1, 400),  # length of the call
            st.integers(-50, 2_000),  # from the launch to the operation
            st.integers(0, 500),  # length of the operation
            st.sampled_from([PID, PID + 1]),
            st.booleans(),  # whether the launch was recorded
        ),
        min_size=2,
        max_size=15,
    ),
    st.lists(
        st.tuples(
            st.sampled_from(["cudaDeviceSynchronize", "cudaFree", "cudaEventQuery"]),
            st.integers(0, 3_000),
            st.integers(1, 900),
        ),
        max_size=5,
    ),
)
def test_causes_sum_to_every_gap_whatever_the_times(operations, others):
    calls, kernels = [], []
    for number, (at, length, later, runs, thread, is_recorded) in enumerate(operations, start=1):
        if is_recorded:
            calls.append(launch(at, at + length, number, thread=thread))
        kernels.append(k(at + later, at + later + runs, number))
    calls += [call(name, at, at + length) for name, at, length in others]
    ranges = [span(f"iter_{i}", 1_000 * i, 1_000 * i + 900) for i in range(4)]
    with tempfile.TemporaryDirectory() as folder:
        path = make_export(Path(folder) / "run.sqlite", calls=calls, kernels=kernels, ranges=ranges)
        engine = Engine([open_source(path)])
        rows = engine.frame("idle_cause")
        gaps = engine.frame("idle_gap")
        worth = engine.frame("what_if")
    of_gap = dict(rows.group_by("gap_id").agg(pl.col("idle_ns").sum()).iter_rows())
    assert of_gap == {gap: ns for gap, ns in gaps.select("gap_id", "gap_ns").iter_rows() if ns}
    assert (rows["idle_ns"] > 0).all()
    assert (worth["recoverable_ns"] >= 0).all()
