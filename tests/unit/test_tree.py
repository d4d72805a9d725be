"""The tree of ranges: paths, folded names, self times, helpers' work, and processes apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from exports import PID, Call, Kernel, Range, make_export

import tracelens
from tracelens.cli import run
from tracelens.reports import _tree

AUTOGRAD, WORKER = 7, 2000


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    """Four iterations; autograd's thread launches in backward; a worker process has ranges too."""
    kernels, calls, ranges = [], [], []
    for i in range(4):
        at = 1000 * i
        launches = [(at + 110, PID), (at + 150, PID), (at + 310, AUTOGRAD), (at + 350, AUTOGRAD)]
        for number, (moment, thread) in enumerate(launches, 4 * i + 1):
            calls.append(Call(moment, moment + 5, number, thread=thread))
            kernels.append(Kernel(moment + 20, moment + 50, number))
        ranges += [
            Range(at, at + 500, f"iter_{i}"),
            Range(at + 100, at + 200, "forward"),
            Range(at + 105, at + 125, "layer_0"),
            Range(at + 140, at + 160, "layer_1"),
            Range(at + 300, at + 400, "backward"),
            Range(at + 305, at + 320, "sort", thread=AUTOGRAD, domain=1),
            Range(at + 10, at + 90, "load", pid=WORKER, thread=WORKER),
        ]
    return make_export(
        tmp_path / "run.sqlite", kernels=kernels, calls=calls, ranges=ranges, domains={1: "CCCL"}
    )


def told(nodes: list[_tree.Node], depth: int = 0) -> list[tuple]:
    """Depth, name, instances, and CPU, self CPU, GPU span, GPU busy in ns, operations, own ones."""
    rows = []
    for node in nodes:
        times = [node[m] for m in ("cpu_ms", "self_cpu_ms", "gpu_span_ms", "gpu_busy_ms")]
        ns = [round(ms * 1e6) for ms in times]
        counts = (node["operations"], node["self_operations"])
        rows.append((depth, _tree.title(node), node["instances"], *ns, *counts))
        rows += told(node["children"], depth + 1)
    return rows


def test_paths_with_their_times(trace_file: Path) -> None:
    main, worker = _tree.nested(tracelens.open(trace_file).tree())
    assert told(main["children"]) == [
        (0, "iter_#", 4, 2000, 1200, 4 * 270, 16 * 30, 16, 0),
        (1, "forward", 4, 400, 240, 4 * 70, 8 * 30, 8, 0),
        (2, "layer_#", 8, 160, 160, 8 * 30, 8 * 30, 8, 8),
        (1, "backward", 4, 400, 400, 4 * 70, 8 * 30, 8, 4),
        (2, "CCCL:sort", 4, 60, 60, 4 * 30, 4 * 30, 4, 4),
    ]
    assert told(worker["children"]) == [(0, "load", 4, 320, 320, 0, 0, 0, 0)]
    assert (main["is_main"], worker["is_main"]) == (True, False)


def test_depth_and_domain(trace_file: Path) -> None:
    frame = tracelens.open(trace_file).tree()
    shallow = _tree.nested(frame, depth=1)
    assert [node["name"] for node in shallow[0]["children"]] == ["iter_#"]
    assert shallow[0]["children"][0]["children"] == []
    (library,) = _tree.nested(frame, domains=["CCCL"])
    assert [node["name"] for node in library["children"]] == ["sort"]


def test_a_name_that_is_always_the_same_is_not_folded(tmp_path: Path) -> None:
    ranges = [Range(0, 10, "block_7"), Range(20, 30, "block_7")]
    path = make_export(tmp_path / "run.sqlite", ranges=ranges)
    assert tracelens.open(path).tree()["name"].to_list() == ["block_7"]


def test_open_ranges_are_counted(tmp_path: Path) -> None:
    ranges = [Range(0, None, "epoch"), Range(10, 20, "step")]
    path = make_export(tmp_path / "run.sqlite", ranges=ranges)
    frame = tracelens.open(path).tree()
    assert frame.select("name", "open_instances").rows() == [("epoch", 1), ("step", 0)]


def test_text_at_80_columns(trace_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tree", str(trace_file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("├─ forward") for line in lines)
    assert any("process 1, no GPU work" in line for line in lines)


def test_json_holds_the_same(trace_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tree", str(trace_file), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == "tracelens-tree/1"
    assert answer["children"] == _tree.nested(tracelens.open(trace_file).tree())


def test_flame_is_as_wide_as_its_children(
    trace_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tree", str(trace_file), "--format", "flame"]) == 0
    pending = [json.loads(capsys.readouterr().out)]
    seen = []
    while pending:
        node = pending.pop()
        seen.append(node["name"])
        assert node["value"] >= sum(child["value"] for child in node["children"])
        pending += node["children"]
    assert {"run", "iter_#", "forward", "layer_#", "backward", "CCCL:sort"} <= set(seen)


def test_a_thousand_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranges = [Range(i, 3000 - i, f"level {chr(97 + i % 26)}") for i in range(1000)]
    path = make_export(
        tmp_path / "run.sqlite",
        ranges=ranges,
        calls=[Call(1200, 1210, 1)],
        kernels=[Kernel(1300, 1400, 1)],
    )
    frame = tracelens.open(path).tree()
    assert frame["depth"].to_list() == list(range(1000))
    assert frame["operations"].to_list() == [1] * 1000
    assert frame["self_operations"].to_list() == [0] * 999 + [1]
    assert run(["tree", str(path), "--format", "flame"]) == 0
    assert capsys.readouterr().out.count('"value"') == 1002


def test_without_ranges_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make_export(tmp_path / "run.sqlite", kernels=[Kernel(0, 10)])
    assert run(["tree", str(path)]) == 0
    assert "No nested ranges" in capsys.readouterr().out
