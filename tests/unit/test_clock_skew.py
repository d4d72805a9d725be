"""Whether the clocks of host and GPU agree is told by what cannot be, and by nothing less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from exports import Call, Kernel, Range, make_export

from tracelens.engine import Engine
from tracelens.loaders import open_source

MS = 1_000_000
S = 1_000 * MS


def run(path: Path, kernels: Sequence[Kernel], calls: Sequence[Call], shift: int = 0) -> Engine:
    """An engine over these rows, the GPU's clock set off by ``shift``."""
    moved = [replace(k, start=k.start + shift, end=k.end + shift) for k in kernels]
    ranges = [Range(i * 10 * MS, (i + 1) * 10 * MS - 1, f"iter_{i}") for i in range(10)]
    export = make_export(path, kernels=moved, calls=calls, ranges=ranges)
    return Engine([open_source(export)])


def waiting_loop(wait: str | None = "cudaDeviceSynchronize") -> tuple[list[Kernel], list[Call]]:
    """Ten iterations of 10 ms: two kernels of 2 ms with 1 ms of idle between them, then, where it
    is said so, a wait that returns 20 µs after the second has ended."""
    kernels, calls = [], []
    for i in range(10):
        at, first = i * 10 * MS, 2 * i + 1
        for k in range(2):
            launch = at + k * 3 * MS
            calls.append(Call(launch, launch + 5_000, correlation=first + k))
            kernels.append(Kernel(launch + 10_000, launch + 2 * MS, correlation=first + k))
        if wait:
            calls.append(Call(at + 3 * MS + 10_000, at + 5 * MS + 20_000, 1000 + i, name=wait))
    return kernels, calls


def queued_work(count: int, each_ns: int) -> tuple[list[Kernel], list[Call]]:
    """All launched within a moment, run one after the other, then waited for."""
    calls = [Call(i * 5_000, i * 5_000 + 4_000, correlation=i + 1) for i in range(count)]
    kernels = [
        Kernel(10_000 + i * each_ns, 10_000 + (i + 1) * each_ns, correlation=i + 1)
        for i in range(count)
    ]
    end = kernels[-1].end + 20_000
    return kernels, [*calls, Call(count * 5_000, end, 9_999, name="cudaDeviceSynchronize")]


def skew(engine: Engine) -> dict[str, object]:
    return engine.frame("clock_skew").to_dicts()[0]


def test_clocks_that_agree(tmp_path: Path) -> None:
    told = skew(run(tmp_path / "run.sqlite", *waiting_loop()))
    assert told["least_delay_ns"] == 10_000
    assert (told["early_ops"], told["waits"], told["broken_waits"]) == (0, 8, 0)
    assert not told["is_skewed"]


@pytest.mark.parametrize("shift", [-150 * MS, -MS])
def test_work_before_its_launch(shift: int, tmp_path: Path) -> None:
    told = skew(run(tmp_path / "run.sqlite", *waiting_loop(), shift))
    assert (told["early_ops"], told["early_ns"]) == (20, -shift - 10_000)
    assert told["is_skewed"]


@pytest.mark.parametrize("shift", [MS, 500 * S])
def test_work_that_ends_after_the_wait_for_it(shift: int, tmp_path: Path) -> None:
    told = skew(run(tmp_path / "run.sqlite", *waiting_loop(), shift))
    assert (told["broken_waits"], told["broken_ns"]) == (8, shift - 20_000)
    assert told["is_skewed"]


def test_a_queue_deeper_than_queues_are(tmp_path: Path) -> None:
    told = skew(run(tmp_path / "run.sqlite", *waiting_loop(wait=None), 500 * S))
    assert told["waits"] == 0
    assert told["is_skewed"]


def test_a_backlog_of_seconds_is_no_skew(tmp_path: Path) -> None:
    told = skew(run(tmp_path / "run.sqlite", *queued_work(1000, 2 * MS)))
    assert not told["is_skewed"]


def test_a_backlog_of_seconds_that_the_capture_began_in_is_no_skew(tmp_path: Path) -> None:
    """What was launched before the capture is not in it, so no operation starts soon after its
    launch."""
    kernels, calls = queued_work(1000, 2 * MS)
    late = [replace(k, start=k.start + 2 * S, end=k.end + 2 * S) for k in kernels]
    told = skew(run(tmp_path / "run.sqlite", late, calls[:-1]))
    assert told["least_delay_ns"] == 2 * S + 10_000
    assert not told["is_skewed"]


def test_a_wait_in_vain_is_no_skew(tmp_path: Path) -> None:
    """One of several waits returns at once: an error, or the stream was being captured."""
    kernels, calls = waiting_loop()
    calls[2] = replace(calls[2], end=calls[2].start + 100)
    told = skew(run(tmp_path / "run.sqlite", kernels, calls))
    assert not told["is_skewed"]


def test_a_wait_for_one_of_two_devices_says_nothing_of_the_other(tmp_path: Path) -> None:
    kernels, calls = waiting_loop()
    other = [replace(k, device=1, end=k.end + 3 * MS) for k in kernels]
    told = skew(run(tmp_path / "run.sqlite", other[::2] + kernels[1::2], calls))
    assert told["waits"] == 0
    assert not told["is_skewed"]


@pytest.mark.parametrize("shift", [-150 * MS, 500 * S])
def test_gpu_side_stands_and_causes_are_withheld(shift: int, tmp_path: Path) -> None:
    right = run(tmp_path / "right.sqlite", *waiting_loop())
    skewed = run(tmp_path / "skewed.sqlite", *waiting_loop(), shift)
    lengths = ["iteration_index", "period_ns", "gap_ns", "is_steady"]
    for relation, columns in {
        "iteration_window": lengths,
        "idle_gap": ["gap_id", "gap_ns"],
        "op_phase": ["op_id", "phase", "method", "iteration_index"],
    }.items():
        # relations have no order of their own
        told, expected = (e.frame(relation).select(columns).sort(columns) for e in (skewed, right))
        assert told.equals(expected), relation
    assert set(right.frame("idle_cause")["cause"]) > {"sync"}
    causes = skewed.frame("idle_cause")
    assert set(causes["cause"]) == {"unknown"}
    assert causes["idle_ns"].sum() == right.frame("idle_gap").select(pl.col("gap_ns").sum()).item()
