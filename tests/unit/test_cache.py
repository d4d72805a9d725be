"""What the cache keeps, for whom, and that nothing goes wrong with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tracelens as tl
from tests.exports import Call, Kernel, Range, make_export
from tracelens.cache import Cache, key_of
from tracelens.engine import Engine
from tracelens.loaders import open_source


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run.sqlite"
    make_export(
        path,
        kernels=[Kernel(100 * i + 10, 100 * i + 60, correlation=i) for i in range(1, 5)],
        calls=[Call(100 * i, 100 * i + 5, correlation=i) for i in range(1, 5)],
        ranges=[Range(100 * i, 100 * i + 90, f"iter_{i}") for i in range(1, 5)],
    )
    return path


def written(folder: Path) -> set[str]:
    return {p.name.split(".")[0] for p in folder.rglob("*.parquet")}


def test_cached_and_cold_reports_are_equal(sample_traces: Path, tmp_path: Path) -> None:
    trace = sample_traces / "starved.sqlite"
    cold = tl.open(trace, cache=False).report()
    first = tl.open(trace, cache=tmp_path).report()
    second = tl.open(trace, cache=tmp_path).report()
    assert written(tmp_path) > {"devices", "iterations", "budget"}
    assert cold == first == second


def test_a_cached_report_reads_no_tables(run: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    tl.open(run, cache=cache).report()
    again = tl.open(run, cache=cache)
    again.report()
    tables = again.engine.connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall()
    assert tables == [(0,)]


def test_staged_tables_are_kept_from_the_second_visit_on(run: Path, tmp_path: Path) -> None:
    names = []
    for _ in range(3):
        engine = Engine([open_source(run)], cache=Cache(tmp_path / "cache", [run]))
        engine.frames(["devices"])
        names.append(engine.frame("gpu_op").height)
        kept = {p.name for p in (tmp_path / "cache").rglob("staged.*")}
    assert names == [4, 4, 4]
    assert "staged.gpu_op.parquet" in kept


def test_another_content_is_another_folder(run: Path, tmp_path: Path) -> None:
    first = Cache(tmp_path, [run]).folder
    other = tmp_path / "other.sqlite"
    make_export(other, kernels=[Kernel(0, 1)])
    assert Cache(tmp_path, [other]).folder != first
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(run.read_bytes())
    assert Cache(tmp_path, [copy]).folder == first


def test_other_choices_are_other_frames() -> None:
    assert key_of("iter_.*") != key_of(None)


def test_a_damaged_file_is_made_again(run: Path, tmp_path: Path) -> None:
    tl.open(run, cache=tmp_path / "cache").report()
    for path in (tmp_path / "cache").rglob("*.parquet"):
        path.write_bytes(b"PAR1 cut off")
    assert tl.open(run, cache=tmp_path / "cache").report()["iterations"]["count"] == 4


def test_a_folder_that_cannot_be_made_is_done_without(run: Path, tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    assert tl.open(run, cache=in_the_way).report()["iterations"]["count"] == 4
    assert in_the_way.read_text() == "not a folder"


def test_a_writer_that_fails_leaves_nothing(run: Path, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", [run])

    def full(path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    cache.keep("frame", full)
    assert list(cache.folder.iterdir()) == []
    assert cache.frame("frame") is None


def test_an_interrupted_writer_leaves_nothing(run: Path, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", [run])

    def interrupted(path: Path) -> None:
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.keep("frame", interrupted)
    assert list(cache.folder.iterdir()) == []


def test_the_least_recently_used_goes_first(run: Path, tmp_path: Path) -> None:
    root = tmp_path / "cache"
    for age, name in enumerate(("newest", "older", "oldest")):
        (root / name).mkdir(parents=True)
        (root / name / "frame.parquet").write_bytes(bytes(100))
        os.utime(root / name, (1_000_000 - age, 1_000_000 - age))
    cache = Cache(root, [run], limit_bytes=250)
    cache.prune()
    assert {p.name for p in root.iterdir()} == {"newest", "older"}
