"""Captures that lack rows: launches that were lost, ranges that were never closed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from exports import Call, Kernel, Node, Range, make_export

from tracelens.engine import Engine
from tracelens.loaders import open_source

MS = 1_000_000
ITERATIONS = 5
PERIOD = 10 * MS


def engine(path: Path, **rows: object) -> Engine:
    return Engine([open_source(make_export(path, **rows))])  # type: ignore[arg-type]


def ahead(lost: set[int], lag_ns: int) -> dict[str, list[object]]:
    """A host that runs ahead: five iterations launched 2 ms apart, each of five kernels of 2 ms
    that run back to back. ``lost`` are the kernels whose launch is not recorded."""
    kernels, calls, ranges = [], [], []
    for i in range(ITERATIONS):
        ranges.append(Range(i * 2 * MS, (i + 1) * 2 * MS - 100_000, f"iter_{i}"))
        for k in range(5):
            number = i * 5 + k
            launch, start = i * 2 * MS + k * 300_000, lag_ns + number * 2 * MS
            kernels.append(Kernel(start, start + 2 * MS, correlation=number + 1, name=f"k{k}"))
            if number not in lost:
                calls.append(Call(launch, launch + 10_000, correlation=number + 1))
    return {"kernels": kernels, "calls": calls, "ranges": ranges}


@pytest.mark.parametrize(
    "lost",
    [set(), {7, 12, 13}, {23, 24}, {4, 9, 14}],
    ids=["none", "inside", "the last", "each last"],
)
@pytest.mark.parametrize("lag_ns", [20_000, -150 * MS, 500_000 * MS])
def test_an_operation_stays_in_the_iteration_of_its_neighbours(
    lost: set[int], lag_ns: int, tmp_path: Path
) -> None:
    frame = engine(tmp_path / "run.sqlite", **ahead(lost, lag_ns)).frame("op_phase")
    of_iteration = frame.sort("op_id")["iteration_index"].to_list()
    assert of_iteration == [i for i in range(ITERATIONS) for _ in range(5)]


def test_the_operations_of_one_lost_graph_launch_stay_together(tmp_path: Path) -> None:
    """Each graph launch runs a forward and a backward node; the third launch is not recorded."""
    kernels = [
        Kernel(i * PERIOD + n * 4 * MS, i * PERIOD + n * 4 * MS + 3 * MS, i + 1, node=100 + n)
        for i in range(ITERATIONS)
        for n in range(2)
    ]
    calls = [
        Call(i * MS - 500_000, i * MS - 400_000, i + 1, name="cudaGraphLaunch_v10000")
        for i in range(ITERATIONS)
        if i != 2
    ]
    ranges = [
        Range(-100 * MS, -90 * MS, "forward"),
        Range(-80 * MS, -70 * MS, "backward"),
        *(Range(i * MS - 900_000, i * MS - 100_000, f"iter_{i}") for i in range(ITERATIONS)),
    ]
    nodes = [Node(-95 * MS, 100), Node(-75 * MS, 101)]
    run = engine(tmp_path / "run.sqlite", kernels=kernels, calls=calls, ranges=ranges, nodes=nodes)
    instances = run.frame("phase_instance").sort("phase", "start_ns")
    assert instances.select("phase", "iteration_index", "span_ns").rows() == [
        (phase, i, 3 * MS) for phase in ("backward", "forward") for i in range(ITERATIONS)
    ]


def phases(path: Path, *ranges: Range, capture_ns: int | None = None) -> Engine:
    """One kernel launched in the middle of each range, 100 ns long."""
    calls = [Call(r.start + 50, r.start + 60, n) for n, r in enumerate(ranges, 1)]
    kernels = [Kernel(c.start + 20, c.start + 30, c.correlation) for c in calls]
    return engine(path, kernels=kernels, calls=calls, ranges=ranges, capture_ns=capture_ns)


def loop(open_ranges: tuple[str, ...], end: int | None) -> list[Range]:
    """Three iterations of a forward and a backward; the named ranges got no end."""
    ranges = []
    for i in range(3):
        at = i * 1000
        for name, start, stop in (
            (f"iter_{i}", at, at + 900),
            ("forward", at + 100, at + 400),
            ("backward", at + 500, at + 800),
        ):
            lost = f"{name}@{i}" in open_ranges or name in open_ranges
            ranges.append(Range(start, end if lost else stop, name))
    return ranges


@pytest.mark.parametrize("end", [None, 5000], ids=["end missing", "end of the capture"])
@pytest.mark.parametrize(
    "lost",
    [
        ("iter_2", "backward@2"),
        ("forward@0",),
        ("forward@1", "backward@1"),
        ("iter_0",),
        ("iter_1", "forward@1"),
    ],
    ids=" ".join,
)
def test_a_range_without_an_end_swallows_nothing(
    lost: tuple[str, ...], end: int | None, tmp_path: Path
) -> None:
    run = phases(tmp_path / "run.sqlite", *loop(lost, end), capture_ns=5000)
    assert run.frame("host_range").filter("is_open").height == len(lost)
    assert run.frame("host_range").filter("is_open")["end_ns"].unique().to_list() == [5000]
    assert run.frame("iteration")["name"].to_list() == ["iter_0", "iter_1", "iter_2"]
    found = run.frame("phase_instance").filter(pl.col("phase").is_in(["forward", "backward"]))
    assert found.sort("start_ns").select("phase", "iteration_index").rows() == [
        (phase, i) for i in range(3) for phase in ("forward", "backward")
    ]
    assert found.filter("is_steady").height <= 6 - sum("@" in name for name in lost)


def test_an_end_that_no_table_tells_is_the_last_thing_that_happened(tmp_path: Path) -> None:
    run = phases(tmp_path / "run.sqlite", Range(0, None, "training"), Range(100, 300, "forward"))
    assert run.frame("host_range").filter("is_open")["end_ns"].to_list() == [300]


def test_operations_without_a_time_are_lost_and_stretch_nothing(tmp_path: Path) -> None:
    kernels = [Kernel(0, 0, 1), Kernel(1_000_100, 1_000_200, 2), Kernel(1_000_300, 1_000_400, 3)]
    calls = [Call(1_000_000, 1_000_001, n) for n in (1, 2, 3)]
    run = engine(tmp_path / "run.sqlite", kernels=kernels, calls=calls)
    assert run.frame("lost_op").rows() == [("kernel", 1)]
    assert run.frame("gpu_op")["start_ns"].min() == 1_000_100
    assert run.frame("idle_gap")["gap_ns"].to_list() == [100]
