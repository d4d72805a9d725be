"""Which phase each operation belongs to, and by what evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from bare import put
from exports import PID, Call, Kernel, Node, Range, make_export
from hypothesis import given
from hypothesis import strategies as st

from tracelens.engine import Engine
from tracelens.loaders import open_source
from tracelens.settings import Settings

MAIN, HELPER = PID, PID + 1
# Two iterations on the main thread: forward, backward, optimizer.
PHASES = [
    Range(0, 90, "iter_0"),
    Range(0, 30, "forward"),
    Range(30, 60, "backward"),
    Range(60, 90, "optimizer"),
    Range(100, 190, "iter_1"),
    Range(100, 130, "forward"),
    Range(130, 160, "backward"),
    Range(160, 190, "optimizer"),
]


def attributed(tmp_path: Path, launches: list[Call], **rows: Any) -> list[tuple[str | None, str]]:
    """Phase and method of one kernel a call, in the order of the calls."""
    kernels = [Kernel(1000 + c.start, 1001 + c.start, c.correlation, pid=c.pid) for c in launches]
    content = {"ranges": PHASES, "kernels": kernels, **rows}
    path = make_export(tmp_path / "run.sqlite", calls=launches, **content)
    engine = Engine([open_source(path)])
    engine.need("op_phase")
    return engine.connection.execute(
        "SELECT phase, method FROM op_phase ORDER BY start_ns, op_id"
    ).fetchall()


def launch(at: int, thread: int = MAIN, **more: Any) -> Call:
    """A launch at this time, which is its correlation id too."""
    return Call(at, at + 1, correlation=at, thread=thread, **more)


def test_own_thread_says(tmp_path: Path) -> None:
    assert attributed(tmp_path, [launch(5), launch(35), launch(65)]) == [
        ("forward", "direct"),
        ("backward", "direct"),
        ("optimizer", "direct"),
    ]


def test_innermost_phase_counts(tmp_path: Path) -> None:
    ranges = [*PHASES, Range(10, 20, "data loading")]
    assert attributed(tmp_path, [launch(5), launch(15), launch(25)], ranges=ranges) == [
        ("forward", "direct"),
        ("data", "direct"),
        ("forward", "direct"),
    ]


def test_launches_of_autograds_thread_are_backward(tmp_path: Path) -> None:
    launches = [launch(at, HELPER) for at in (35, 40, 45, 135, 140, 145)]
    assert attributed(tmp_path, launches) == [("backward", "cross_thread")] * 6


def test_launches_of_a_prefetching_thread_are_no_phases(tmp_path: Path) -> None:
    launches = [launch(at, HELPER) for at in (5, 35, 65, 105, 135, 165)]
    assert attributed(tmp_path, launches) == [(None, "none")] * 6


STEPS = [
    Range(100 * i + start, 100 * i + end, name)
    for i in range(3)
    for start, end, name in [(0, 90, f"iter_{i}"), (0, 40, "d_step"), (40, 90, "g_step")]
]


def test_autograd_works_for_every_phase_of_unknown_role_that_waits_for_it(tmp_path: Path) -> None:
    """Both steps of a GAN hold a backward: the main thread launches, waits, and launches again."""
    launches = [
        launch(100 * i + step + at, thread)
        for i in range(3)
        for step in (0, 40)
        for thread, first in ((MAIN, 2), (HELPER, 12))
        for at in range(first, first + 20, 1)[: 5 if thread == MAIN else 20]
    ]
    got = attributed(tmp_path, launches, ranges=STEPS)
    assert got[5] == ("d_step", "cross_thread")
    assert got[30] == ("g_step", "cross_thread")
    assert [method for _, method in got].count("cross_thread") == 120


def test_a_thread_that_launches_in_between_works_for_no_phase_of_unknown_role(
    tmp_path: Path,
) -> None:
    launches = [launch(at + i, (MAIN, HELPER)[i]) for at in range(2, 290, 4) for i in (0, 1)]
    got = attributed(tmp_path, launches, ranges=STEPS)
    assert {method for _, method in got[1::2]} == {"none"}


def test_a_few_strays_leave_a_helper_a_helper(tmp_path: Path) -> None:
    """19 of 20 launches in backward: the one between iterations is of no phase."""
    launches = [launch(at, HELPER) for at in (*range(31, 50), 95)]
    assert attributed(tmp_path, launches) == [("backward", "cross_thread")] * 19 + [(None, "none")]


def test_phase_of_the_own_thread_goes_before_one_open_elsewhere(tmp_path: Path) -> None:
    ranges = [*PHASES, Range(38, 42, "evaluation", thread=HELPER)]
    launches = [launch(at, HELPER) for at in (*range(31, 38), 40, *range(43, 50))]
    got = attributed(tmp_path, launches, ranges=ranges)
    assert got[7] == ("evaluation", "direct")


def test_a_hooks_phase_within_backward_leaves_autograds_thread_a_helper(tmp_path: Path) -> None:
    ranges = [*PHASES, Range(40, 42, "all_reduce", thread=HELPER)]
    launches = [launch(at, HELPER) for at in (35, 41, 45, 135, 145)]
    got = attributed(tmp_path, launches, ranges=ranges)
    assert got == [
        ("backward", "cross_thread"),
        ("communication", "direct"),
        *[("backward", "cross_thread")] * 3,
    ]


def test_a_thread_that_runs_its_own_phases_borrows_none(tmp_path: Path) -> None:
    """A second worker, whose forward begins in the first one's backward and outlives it: what it
    launches before is its own business, though all of it falls into the first one's backward."""
    ranges = [*PHASES, Range(50, 80, "forward", thread=HELPER)]
    launches = [launch(at, HELPER) for at in (35, 40, 55)]
    assert attributed(tmp_path, launches, ranges=ranges) == [
        (None, "none"),
        (None, "none"),
        ("forward", "direct"),
    ]


def test_phases_of_another_process_say_nothing(tmp_path: Path) -> None:
    other = PID + 100
    launches = [launch(35), launch(36, other, pid=other)]
    assert attributed(tmp_path, launches) == [("backward", "direct"), (None, "none")]


def test_equal_correlation_ids_in_two_processes(tmp_path: Path) -> None:
    other = PID + 100
    calls = [Call(5, 6, 1), Call(35, 36, 1, thread=other, pid=other)]
    ranges = [*PHASES, Range(30, 60, "backward", thread=other, pid=other)]
    assert attributed(tmp_path, calls, ranges=ranges) == [
        ("forward", "direct"),
        ("backward", "direct"),
    ]


def test_ranges_of_libraries_are_no_phases(tmp_path: Path) -> None:
    ranges = [*PHASES, Range(4, 8, "optimizer", domain=3)]
    got = attributed(tmp_path, [launch(5)], ranges=ranges, domains={3: "NCCL"})
    assert got == [("forward", "direct")]


def test_unknown_name_is_a_phase_of_its_own_without_a_role(tmp_path: Path) -> None:
    ranges = [Range(0, 90, "frobnicate")]
    assert attributed(tmp_path, [launch(5)], ranges=ranges) == [("frobnicate", "direct")]


def test_kernel_without_a_launch_is_kept(tmp_path: Path) -> None:
    got = attributed(tmp_path, [launch(5)], kernels=[Kernel(1005, 1006, 5), Kernel(1010, 1020)])
    assert got == [("forward", "direct"), (None, "none")]


@pytest.mark.parametrize("original", [None, 7], ids=["as created", "instantiated from another"])
def test_nodes_of_a_graph_belong_where_they_were_created(
    original: int | None, tmp_path: Path
) -> None:
    """Both were captured in iteration 0; one launch in iteration 1's optimizer replays them."""
    nodes = [Node(5, 7), Node(35, 8)]
    ids = [7, 8]
    if original:
        nodes += [Node(95, 17, original=7), Node(95, 18, original=8)]
        ids = [17, 18]
    kernels = [Kernel(1165, 1170, 165, node=ids[0]), Kernel(1170, 1180, 165, node=ids[1])]
    graph = [launch(165, name="cudaGraphLaunch_v10000")]
    assert attributed(tmp_path, graph, nodes=nodes, kernels=kernels) == [
        ("forward", "graph"),
        ("backward", "graph"),
    ]


PHASE_RANGE = {
    "range_id": pl.Int64,
    "process_id": pl.Int64,
    "thread_id": pl.Int64,
    "name": pl.String,
    "phase": pl.String,
    "is_known_role": pl.Boolean,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "is_open": pl.Boolean,
}
MOMENT = {"process_id": pl.Int64, "thread_id": pl.Int64, "at_ns": pl.Int64}
ITERATION = dict.fromkeys(("process_id", "iteration_index", "start_ns", "end_ns"), pl.Int64)
Phase = tuple[int, int, str, int, int]
"""Its id, thread, role, start and end."""


@st.composite
def phases(draw: st.DrawFn) -> list[Phase]:
    """Phases of threads 1 and 2, one after another on each, some with another inside."""
    made: list[Phase] = []
    for thread in (1, 2):
        now = 0
        for wait, length, role, inner in draw(
            st.lists(
                st.tuples(
                    st.integers(0, 4),
                    st.integers(2, 8),
                    st.sampled_from(["forward", "backward"]),
                    st.booleans(),
                ),
                max_size=4 if thread == 1 else 1,
            )
        ):
            start, now = now + wait, now + wait + length
            made.append((len(made), thread, role, start, now))
            if inner:
                made.append((len(made), thread, "data", start + 1, now - 1))
    return made


def slow_attribution(
    ranges: list[Phase], moments: set[tuple[int, int]]
) -> dict[tuple[int, int], tuple[int, str]]:
    """The definition, word by word: the innermost phase of the thread, else that which it helps."""

    def innermost(thread: int, at: int) -> int | None:
        around = [r for r in ranges if r[1] == thread and r[3] <= at < r[4]]
        return max(around, key=lambda r: r[3])[0] if around else None

    def is_within(own: Phase, role: str) -> bool:
        there = (innermost(t, own[3]) for t in {r[1] for r in ranges} - {own[1]})
        around = [r for i in there for r in ranges if r[0] == i]
        return any(r[2] == role and r[4] >= own[4] for r in around)

    found: dict[tuple[int, int], tuple[int, str]] = {}
    elsewhere: dict[int, dict[int, int | None]] = {}
    for thread, at in moments:
        own = innermost(thread, at)
        if own is not None:
            found[thread, at] = (own, "direct")
            continue
        others = {r[1] for r in ranges} - {thread}
        there = [i for i in (innermost(other, at) for other in others) if i is not None]
        if others:
            elsewhere.setdefault(thread, {})[at] = there[0] if len(there) == 1 else None
    role = {r[0]: r[2] for r in ranges}
    share = Settings().helper_role_share
    for thread, seen in elsewhere.items():
        roles = [role[i] for i in seen.values() if i is not None]
        most = max(sorted(set(roles)), key=roles.count, default=None)
        if most is None or roles.count(most) < share * len(seen):
            continue
        own = [r for r in ranges if r[1] == thread]
        if sum(is_within(r, most) for r in own) >= share * len(own):
            for at, i in seen.items():
                if i is not None:
                    found[thread, at] = (i, "cross_thread")
    return found


@given(phases(), st.sets(st.tuples(st.integers(1, 3), st.integers(0, 30)), max_size=25))
def test_attribution_is_what_the_slow_version_says(
    ranges: list[Phase], moments: set[tuple[int, int]]
) -> None:
    engine = Engine([])
    rows = [(i, 1, thread, role, role, True, a, b, False) for i, thread, role, a, b in ranges]
    put(engine, "phase_range", PHASE_RANGE, rows)
    put(engine, "launch_moment", MOMENT, [(1, thread, at) for thread, at in sorted(moments)])
    put(engine, "iteration", ITERATION, [])
    told = engine.frame("slice_phase").select(
        "thread_id", "at_ns", "known_range_id", "known_method"
    )
    by_slice = {(t, at): (i, how) for t, at, i, how in told.rows()}
    begins = sorted(engine.frame("host_slice")["at_ns"])
    found = {}
    for thread, at in moments:
        begun = [ns for ns in begins if ns <= at]
        if begun and (thread, begun[-1]) in by_slice:
            found[thread, at] = by_slice[thread, begun[-1]]
    assert found == slow_attribution(ranges, moments)
