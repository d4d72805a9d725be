"""A batch on a Dask cluster: a real scheduler and two workers on loopback, one of them killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from runfiles import write_run

from tracelens.batch import run_batch
from tracelens.batch._schema import TABLES
from tracelens.errors import TracelensError

pytest.importorskip("distributed")
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def running(module: str, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", f"distributed.cli.{module}", *map(str, arguments)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    where = tmp_path / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", where)
    with running("dask_scheduler", *options):
        deadline = time.monotonic() + 60
        while not where.exists() or not where.read_text(encoding="utf-8").strip():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield json.loads(where.read_text(encoding="utf-8"))["address"]


def facts(archive: Path, table: str) -> pl.DataFrame:
    """A table without what differs from one time to the next."""
    frame = pl.read_parquet(f"{archive}/{table}/*.parquet")
    frame = frame.drop("analysed_at", "analysis_s", strict=False)
    return frame.sort([c for c in frame.columns if not frame[c].dtype.is_nested()])


def test_a_worker_that_is_killed_changes_no_result(scheduler: str, tmp_path: Path) -> None:
    profiles = tmp_path / "profiles"
    for i in range(6):
        write_run(profiles / f"run{i}.sqlite", kernel_us=300 + i)
    (profiles / "bad.sqlite").write_bytes(b"")
    options = ("--no-nanny", "--nthreads", 1, "--no-dashboard", "--host", "127.0.0.1")
    worker = ("dask_worker", scheduler, *options)
    with running(*worker) as one, running(*worker):

        def kill_one(done: int, whole: int, name: str) -> None:
            if done == 1:
                one.kill()

        run_batch([profiles], tmp_path / "cluster", dask=scheduler, told=kill_one)
        assert one.wait(timeout=60) < 0
    local = run_batch([profiles], tmp_path / "local", jobs=1)
    assert local.analysed == 7
    for table in TABLES:
        assert_frame_equal(facts(tmp_path / "cluster", table), facts(tmp_path / "local", table))
    # and what the one analysed, the other need not
    assert run_batch([profiles], tmp_path / "cluster", jobs=1).unchanged == 7


def test_a_scheduler_without_workers_is_refused(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracelens.batch._cluster._CONNECT_SECONDS", 0.5)
    run = write_run(tmp_path / "run.sqlite")
    with pytest.raises(TracelensError, match="no worker"):
        run_batch([run], tmp_path / "archive", dask=scheduler)


def test_no_scheduler_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracelens.batch._cluster._CONNECT_SECONDS", 0.5)
    run = write_run(tmp_path / "run.sqlite")
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(TracelensError, match="no Dask scheduler answers"):
            run_batch([run], tmp_path / "archive", dask=address)


def test_without_distributed_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    run = write_run(tmp_path / "run.sqlite")
    with pytest.raises(TracelensError, match=r"tracelens-gpu\[cluster\]"):
        run_batch([run], tmp_path / "archive", dask="tcp://127.0.0.1:9")
