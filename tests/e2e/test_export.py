"""What export writes: read back by our own loader, and lane by lane."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tracelens as tl
from tracelens.cli import run as run_in_process
from tracelens.reports._perfetto import GPU_PID

Event = dict[str, Any]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory, sample_traces: Path) -> dict[str, Path]:
    """Perfetto traces of the sample recordings by name."""
    folder = tmp_path_factory.mktemp("perfetto")
    paths = {name: folder / f"{name}.json" for name in ("starved", "cudagraph")}
    for name, path in paths.items():
        tl.open(sample_traces / f"{name}.sqlite").to_perfetto(path)
    return paths


def slices(path: Path) -> list[Event]:
    """Every slice of a trace."""
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return [event for event in events if event["ph"] == "X"]


def lane_names(path: Path) -> dict[tuple[int, int], str]:
    """What each lane is called."""
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}


def test_our_own_loader_reads_it_and_finds_the_same(
    exported: dict[str, Path], sample_traces: Path
) -> None:
    ours = tl.open(sample_traces / "starved.sqlite")
    back = tl.open(exported["starved"])
    columns = ["name", "kind", "instances", "total_ms"]
    assert (
        back.kernels()
        .sort(columns)
        .select(columns)
        .equals(ours.kernels().sort(columns).select(columns))
    )
    assert back.budget()["ms"].to_list() == pytest.approx(ours.budget()["ms"].to_list(), abs=1e-3)
    assert [d.id for d in back.diagnose()] == [d.id for d in ours.diagnose()]
    origin = back.operations()["start_ns"].min() - ours.operations()["start_ns"].min()  # type: ignore[operator]
    starts = (frame.operations()["start_ns"].sort() for frame in (ours, back))
    assert ((next(starts) + origin) - next(starts)).unique().to_list() == [0]


@pytest.mark.parametrize("name", ["starved", "cudagraph"])
def test_slices_of_a_lane_follow_or_hold_each_other(exported: dict[str, Path], name: str) -> None:
    lanes: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for event in slices(exported[name]):
        start = round(event["ts"] * 1000)
        span = (start, start + round(event["dur"] * 1000))
        lanes[event["pid"], event["tid"]].append(span)
    assert lanes
    for (pid, _), spans in lanes.items():
        open_ends: list[int] = []
        for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or (end <= open_ends[-1] and pid < GPU_PID)
            open_ends.append(end)


def test_each_gpu_has_lanes_of_what_tracelens_made_of_it(exported: dict[str, Path]) -> None:
    names = lane_names(exported["starved"])
    gpu = {name for (pid, _), name in names.items() if pid == GPU_PID}
    assert {"iterations", "phases", "idle", "findings", "stream 7"} <= gpu
    by_lane: dict[str, list[Event]] = defaultdict(list)
    for event in slices(exported["starved"]):
        if event["pid"] == GPU_PID:
            by_lane[names[event["pid"], event["tid"]]].append(event)
    assert [e["name"] for e in by_lane["iterations"]] == [f"iter_{i}" for i in range(8)]
    assert sum(e["name"] == "backward" for e in by_lane["phases"]) == 8
    (finding,) = by_lane["findings"]
    assert finding["args"]["finding"] == "input-starved"
    waits = [e["dur"] for e in by_lane["idle"] if e["args"]["cause"] == "input"]
    assert max(waits) > 20_000


def test_operations_in_graphs_lie_on_lanes_by_phase(
    exported: dict[str, Path], sample_traces: Path
) -> None:
    names = lane_names(exported["cudagraph"])
    counted: dict[str, int] = defaultdict(int)
    for event in slices(exported["cudagraph"]):
        if event["cat"] == "tracelens_graph":
            counted[names[event["pid"], event["tid"]].removeprefix("CUDA graph: ")] += 1
    inside = tl.open(sample_traces / "cudagraph.sqlite").graph_operations()
    told = inside.group_by("capture_phase").len()
    assert counted == dict(told.rows())
    assert {"forward", "backward", "optimizer"} <= set(counted)


def test_gz_is_gzip(sample_traces: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    tl.open(sample_traces / "starved.sqlite").to_perfetto(path)
    assert json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]


def test_tables_as_csv_and_parquet(sample_traces: Path, tmp_path: Path) -> None:
    run = sample_traces / "starved.sqlite"
    csv, parquet = tmp_path / "phases.csv", tmp_path / "kernels.parquet"
    asked = ["--csv", "phases", str(csv), "--parquet", "kernels", str(parquet)]
    assert run_in_process(["export", str(run), *asked]) == 0
    trace = tl.open(run)
    assert pl.read_parquet(parquet).equals(trace.kernels())
    back = pl.read_csv(csv)
    assert back["phase"].to_list() == trace.phases()["phase"].to_list()
    assert back["names"][0] == "backward"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say what to write"),
        (["--csv", "kernel", "a.csv"], "did you mean kernels"),
        (["--perfetto", "{run}"], "is the recording"),
    ],
)
def test_errors_say_what_to_do(
    arguments: list[str],
    words: str,
    sample_traces: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    run = str(sample_traces / "starved.sqlite")
    assert run_in_process(["export", run, *(a.format(run=run) for a in arguments)]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert len(told.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
