"""Archives of runs: analysed once each, whatever happens meanwhile."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest
from runfiles import write_run

from tracelens.batch import Summary, _local, _plan, run_batch
from tracelens.batch._parts import Parts
from tracelens.batch._schema import TABLES
from tracelens.errors import TracelensError
from tracelens.options import Options


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Summary]:
    """A folder of three files, two of them ranks of one run, one damaged; its archive."""
    root = tmp_path_factory.mktemp("first")
    for rank in range(2):
        write_run(root / "profiles" / f"job.rank{rank}.sqlite", utc_s=1_700_000_000)
    (root / "profiles" / "bad.sqlite").write_bytes(b"")
    return (
        root / "profiles",
        root / "archive",
        run_batch([root / "profiles"], root / "archive", jobs=2),
    )


@pytest.fixture
def archived(first: tuple[Path, Path, Summary], tmp_path: Path) -> tuple[Path, Path]:
    """A copy of these, to change."""
    profiles, archive = tmp_path / "profiles", tmp_path / "archive"
    for source, target in zip(first[:2], (profiles, archive), strict=True):
        shutil.copytree(source, target)
    return profiles, archive


def rows(archive: Path, table: str) -> list[dict[str, Any]]:
    return pl.read_parquet(f"{archive}/{table}/*.parquet").sort("run").to_dicts()


def test_ranks_are_one_run_and_a_bad_file_is_a_row(first: tuple[Path, Path, Summary]) -> None:
    profiles, archive, summary = first
    bad, job = rows(archive, "runs")
    assert (summary.analysed, summary.unchanged) == (2, 0)
    assert summary.errors == [("bad.sqlite", f"{profiles}/bad.sqlite is empty")]
    assert (bad["run"], bad["status"], bad["error"]) == (
        "bad.sqlite",
        "error",
        summary.errors[0][1],
    )
    assert (job["run"], job["status"], job["error"]) == ("job.sqlite", "ok", None)
    assert job["files"] == [str(profiles / f"job.rank{rank}.sqlite") for rank in range(2)]
    assert (job["ranks"], job["gpus"], job["iterations"]) == (2, ["NVIDIA H200"] * 2, 6)
    assert job["period_ms"] == pytest.approx(0.305)
    assert job["recorded_at"].timestamp() == 1_700_000_000


@pytest.mark.parametrize("name", list(TABLES))
def test_tables_are_as_documented_in_one_row_group_a_run(
    name: str, first: tuple[Path, Path, Summary]
) -> None:
    (path,) = [p for p in (first[1] / name).glob("*.parquet") if p.stem == job_key(first[1])]
    file = pq.ParquetFile(path)
    assert file.schema_arrow.equals(TABLES[name].schema)
    assert file.metadata.num_row_groups <= 1


def job_key(archive: Path) -> str:
    (key,) = [row["run_key"] for row in rows(archive, "runs") if row["run"] == "job.sqlite"]
    return str(key)


def test_the_archive_is_plain_duckdb(first: tuple[Path, Path, Summary]) -> None:
    query = f"""
        SELECT r.run, i.device, count(*), avg(i.period_ms)
        FROM '{first[1]}/runs/*.parquet' AS r
        JOIN '{first[1]}/iterations/*.parquet' AS i USING (run_key)
        GROUP BY ALL ORDER BY ALL
    """
    with duckdb.connect() as db:
        found = db.execute(query).fetchall()
    assert [row[:3] for row in found] == [("job.sqlite", 0, 6), ("job.sqlite", 1, 6)]
    assert found[0][3] == pytest.approx(0.305)


def test_budget_parts_sum_to_one(first: tuple[Path, Path, Summary]) -> None:
    assert sum(row["share"] for row in rows(first[1], "budget")) == pytest.approx(2)


def test_a_second_batch_analyses_nothing(archived: tuple[Path, Path]) -> None:
    profiles, archive = archived
    run_batch([profiles], archive, jobs=1)  # the copy has new paths
    again = run_batch([profiles], archive, jobs=1)
    assert (again.analysed, again.unchanged, len(again.errors)) == (0, 2, 1)


def test_only_what_changed_is_analysed_again(archived: tuple[Path, Path]) -> None:
    profiles, archive = archived
    write_run(profiles / "other.sqlite")
    run_batch([profiles], archive, jobs=1)
    write_run_again(profiles / "bad.sqlite")
    (profiles / "other.sqlite").touch()
    again = run_batch([profiles], archive, jobs=1)
    assert (again.analysed, again.unchanged, again.errors) == (1, 2, [])
    assert run_batch([profiles], archive, jobs=1).unchanged == 3


def write_run_again(path: Path) -> None:
    path.unlink()
    write_run(path)


def test_other_content_of_the_same_size_and_time_is_seen(tmp_path: Path) -> None:
    path = write_run(tmp_path / "profiles" / "run.sqlite", kernel_us=300)
    status = path.stat()
    run_batch([path], tmp_path / "archive", jobs=1)
    path.unlink()
    write_run(path, kernel_us=400)
    assert path.stat().st_size == status.st_size
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert run_batch([path], tmp_path / "archive", jobs=1).analysed == 1
    assert rows(tmp_path / "archive", "runs")[0]["period_ms"] == pytest.approx(0.405)


def test_other_options_or_another_tool_mean_again(archived: tuple[Path, Path]) -> None:
    profiles, archive = archived
    options = Options(samples_per_iteration=8)
    assert run_batch([profiles], archive, jobs=1, options=options).analysed == 2
    assert run_batch([profiles], archive, jobs=1, options=options).unchanged == 2
    parts = Parts(archive)
    for path in (archive / "runs").glob("*.parquet"):
        table = pq.read_table(path, partitioning=None)
        old = table.set_column(table.column_names.index("tool"), "tool", [["older"]])
        pq.write_table(old, path)
    assert {row["tool"] for row in parts.done().values()} == {"older"}
    assert run_batch([profiles], archive, jobs=1, options=options).analysed == 2


def test_what_was_left_half_written_is_done_again(archived: tuple[Path, Path]) -> None:
    profiles, archive = archived
    run_batch([profiles], archive, jobs=1)
    for path in (archive / "runs").glob("*.parquet"):
        path.write_bytes(path.read_bytes()[:50])
    assert run_batch([profiles], archive, jobs=1).analysed == 2


def test_other_groups_replace_those_of_before(archived: tuple[Path, Path]) -> None:
    profiles, archive = archived
    run_batch([profiles], archive, jobs=1)
    run_batch([profiles], archive, jobs=1, group="")
    names = [row["run"] for row in rows(archive, "runs") if str(profiles) in row["files"][0]]
    assert names == ["bad.sqlite", "job.rank0.sqlite", "job.rank1.sqlite"]


@pytest.mark.parametrize(
    ("group", "names"),
    [
        (None, {"a/x.sqlite": 2, "b/x.sqlite": 1, "y.json": 1}),
        ("", {"a/x.rank0.sqlite": 1, "a/x_rank1.sqlite": 1, "b/x.rank0.sqlite": 1, "y.json": 1}),
        (r"/([ab])/", {"a": 2, "b": 1, "y.json": 1}),
        (r"x|y", {"x": 3, "y": 1}),
        (r"/(a)/(x)", {"a/x": 2, "b/x.rank0.sqlite": 1, "y.json": 1}),
    ],
)
def test_groups(group: str | None, names: dict[str, int]) -> None:
    files = ["/p/a/x.rank0.sqlite", "/p/a/x_rank1.sqlite", "/p/b/x.rank0.sqlite", "/p/y.json"]
    found = {run.name: len(run.files) for run in _plan.runs(files, group)}
    assert found == names


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(TracelensError, match="no regular expression"):
        _plan.runs(["/p/a.sqlite"], "(")


def test_one_batch_at_a_time(archived: tuple[Path, Path]) -> None:
    profiles, archive = archived
    with Parts(archive).locked(), pytest.raises(TracelensError, match="another batch"):
        run_batch([profiles], archive)


def test_too_little_memory_is_refused(archived: tuple[Path, Path]) -> None:
    with pytest.raises(TracelensError, match="too little"):
        run_batch([archived[0]], archived[1], memory_bytes=1 << 20)


def tasks(folder: Path, count: int) -> list[_plan.Task]:
    files = [str(write_run(folder / f"run{i}.sqlite")) for i in range(count)]
    return [_plan.Task(run, Options(), "", run.state()) for run in _plan.runs(files, None)]


def test_a_worker_that_takes_too_much_memory_loses_its_run_alone(tmp_path: Path) -> None:
    (result,) = _local.results(tasks(tmp_path, 1), jobs=1, memory_bytes=1)
    assert result.status == "failed"
    assert "worker died" in result.row["error"]


def test_a_worker_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    found = []
    for result in _local.results(tasks(tmp_path, 6), jobs=2, memory_bytes=8 << 30):
        found.append(result)
        if len(found) == 1:
            os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)
    assert sorted(result.run.name for result in found) == [f"run{i}.sqlite" for i in range(6)]
    assert {result.status for result in found} == {"ok"}


def test_a_batch_that_is_killed_is_taken_up_where_it_was(tmp_path: Path) -> None:
    for i in range(12):
        write_run(tmp_path / "profiles" / f"run{i:02}.sqlite", kernel_us=300 + i)
    archive = tmp_path / "archive"
    arguments = ["batch", str(tmp_path / "profiles"), "--output", str(archive), "--jobs", "1"]
    batch = subprocess.Popen([sys.executable, "-m", "tracelens", *arguments])
    while len(list(archive.glob("runs/*.parquet"))) < 2 and batch.poll() is None:
        time.sleep(0.02)
    batch.kill()
    batch.wait()
    kept = len(list(archive.glob("runs/*.parquet")))
    assert 2 <= kept < 12
    summary = run_batch([tmp_path / "profiles"], archive, jobs=1)
    assert summary.analysed == 12 - kept
    periods = pl.read_parquet(f"{archive}/runs/*.parquet").sort("run")["period_ms"].to_list()
    assert periods == pytest.approx([0.305 + i / 1e3 for i in range(12)])


def test_an_interrupt_ends_the_workers_and_keeps_what_is_done(tmp_path: Path) -> None:
    for i in range(12):
        write_run(tmp_path / "profiles" / f"run{i:02}.sqlite")
    archive = tmp_path / "archive"
    arguments = ["batch", str(tmp_path / "profiles"), "--output", str(archive), "--jobs", "2"]
    batch = subprocess.Popen(
        [sys.executable, "-m", "tracelens", *arguments], stderr=subprocess.PIPE
    )
    while not list(archive.glob("runs/*.parquet")) and batch.poll() is None:
        time.sleep(0.02)
    workers = [int(pid) for pid in children(batch.pid)]
    batch.send_signal(signal.SIGINT)
    assert batch.wait(timeout=30) == 130
    assert batch.stderr is not None
    assert b"Traceback" not in batch.stderr.read()
    batch.stderr.close()
    assert have_ended(workers)
    assert 1 <= len(Parts(archive).done()) < 12


def test_workers_end_with_a_batch_that_is_killed(tmp_path: Path) -> None:
    for i in range(12):
        write_run(tmp_path / "profiles" / f"run{i:02}.sqlite")
    archive = tmp_path / "archive"
    arguments = ["batch", str(tmp_path / "profiles"), "--output", str(archive), "--jobs", "2"]
    batch = subprocess.Popen([sys.executable, "-m", "tracelens", *arguments])
    while not list(archive.glob("runs/*.parquet")) and batch.poll() is None:
        time.sleep(0.02)
    workers = [int(pid) for pid in children(batch.pid)]
    batch.kill()
    batch.wait()
    assert have_ended(workers)


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()


def have_ended(pids: list[int]) -> bool:
    """Whether these processes, of which there is one at least, end within half a minute."""
    deadline = time.monotonic() + 30
    while any(is_alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(pids) and not any(is_alive(pid) for pid in pids)


def is_alive(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False


@pytest.mark.shared
def test_the_recordings_and_the_damaged_files(shared: Path, tmp_path: Path) -> None:
    archive = [shared / "traces" / "nsys", shared / "corpus" / "bad"]
    summary = run_batch(archive, tmp_path / "archive", jobs=2)
    status = [row["status"] for row in rows(tmp_path / "archive", "runs")]
    assert (status.count("ok"), status.count("error"), len(status)) == (22, 8, 30)
    assert len(summary.errors) == 8
    again = run_batch(archive, tmp_path / "archive", jobs=2)
    assert (again.analysed, again.unchanged) == (0, 30)
