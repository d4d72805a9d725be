"""What `info` tells: an export counted where it lies says what the staged relations say."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from exports import Call, Copy, Kernel, Mark, Memset, Node, Range, make_export

from tracelens.contents import KINDS, missing, staged
from tracelens.engine import Engine
from tracelens.loaders import nsys_contents, open_source
from tracelens.loaders.contents import Contents, RecordedDevice

HEAVY = ("duckdb", "polars", "pyarrow", "connectorx", "numpy")


def counted(path: Path) -> Contents:
    found = open_source(path).contents()
    assert found is not None
    return found


def of_staging(path: Path) -> Contents:
    return staged(Engine([open_source(path)]))


def lacks(found: Contents) -> list[str]:
    return [kind.what for kind in missing(found, is_torch=False)]


def same(one: Contents, other: Contents) -> None:
    assert dict(one.rows) == dict(other.rows)
    assert (one.start_ns, one.end_ns) == (other.start_ns, other.end_ns)
    assert one.devices == other.devices
    assert lacks(one) == lacks(other)


def varied(path: Path) -> Path:
    """Two processes, three devices, marks, an open range, graphs, lost and misplaced operations."""
    return make_export(
        path,
        kernels=[
            *(Kernel(100 * i, 100 * i + 50, i) for i in range(1, 40)),
            *(Kernel(100 * i, 100 * i + 60, device=1) for i in range(5)),
            *(Kernel(5 * i, 5 * i + 9, pid=2000, stream=3) for i in range(3)),
            Kernel(0, 0),
            Kernel(-70, -20),
            Kernel(900, 800),
            Kernel(10, 1 << 62),
        ],
        copies=[Copy(7, 9), Copy(0, 0)],
        memsets=[Memset(0, 5)],
        calls=[Call(-90, 10), Call(60, 20), Call(30, 4000, name="cudaGraphLaunch_v10000")],
        ranges=[
            *(Range(10 * i, 10 * i + 8, f"iter_{i}") for i in range(30)),
            Range(3990, None, "open"),
            Range(5, 3000, "ours", style="start_end"),
        ],
        marks=[Mark(-95, "early"), Mark(6500, "late")],
        nodes=[Node(-50, 1)],
        domains={2: "NCCL"},
        capture_ns=7000,
        sql=[
            "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT)",
            f"INSERT INTO PROCESSES VALUES ({1000 << 24}, 1000, '/usr/bin/python3'),"
            f" ({2000 << 24}, 2000, 'C:\\bin\\worker.exe')",
            "CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER)",
            f"INSERT INTO MPI_RANKS VALUES ({(1000 << 24) | 1}, 4), ({(2000 << 24) | 1}, 5)",
            "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, cuDevice INTEGER)",
            "INSERT INTO TARGET_INFO_GPU VALUES (0, 'first', 0), (1, 'second', 1)",
            "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER)",
            "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 0, 2000)",
        ],
    )


def test_counted_where_it_lies_as_staging_counts_it(tmp_path: Path) -> None:
    found = counted(varied(tmp_path / "run.sqlite"))
    same(found, of_staging(tmp_path / "run.sqlite"))
    assert {kind: rows for kind, rows in found.rows.items() if rows} == {
        "kernels": 49, "memory copies": 1, "memsets": 1, "records without a time": 3,
        "CUDA calls": 3, "ranges": 32, "marks": 2, "nodes of CUDA graphs": 1, "physical GPUs": 2,
    }  # fmt: skip
    assert (found.start_ns, found.end_ns) == (-95, 7000)
    assert found.devices == (
        RecordedDevice("python3", 0, 4, "first", 43),
        RecordedDevice("python3", 1, 4, "second", 5),
        RecordedDevice("worker.exe", 0, 5, "second", 3),
    )


@pytest.mark.parametrize("rows", [1, 7])
def test_counted_in_parts(tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    path = varied(tmp_path / "run.sqlite")
    whole = counted(path)
    monkeypatch.setattr(nsys_contents, "_PART_ROWS", rows)
    same(counted(path), whole)


def test_rows_with_numbers_far_apart_are_counted_once(tmp_path: Path) -> None:
    path = make_export(
        tmp_path / "run.sqlite",
        kernels=[Kernel(10 * i, 10 * i + 5) for i in range(1, 9)],
        sql=[f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET rowid = {2**62} WHERE rowid = 3"],
    )
    assert counted(path).rows["kernels"] == 8


@pytest.mark.parametrize("name", ["starved", "fsdp.rank0", "graphwhole", "nonvtx", "domains"])
def test_recordings_are_counted_as_staging_counts_them(name: str, shared: Path) -> None:
    path = shared / "traces" / "nsys" / f"{name}.sqlite"
    same(counted(path), of_staging(path))


def test_rows_without_numbers_are_counted(tmp_path: Path) -> None:
    path = varied(tmp_path / "run.sqlite")
    table = "CUPTI_ACTIVITY_KIND_RUNTIME"
    with closing(sqlite3.connect(path)) as db, db:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        rows = db.execute(f"SELECT * FROM {table}").fetchall()
        db.execute(f"DROP TABLE {table}")
        typed = ", ".join(f'"{name}" INTEGER' for name in columns)
        db.execute(f"CREATE TABLE {table} (key INTEGER PRIMARY KEY, {typed}) WITHOUT ROWID")
        marks = ", ".join("?" * (len(columns) + 1))
        db.executemany(
            f"INSERT INTO {table} VALUES ({marks})", [(n, *row) for n, row in enumerate(rows)]
        )
    same(counted(path), of_staging(path))


def test_an_export_with_nothing_in_it(tmp_path: Path) -> None:
    found = counted(make_export(tmp_path / "run.sqlite"))
    assert not any(found.rows.values())
    assert (found.start_ns, found.devices) == (None, ())
    assert "kernels" in lacks(found)


@pytest.mark.parametrize(
    ("streams", "names", "expected"),
    [
        ([7, 7], ["cudaLaunchKernel"], []),
        ([7, 9], ["cudaLaunchKernel"], ["waits between streams"]),
        ([7, 7], ["cudaGraphLaunch_v10000"], ["nodes of CUDA graphs"]),
    ],
)
def test_missed_only_where_something_needs_it(
    tmp_path: Path, streams: list[int], names: list[str], expected: list[str]
) -> None:
    path = make_export(
        tmp_path / "run.sqlite",
        kernels=[Kernel(10, 20, stream=stream) for stream in streams],
        calls=[Call(1, 2, name=name) for name in names],
        ranges=[Range(0, 30, "forward")],
    )
    found = counted(path)
    same(found, of_staging(path))
    always = {"operating system calls", "device memory allocations", "physical GPUs"}
    assert [what for what in lacks(found) if what not in always] == expected


def test_one_of_a_kind_is_not_many() -> None:
    kinds = {kind.what: kind for kind in KINDS}
    assert kinds["physical GPUs"].named(1) == "physical GPU"
    assert kinds["physical GPUs"].named(2) == "physical GPUs"
    assert kinds["memory copies"].named(1) == "memory copy"
    assert kinds["nodes of CUDA graphs"].named(1) == "node of CUDA graphs"
    assert kinds["profiler overhead"].named(3) == "profiler overhead"


def test_info_of_an_export_imports_no_library_of_tables(sample_traces: Path) -> None:
    code = (
        "import sys; from tracelens.cli import run; assert run(sys.argv[1:]) == 0;"
        f"print([m for m in {HEAVY} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "info", sample_traces / "starved.sqlite"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "3,152  kernels" in done.stdout
    assert done.stderr.strip() == "[]"
