"""Every way in: folders, patterns, compressed files, reports of the recorder, Parquet."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exports import Call, Kernel, Range, global_pid, make_export
from parquet_export import write_parquet_export
from traces import kernel, write_trace

import tracelens as tl
from tracelens.inputs import Store, expand, localise
from tracelens.loaders import open_source
from tracelens.loaders.nsys_schema import TABLES


def export(path: Path) -> Path:
    return make_export(
        path,
        kernels=[Kernel(i * 100, i * 100 + 50, i, "gemm") for i in range(1, 9)],
        calls=[Call(i * 100 - 30, i * 100 - 20, i) for i in range(1, 9)],
        ranges=[Range(i * 100 - 40, i * 100 + 55, f"iter_{i}") for i in range(1, 9)],
    )


def zstd(content: bytes) -> bytes:
    compressed: bytes = pa.compress(content, codec="zstd", asbytes=True)
    return compressed


def numbers(trace: tl.Trace) -> dict[str, Any]:
    """A report without the names of its files and their format."""
    report = trace.report()
    report["trace"] |= {"files": None, "format": None}
    return report


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return export(tmp_path / "run.sqlite")


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".zst", zstd)])
@pytest.mark.parametrize("cache", [True, False])
def test_a_compressed_export_reads_as_the_export(
    suffix: str, pack: Any, cache: bool, database: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "packed"
    packed.mkdir()
    path = packed / f"run.sqlite{suffix}"
    path.write_bytes(pack(database.read_bytes()))
    trace = tl.open(path, cache=cache)
    assert trace.names == [str(path)]
    assert numbers(trace) == numbers(tl.open(database))
    assert list(packed.iterdir()) == [path]


def test_a_compressed_trace_is_read(tmp_path: Path) -> None:
    plain = write_trace(tmp_path / "run.pt.trace.json", [kernel(10, 5), kernel(20, 5)])
    (tmp_path / "run.pt.trace.json.zst").write_bytes(zstd(plain.read_bytes()))
    assert tl.open(tmp_path / "run.pt.trace.json.zst").report()["trace"]["counts"]["kernels"] == 2


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".zst", zstd)])
def test_a_compressed_export_that_was_cut_short(
    suffix: str, pack: Any, database: Path, tmp_path: Path
) -> None:
    path = tmp_path / f"cut.sqlite{suffix}"
    content = pack(os.urandom(50_000).join([database.read_bytes()[:5000]] * 2))
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(tl.TracelensError, match=r"cut\.sqlite"):
        tl.open(path).report()


def test_temporary_copies_go_with_the_trace(database: Path, tmp_path: Path) -> None:
    path = tmp_path / "packed.sqlite.gz"
    path.write_bytes(gzip.compress(database.read_bytes()))
    trace = tl.open(path, cache=False)
    copy = trace.files[0]
    assert copy.exists()
    del trace
    assert not copy.parent.parent.exists()


def test_a_changed_file_is_unpacked_again(database: Path, tmp_path: Path) -> None:
    path, store = tmp_path / "run.sqlite.gz", Store(tmp_path / "store")
    path.write_bytes(gzip.compress(database.read_bytes()))
    first = localise(str(path), store)
    assert localise(str(path), store) == first
    path.write_bytes(gzip.compress(database.read_bytes() + b"\0"))
    assert localise(str(path), store) != first


def test_a_store_gives_up_what_was_used_least_lately(tmp_path: Path) -> None:
    store = Store(tmp_path / "store", limit_bytes=25)
    old, recent = (store.get(key, key, lambda p: p.write_bytes(bytes(10))) for key in "ab")
    long_ago = 1_000_000_000
    os.utime(old.parent, (long_ago, long_ago))
    store.get("c", "c", lambda p: p.write_bytes(bytes(10)))
    assert not old.exists()
    assert recent.exists()


def test_what_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")

    def fail(path: Path) -> None:
        path.write_bytes(b"half")
        raise tl.TracelensError("damaged")

    with pytest.raises(tl.TracelensError, match="damaged"):
        store.get("a", "a", fail)
    assert list(store.root.iterdir()) == []


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "my run.nsys-rep"
    path.write_bytes(b"\x08\x96\x01" * 300)
    return path


def fake_nsys(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    program = folder / "nsys"
    program.write_text(f"#!{sys.executable}\nimport shutil, sys\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))


def test_a_report_is_exported_once_where_there_is_an_nsys(
    report: Path, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    copy = (
        f"open({str(log)!r}, 'a').write(' '.join(sys.argv[1:4]) + '\\n')\n"
        f"shutil.copy({str(database)!r}, sys.argv[sys.argv.index('--output') + 1])"
    )
    fake_nsys(tmp_path / "bin", copy, monkeypatch)
    before = sorted(tmp_path.iterdir())
    assert numbers(tl.open(report)) == numbers(tl.open(database))
    tl.open(report)
    assert log.read_text(encoding="utf-8").splitlines() == ["export --type sqlite"]
    assert sorted(tmp_path.iterdir()) == sorted([*before, log])


def test_an_nsys_that_is_too_old_gives_its_reason(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_nsys(tmp_path / "bin", "sys.exit('report is newer than this tool')", monkeypatch)
    with pytest.raises(tl.TracelensError, match="report is newer than this tool"):
        tl.open(report)


def test_without_nsys_the_error_gives_the_command(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(tl.TracelensError) as caught:
        tl.open(report)
    command = f"nsys export --type sqlite --output 'my run.sqlite' '{report}'"
    assert caught.value.hint.endswith(command)


def test_folders_and_patterns_stand_for_the_recordings_in_them(
    database: Path, tmp_path: Path
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    for name in ("b.sqlite.gz", "c.sqlite.zst", "c.nsys-rep", "d.nsys-rep", "e.pt.trace.json.gz"):
        (inner / name).touch()
    write_trace(inner / "f.json", [kernel(10, 5)])
    for layers in (1, 2):
        content = (inner / "f.json").read_bytes()
        for _ in range(layers):
            content = gzip.compress(content)
        (inner / f"f{layers}.json.gz").write_bytes(content)
    (inner / "run.truth.json").write_text(json.dumps({"describe": "no trace"}), encoding="utf-8")
    (inner / "notes.txt").touch()
    (inner / ".hidden.sqlite").touch()
    write_parquet_export(database, inner / "g_pqtdir")
    found = [
        "b.sqlite.gz", "c.sqlite.zst", "d.nsys-rep", "e.pt.trace.json.gz", "f.json", "f1.json.gz",
        "f2.json.gz", "g_pqtdir",
    ]  # fmt: skip
    assert [Path(name).name for name in expand([inner])] == found
    assert expand([tmp_path])[-1] == str(database)
    assert expand([f"{tmp_path}/*.sqlite"]) == [str(database)]
    assert expand([f"{tmp_path}/**/g_*"]) == [str(inner / "g_pqtdir")]


def test_a_file_named_like_a_pattern_is_itself(tmp_path: Path) -> None:
    path = export(tmp_path / "run[1].sqlite")
    export(tmp_path / "run1.sqlite")
    assert expand([path]) == [str(path)]


@pytest.mark.parametrize(
    ("name", "words"), [("*.sqlite", "no file matches"), ("", "folder without recordings")]
)
def test_nothing_there_is_said(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(tl.TracelensError, match=words):
        expand([tmp_path / name])


def test_parquet_and_sqlite_give_equal_reports(database: Path, tmp_path: Path) -> None:
    folder = write_parquet_export(database, tmp_path / "run_pqtdir")
    assert tl.open(folder).report()["trace"]["format"] == "nsys-parquet"
    assert numbers(tl.open(folder)) == numbers(tl.open(database))


def test_parquet_and_sqlite_of_recordings_give_equal_reports(
    sample_traces: Path, tmp_path: Path
) -> None:
    for name in ("cudagraph", "starved"):
        database = sample_traces / f"{name}.sqlite"
        folder = write_parquet_export(database, tmp_path / f"{name}_pqtdir")
        assert numbers(tl.open(folder)) == numbers(tl.open(database))


@pytest.mark.shared
def test_parquet_and_sqlite_of_other_recordings_give_equal_reports(
    shared: Path, tmp_path: Path
) -> None:
    traces = shared / "traces" / "nsys"
    for names in (["domains"], ["graphwhole"], ["fsdp.rank0", "fsdp.rank1"]):
        databases = [traces / f"{name}.sqlite" for name in names]
        folders = [write_parquet_export(d, tmp_path / f"{d.stem}_pqtdir") for d in databases]
        assert numbers(tl.open(*folders)) == numbers(tl.open(*databases))


def test_ids_beyond_63_bits_wrap_as_they_do_in_sqlite(database: Path, tmp_path: Path) -> None:
    folder = write_parquet_export(database, tmp_path / "run_pqtdir")
    path = folder / "CUPTI_ACTIVITY_KIND_KERNEL.parquet"
    table = pq.read_table(path, partitioning=None)
    large = pa.array([global_pid(1000) + (1 << 63)] * len(table), pa.uint64())
    place = table.column_names.index("globalPid")
    pq.write_table(table.set_column(place, "globalPid", large), path)
    loaded = open_source(folder).load(["CUPTI_ACTIVITY_KIND_KERNEL"])["CUPTI_ACTIVITY_KIND_KERNEL"]
    assert set(loaded.column("globalPid").to_pylist()) == {global_pid(1000) - (1 << 63)}


def test_a_parquet_export_without_a_table_or_column_reads_as_empty(
    database: Path, tmp_path: Path
) -> None:
    folder = write_parquet_export(database, tmp_path / "run_pqtdir")
    (folder / "NVTX_EVENTS.parquet").unlink()
    tables = open_source(folder).load(TABLES)
    assert tables["NVTX_EVENTS"].num_rows == 0
    assert tables["CUPTI_ACTIVITY_KIND_KERNEL"].column("graphNodeId").null_count == 8


@pytest.mark.parametrize("kept", [0, 40])
def test_a_damaged_parquet_file_is_named(kept: int, database: Path, tmp_path: Path) -> None:
    folder = write_parquet_export(database, tmp_path / "run_pqtdir")
    path = folder / "StringIds.parquet"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(tl.TracelensError, match=r"StringIds\.parquet is damaged"):
        tl.open(folder).report()


def test_ranks_of_a_run_in_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for rank in range(2):
        shutil.copy(export(tmp_path / "x.sqlite"), folder / f"run.rank{rank}.sqlite")
        (tmp_path / "x.sqlite").unlink()
    assert tl.open(folder).devices()["rank"].to_list() == [0, 1]
