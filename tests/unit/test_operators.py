"""What operators cost, and device memory by iteration, on calls that a reader can add up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from exports import Call, Kernel, Range, make_export
from traces import PID, host, kernel, write_trace

import tracelens as tl

# aten::linear   [0 .................. 100]      aten::relu [110 .. 130]
#   aten::addmm      [20 ...... 60]
#     launch             [30]           [70]                  [120]
#     GPU time            50             10                     5
OPERATORS = [("aten::linear", 0, 100), ("aten::addmm", 20, 60), ("aten::relu", 110, 130)]
LAUNCHES = [(1, 30, 50), (2, 70, 10), (3, 120, 5)]
EXPECTED = [
    # name, calls, cpu_ms, self_cpu_ms, gpu_ms, self_gpu_ms, operations
    ("aten::addmm", 1, 0.04, 0.04, 0.05, 0.05, 1),
    ("aten::linear", 1, 0.1, 0.06, 0.06, 0.01, 2),
    ("aten::relu", 1, 0.02, 0.02, 0.005, 0.005, 1),
]


def torch_trace(path: Path) -> Path:
    events = [host("cpu_op", start, end - start, name) for name, start, end in OPERATORS]
    for number, at, length in LAUNCHES:
        events += [
            host("cuda_runtime", at, 2, "cudaLaunchKernel", correlation=number),
            kernel(200 + 100 * number, length, correlation=number),
        ]
    return write_trace(path, events)


def emitted_export(path: Path) -> Path:
    def us(value: int) -> int:
        return value * 1000

    return make_export(
        path,
        ranges=[
            Range(us(start), us(end), f"{name}, op_id = {number}, sizes = [[2, 3]]")
            for number, (name, start, end) in enumerate(OPERATORS)
        ],
        calls=[Call(us(at), us(at + 2), correlation=number) for number, at, _ in LAUNCHES],
        kernels=[
            Kernel(us(200 + 100 * number), us(200 + 100 * number + length), correlation=number)
            for number, _, length in LAUNCHES
        ],
    )


def costs(trace: tl.Trace) -> list[tuple[Any, ...]]:
    return [
        (name, calls, *(pytest.approx(value) for value in times), operations)
        for name, calls, *times, operations in trace.operators()
        .drop("shapes", "backward_ms")
        .rows()
    ]


@pytest.mark.parametrize("make", [torch_trace, emitted_export])
def test_time_goes_to_the_innermost_operator(tmp_path: Path, make: Any) -> None:
    assert costs(tl.open(make(tmp_path / "run"))) == EXPECTED


AUTOGRAD = 7
# name, start, end, sequence number, thread. On the calling thread:
#   aten::contiguous 1   makes no node of autograd's graph: shows the number that the next one gets
#   aten::linear 1 > aten::to 1    two calls that share a number: the outer one counts
#                  > aten::addmm 2
# and on autograd's, last to first, each node with its kernel: 30 us for 2, 7 us for 1.
NUMBERED = [
    ("aten::contiguous", 0, 10, 1, PID),
    ("aten::linear", 20, 100, 1, PID),
    ("aten::to", 30, 40, 1, PID),
    ("aten::addmm", 50, 60, 2, PID),
    ("autograd::engine::evaluate_function: AddmmBackward0", 200, 250, None, AUTOGRAD),
    ("AddmmBackward0", 210, 240, 2, AUTOGRAD),
    ("aten::mm", 215, 235, None, AUTOGRAD),
    ("ToCopyBackward0", 260, 280, 1, AUTOGRAD),
]
BACKWARD_LAUNCHES = [(1, 220, 30), (2, 270, 7)]


def numbered_torch_trace(path: Path) -> Path:
    events = []
    for name, start, end, number, thread in NUMBERED:
        args = {} if number is None else {"Sequence_number": number}
        args |= {"Fwd_thread_id": 1 if thread == AUTOGRAD and number else 0}
        events.append(host("cpu_op", start, end - start, name, tid=thread, **args))
    for number, at, length in BACKWARD_LAUNCHES:
        events += [
            host("cuda_runtime", at, 2, "cudaLaunchKernel", tid=AUTOGRAD, correlation=number),
            kernel(200 + 100 * number, length, correlation=number),
        ]
    return write_trace(path, events)


def numbered_export(path: Path, seq: str) -> Path:
    def named(name: str, number: int | None, thread: int) -> str:
        stashed = seq if thread == AUTOGRAD else ", seq = "
        return f"{name}{'' if number is None else stashed + str(number)}, op_id = 5"

    return make_export(
        path,
        ranges=[
            Range(1000 * start, 1000 * end, named(name, number, thread), thread=thread)
            for name, start, end, number, thread in NUMBERED
        ],
        calls=[
            Call(1000 * at, 1000 * at + 2000, number, thread=AUTOGRAD)
            for number, at, _ in BACKWARD_LAUNCHES
        ],
        kernels=[
            Kernel(1000 * (200 + 100 * number), 1000 * (200 + 100 * number + length), number)
            for number, _, length in BACKWARD_LAUNCHES
        ],
    )


@pytest.mark.parametrize("seq", ["kineto", ", seq = ", ", stashed seq = ", ", stashed seq="])
def test_each_operator_finds_its_backward(tmp_path: Path, seq: str) -> None:
    path = tmp_path / "run"
    made = numbered_torch_trace(path) if seq == "kineto" else numbered_export(path, seq)
    frame = tl.open(made).operators()
    found = {row["name"]: row["backward_ms"] for row in frame.to_dicts() if row["backward_ms"]}
    assert found == {"aten::addmm": pytest.approx(0.03), "aten::linear": pytest.approx(0.007)}


def test_emitted_shapes_are_those_of_torch_profiler(tmp_path: Path) -> None:
    events = [host("cpu_op", 0, 9, "aten::mm", Input_Dims=[[2, 3]])]
    torch = tl.open(write_trace(tmp_path / "trace.json", [*events, kernel(1, 1)]))
    nsys = tl.open(emitted_export(tmp_path / "run.sqlite"))
    assert torch.operators(by_shapes=True)["input_shapes"].to_list() == ["[[2,3]]"]
    assert set(nsys.operators(by_shapes=True)["input_shapes"]) == {"[[2,3]]"}


def test_shapes_are_told_apart(tmp_path: Path) -> None:
    dims = [[[2, 3]], [[4, 5]], [[4, 5]], None]
    events = [host("cpu_op", 10 * i, 5, "aten::mm", Input_Dims=d) for i, d in enumerate(dims)]
    trace = tl.open(write_trace(tmp_path / "trace.json", [*events, kernel(1, 1)]))
    by_shapes = trace.operators(by_shapes=True).select("input_shapes", "calls").rows()
    assert sorted(by_shapes, key=str) == [("[[2,3]]", 1), ("[[4,5]]", 2), (None, 1)]
    assert trace.operators().select("calls", "shapes").rows() == [(4, 2)]


def test_call_within_its_own_kind_counts_once(tmp_path: Path) -> None:
    events = [host("cpu_op", 0, 100, "aten::to"), host("cpu_op", 10, 50, "aten::to"), kernel(1, 1)]
    trace = tl.open(write_trace(tmp_path / "trace.json", events))
    assert trace.operators().select("calls", "cpu_ms", "self_cpu_ms").rows() == [(2, 0.1, 0.1)]


def test_operators_that_cross_lose_no_time(tmp_path: Path) -> None:
    events = [host("cpu_op", 0, 60, "a"), host("cpu_op", 40, 60, "b"), kernel(1, 1)]
    trace = tl.open(write_trace(tmp_path / "trace.json", events))
    assert trace.operators()["self_cpu_ms"].sum() == pytest.approx(0.1)


def memory_event(ts: int, number: int, held: int | None = None) -> dict[str, Any]:
    totals = {} if held is None else {"Total Allocated": held, "Total Reserved": 8_000_000}
    args = {"Bytes": number, "Addr": 64, "Device Id": 0, "Device Type": 1} | totals
    where = {"ph": "i", "pid": PID, "tid": PID, "ts": ts}
    return {"cat": "cpu_instant_event", "name": "[memory]", **where, "args": args}


def iterations(count: int) -> list[dict[str, Any]]:
    events = []
    for i in range(count):
        at = 1000 * i
        events += [
            host("user_annotation", at, 900, f"ProfilerStep#{i}"),
            host("cuda_runtime", at + 10, 2, "cudaLaunchKernel", correlation=i + 1),
            kernel(at + 20, 500, correlation=i + 1),
        ]
    return events


def test_memory_by_iteration(tmp_path: Path) -> None:
    events = iterations(3)
    for i in range(3):  # each takes 3 MB, gives back 2, and keeps one
        at, held = 1000 * i, 5_000_000 + 1_000_000 * i
        events += [
            memory_event(at + 100, 3_000_000, held + 3_000_000),
            memory_event(at + 200, -2_000_000, held + 1_000_000),
        ]
    trace = tl.open(write_trace(tmp_path / "trace.json", events))
    columns = ("iteration_index", "allocations", "allocated_mb", "peak_mb", "held_mb", "growth_mb")
    assert trace.memory().select(columns).rows() == [
        (0, 1, 3.0, 8.0, 6.0, None),
        (1, 1, 3.0, 9.0, 7.0, 1.0),
        (2, 1, 3.0, 10.0, 8.0, 1.0),
    ]
    [row] = trace.engine.frame("memory_use").rows(named=True)
    assert row["peak_bytes"] == 10_000_000
    assert row["peak_reserved_bytes"] == 8_000_000
    assert row["growth_bytes_per_iteration"] == 1_000_000
    assert row["is_absolute"]


def test_memory_without_totals_is_relative(tmp_path: Path) -> None:
    events = [
        *iterations(3),
        memory_event(100, 512),
        memory_event(150, -512),
        memory_event(1100, 64),
    ]
    trace = tl.open(write_trace(tmp_path / "trace.json", events))
    columns = ("iteration_index", "peak_mb", "held_mb", "is_absolute")
    assert trace.memory().select(columns).rows() == [
        (0, 512 / 1e6, 0.0, False),
        (1, 64 / 1e6, 64 / 1e6, False),
    ]
