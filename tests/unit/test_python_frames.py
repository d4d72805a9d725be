"""Which Python code held the host, from stacks that a reader can follow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from traces import Event, host, kernel, write_trace

import tracelens
from tracelens.engine import Engine
from tracelens.loaders import open_source
from tracelens.steps import _python

STALL_US = 4_000


def code(at: float, dur: float, name: str, tid: int = 1000) -> Event:
    return host("python_function", at, dur, name, tid=tid)


def stalled(path: Path, frames: bool = True) -> Path:
    """Six steps of 10 ms, each with a silence of 4 ms in ``metric``, called by ``step``."""
    events: list[Event] = []
    for i in range(6):
        at = 10_000 * i
        launches = [at + 100 + 20 * j for j in range(100)]
        launches += [at + 2_200 + STALL_US + 20 * j for j in range(100)]
        events.append(host("user_annotation", at, 9_990, f"ProfilerStep#{i}"))
        events.append(host("user_annotation", at + 10, 9_900, "forward"))
        for j, begin in enumerate(launches):
            number = 1000 * i + j + 1
            events.append(host("cuda_runtime", begin, 5, "cudaLaunchKernel", correlation=number))
            events.append(kernel(begin + 6, 12, correlation=number))
        events += [
            code(at, 9_995, "/home/a/train.py(12): step"),
            code(at + 90, 2_000, "/home/a/lib/model.py(7): forward"),
            code(at + 2_120, STALL_US - 100, "/home/a/lib/metric.py(88): metric"),
            code(at + 2_130, 100, "/home/a/lib/metric.py(90): short"),
            code(at + 2_300, STALL_US - 400, "<built-in method sort of list object at 0x7f12>"),
            code(at + 2_300, STALL_US - 400, "/home/b/worker.py(3): wait", tid=77),
        ]
    return write_trace(path, [e for e in events if frames or e["cat"] != "python_function"])


def test_a_silence_names_the_innermost_code_still_open(tmp_path: Path) -> None:
    engine = Engine([open_source(stalled(tmp_path / "trace.json"))])
    silence_us = (pl.col("end_ns") - pl.col("start_ns")) // 1000
    pauses = engine.frame("host_pause").filter(pl.col("cause") == "host")
    assert pauses.group_by(silence_us >= STALL_US).agg(pl.col("python_frame").unique()).sort(
        "end_ns"
    )["python_frame"].to_list() == [["train.py(12): step"], ["metric.py(88): metric"]]


def test_the_finding_shows_the_line_without_its_folders(tmp_path: Path) -> None:
    report = tracelens.open(stalled(tmp_path / "trace.json")).report()
    assert evidence(report)["python_frame"] == "metric.py(88): metric"
    assert (
        "Python frame with most of that time: metric.py(88): metric."
        in report["diagnoses"][0]["explanation"]
    )
    assert "/home/a" not in json.dumps(report)


def test_without_stacks_the_finding_is_the_same_but_for_the_line(tmp_path: Path) -> None:
    with_stacks = evidence(tracelens.open(stalled(tmp_path / "with.json")).report())
    without = evidence(tracelens.open(stalled(tmp_path / "trace.json", frames=False)).report())
    assert with_stacks == without | {"python_frame": "metric.py(88): metric"}


def evidence(report: dict[str, Any]) -> dict[str, Any]:
    """Names and values of what the finding of the stall rests on."""
    stall = next(f for f in report["diagnoses"] if f["id"] == "host-stall")
    return {e["name"]: e["value"] for e in stall["evidence"]}


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "expected"),
    [
        (0, 10, "a.py(1): outer"),
        (40, 60, "a.py(2): inner"),
        (170, 190, "a.py(1): outer"),  # 100 calls that returned lie between
        (2_000, 2_100, None),
    ],
)
def test_calls_that_returned_are_not_open(start_ns: int, end_ns: int, expected: str | None) -> None:
    rows = [("C:\\x\\a.py(1): outer", 0, 1000), ("/x/a.py(2): inner", 45, 60)]
    rows += [("/x/a.py(3): leaf", 61 + i, 62 + i) for i in range(100)]
    frames = pl.DataFrame(
        [(7, *row) for row in rows],
        schema=["thread_id", "name", "start_ns", "end_ns"],
        orient="row",
    )
    pauses = pl.DataFrame({"thread_id": [7], "start_ns": [start_ns], "end_ns": [end_ns]})
    found = _python.with_frames(pauses, _python.code_frames(frames))
    assert found["python_frame"].to_list() == [expected]
