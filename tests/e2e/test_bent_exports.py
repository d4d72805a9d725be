"""A small run as other exporters and other captures write it: what must come out the same, what is
withheld. The kinds of ``test_mutations``, built by hand, so that they run everywhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from exports import PID, Call, Kernel, Range, make_export

import tracelens

MS = 1_000_000
OTHER = 2000
KERNELS, CALLS, RANGES = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"

Report = dict[str, Any]


def rows(pid: int = PID, shift: int = 0, registered: bool = False) -> dict[str, list[Any]]:
    """Five iterations of 10 ms that wait 4 ms for their batch: forward, backward launched by
    another thread, optimizer."""
    kernels: list[Kernel] = []
    calls: list[Call] = []
    ranges: list[Range] = []
    for i in range(5):
        at = i * 10 * MS
        ranges.append(Range(at, at + 10 * MS - 1, f"iter_{i}", thread=pid, pid=pid))
        ranges.append(Range(at, at + 4 * MS, "data", thread=pid, pid=pid))
        for k, (name, thread) in enumerate(
            [("forward", pid), ("backward", pid + 1), ("optimizer", pid)]
        ):
            start, number = at + (4 + 2 * k) * MS, i * 3 + k + 1
            ranges.append(Range(start, start + MS, name, thread=pid, pid=pid))
            calls.append(Call(start + 1000, start + 6000, number, thread=thread, pid=pid))
            launched = start + 10_000 + shift
            kernels.append(Kernel(launched, launched + 2 * MS - 10_000, number, name=name, pid=pid))
    calls.append(
        Call(48 * MS + 10_000, 50 * MS + 20_000, 99, "cudaDeviceSynchronize", thread=pid, pid=pid)
    )
    ranges = [replace(r, registered=registered) for r in ranges]
    return {"kernels": kernels, "calls": calls, "ranges": ranges}


def both(*runs: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: [row for run in runs for row in run[name]] for name in runs[0]}


def report(path: Path, sql: tuple[str, ...] = (), **given: list[Any]) -> Report:
    made = make_export(path, capture_ns=60 * MS, sql=sql, **(given or rows()))
    told = tracelens.open(made, cache=False).report()
    del told["trace"]["files"], told["trace"]["producer"]
    return told


@pytest.fixture
def plain(tmp_path: Path) -> Report:
    told = report(tmp_path / "plain.sqlite")
    assert [d["id"] for d in told["diagnoses"]][:1] == ["input-starved"]
    assert (told["iterations"]["count"], told["coverage"]["attribution"]["cross_thread"]) == (5, 5)
    return told


def codes(told: Report) -> set[str]:
    return {warning["code"] for warning in told["coverage"]["warnings"]}


@pytest.mark.parametrize(
    "sql",
    [
        ("DROP TABLE META_DATA_EXPORT", f"ALTER TABLE {KERNELS} DROP COLUMN graphNodeId"),
        ("ALTER TABLE META_DATA_EXPORT RENAME TO EXPORT_META_DATA",),
        (
            f"ALTER TABLE {KERNELS} ADD COLUMN clusterX INTEGER",
            f"ALTER TABLE {RANGES} ADD COLUMN binaryData TEXT",
            "CREATE TABLE CUDA_GRAPH_EVENTS (start, end, globalTid, graphId, originalGraphId)",
        ),
        tuple(f"ALTER TABLE {t} RENAME TO {t}_V2" for t in (KERNELS, CALLS, RANGES)),
    ],
    ids=["2020", "2022", "2026", "tables with a suffix"],
)
def test_another_versions_schema(sql: tuple[str, ...], plain: Report, tmp_path: Path) -> None:
    assert report(tmp_path / "bent.sqlite", sql) == plain


def test_names_as_registered_strings(plain: Report, tmp_path: Path) -> None:
    assert report(tmp_path / "bent.sqlite", **rows(registered=True)) == plain


@pytest.mark.parametrize("shift", [-150 * MS, 500_000 * MS])
def test_a_gpu_clock_that_is_off(shift: int, plain: Report, tmp_path: Path) -> None:
    bent = report(tmp_path / "bent.sqlite", **rows(shift=shift))
    assert "clock-skew" in codes(bent)
    for key in ("period_ms", "gap_ms"):
        assert bent["iterations"][key] == plain["iterations"][key]
    assert [(p["phase"], p["gpu_span_ms"], p["gpu_busy_ms"]) for p in bent["phases"]] == [
        (p["phase"], p["gpu_span_ms"], p["gpu_busy_ms"]) for p in plain["phases"]
    ]
    assert bent["trace"]["devices"] == plain["trace"]["devices"]
    assert {p.get("cause") for b in bent["budget"] for p in b["parts"]} == {None, "unknown"}
    assert "input-starved" in {n["id"] for n in bent["not_checked"]}


def test_a_second_process_with_the_same_ids(plain: Report, tmp_path: Path) -> None:
    bent = report(tmp_path / "bent.sqlite", **both(rows(), rows(pid=OTHER)))
    for name, count in plain["trace"]["counts"].items():
        assert bent["trace"]["counts"][name] == 2 * count
    assert len(bent["trace"]["devices"]) == 2
    assert bent["iterations"]["count"] == plain["iterations"]["count"]
    assert bent["iterations"]["period_ms"]["median"] == plain["iterations"]["period_ms"]["median"]
    assert sum(bent["coverage"]["attribution"].values()) == 30
    assert {d["id"] for d in bent["diagnoses"]} == {d["id"] for d in plain["diagnoses"]}


def test_no_work_on_the_gpu(tmp_path: Path) -> None:
    bent = report(tmp_path / "bent.sqlite", (f"DROP TABLE {KERNELS}",))
    assert "lost-kernels" in codes(bent)
    assert bent["trace"]["devices"] == bent["diagnoses"] == []


def test_no_ranges(plain: Report, tmp_path: Path) -> None:
    bent = report(tmp_path / "bent.sqlite", (f"DROP TABLE {RANGES}",))
    assert "no-nvtx" in codes(bent)
    assert bent["iterations"]["count"] == 5
    assert bent["trace"]["devices"] == plain["trace"]["devices"]


def test_no_calls(plain: Report, tmp_path: Path) -> None:
    bent = report(tmp_path / "bent.sqlite", (f"DROP TABLE {CALLS}",))
    assert "unlinked-operations" in codes(bent)
    assert bent["coverage"]["unlinked"] == 15
    assert bent["trace"]["devices"] == plain["trace"]["devices"]
    assert "input-starved" not in {d["id"] for d in bent["diagnoses"]}


def test_lost_calls(plain: Report, tmp_path: Path) -> None:
    bent = report(tmp_path / "bent.sqlite", (f"DELETE FROM {CALLS} WHERE correlationId % 4 = 0",))
    assert "unlinked-operations" in codes(bent)
    assert bent["trace"]["devices"] == plain["trace"]["devices"]
    assert bent["iterations"]["period_ms"] == plain["iterations"]["period_ms"]


def test_kernels_without_a_time(tmp_path: Path) -> None:
    lost = f"UPDATE {KERNELS} SET start = 0, end = 0 WHERE correlationId = 1"
    bent = report(tmp_path / "bent.sqlite", (lost,))
    assert "lost-kernels" in codes(bent)
    assert bent["trace"]["counts"]["kernels"] == 14
