"""Steps in rows of values, and the archive that they come from."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest
from command import tracelens
from runfiles import write_run

import tracelens as tl
from tracelens.batch import run_batch
from tracelens.trends import changes, trends


def places(values: list[float | None], least: float = 0.0, share: float = 0.03) -> list[int]:
    return [change.place for change in changes(values, least, share)]


def test_a_step_is_flagged_at_the_first_run_after_it() -> None:
    (change,) = changes([10, 10.1, 9.9, 10, 12, 12.1, 11.9], 0.0, 0.03)
    assert (change.place, change.before, change.after) == (4, 10, 12)


def test_two_steps() -> None:
    assert places([10, 10, 10, 12, 12, 12, 12, 10, 10, 10]) == [3, 7]


@pytest.mark.parametrize(
    "values",
    [
        [10, 10, 10, 20, 10, 10, 10],  # one stray run
        [10, 10, 10, 10.2, 10.2, 10.2],  # less than matters
        [8, 12, 9, 11, 10, 13, 9, 12],  # as wide before as after
        [10, 10, 12],  # too few
        [],
    ],
)
def test_what_is_no_step(values: list[float | None]) -> None:
    assert places(values) == []


def test_unknown_values_are_left_out() -> None:
    assert places([10, None, 10, 10, None, 12, 12, 12]) == [5]


def test_from_zero_the_least_that_matters_decides() -> None:
    assert places([0, 0, 0, 5, 5, 5], least=3.0, share=0.0) == [3]
    assert places([0, 0, 0, 5, 5, 5], least=6.0, share=0.0) == []


def test_noise_alone_is_seldom_a_step() -> None:
    source = random.Random(1)
    flagged = sum(bool(places([source.gauss(100, 5) for _ in range(12)])) for _ in range(200))
    assert flagged <= 20


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nightly runs, the last three of them slower; another job; a file that is damaged."""
    root = tmp_path_factory.mktemp("nightly")
    day = 24 * 3600
    for i in range(7):
        length = 300 if i < 4 else 400
        # written in no order: it is the date in the recording that counts
        name = f"nightly-{(i * 3) % 7}.sqlite"
        write_run(root / "profiles" / name, length, utc_s=1_700_000_000 + i * day)
    write_run(root / "profiles" / "other.sqlite")
    (root / "profiles" / "nightly-bad.sqlite").write_bytes(b"")
    run_batch([root / "profiles"], root / "archive", jobs=2)
    return root / "archive"


def test_runs_of_a_kind_by_date(archive: Path) -> None:
    found = trends(tl.archive(archive))
    assert (found["runs"], found["errors"]) == (9, 1)
    nightly, other = found["series"]
    assert (nightly["name"], len(nightly["runs"])) == ("nightly-#.sqlite", 7)
    assert (other["name"], len(other["runs"])) == ("other.sqlite", 1)
    metrics = {metric["metric"]: metric for metric in nightly["metrics"]}
    assert metrics["period_ms"]["values"] == pytest.approx([0.305] * 4 + [0.405] * 3)
    (change,) = metrics["period_ms"]["changes"]
    assert change["run"] == "nightly-5.sqlite"
    assert change["recorded_at"].startswith("2023-11-18")
    assert (change["before"], change["after"]) == pytest.approx((0.305, 0.405))
    assert len(metrics["phase forward"]["changes"]) == 1


def test_a_pattern_says_what_is_of_a_kind(archive: Path) -> None:
    found = trends(tl.archive(archive), r"sqlite")
    assert [len(series["runs"]) for series in found["series"]] == [8]
    with pytest.raises(tl.TracelensError, match="no regular expression"):
        trends(tl.archive(archive), "(")


def test_the_command_shows_what_changed(archive: Path) -> None:
    told = tracelens("trends", archive).stdout
    assert "nightly-#.sqlite · NVIDIA H200 · 7 runs" in told
    assert "changed: period_ms 0.305 -> 0.405 at nightly-5.sqlite (2023-11-18" in told
    found = json.loads(tracelens("trends", archive, "--format", "json").stdout)
    assert found["schema"] == "tracelens-trends/1"


def test_frames_are_lazy_and_whole(archive: Path) -> None:
    opened = tl.archive(archive)
    frames = [opened.runs, opened.iterations, opened.phases, opened.findings, opened.budget]
    assert all(isinstance(frame, pl.LazyFrame) for frame in frames)
    assert opened.runs.collect().height == 9
    assert opened.iterations.collect()["run_key"].n_unique() == 8


def test_what_was_left_by_a_killed_batch_is_not_in_them(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "phases").mkdir()
    left = next((archive / "phases").glob("*.parquet"))
    (tmp_path / "phases" / left.name).write_bytes(left.read_bytes())
    opened = tl.archive(tmp_path)
    assert opened.runs.collect().is_empty()
    assert opened.phases.collect().is_empty()
    assert opened.budget.collect().is_empty()


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tl.TracelensError, match="is no archive"):
        tl.archive(tmp_path)
