"""The command line as a user runs it, on the sample traces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tracelens as tl
from tracelens.cli import run as run_in_process
from tracelens.errors import heeding_ctrl_c
from tracelens.reports import text


def tracelens(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tracelens", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)  # type: ignore[call-overload,no-any-return]


@pytest.fixture(scope="module")
def starved(sample_traces: Path) -> Path:
    return sample_traces / "starved.sqlite"


def test_analyze_tells_the_planted_fault_and_writes_nothing_beside(starved: Path) -> None:
    before = sorted(starved.parent.iterdir())
    done = tracelens("analyze", starved)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "63.68 ms an iteration" in done.stdout
    assert "Fix input-starved first" in done.stdout
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert sorted(starved.parent.iterdir()) == before


def test_the_next_command_can_be_typed_as_it_stands(
    starved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(starved.parent)
    assert run_in_process(["analyze", f"./{starved.name}"]) == 0
    shown = capsys.readouterr().out
    assert shown.endswith(f"\n  tracelens explain input-starved ./{starved.name}\n")


def test_a_command_too_long_for_a_line_is_continued_or_left_open(starved: Path) -> None:
    report = tl.open(starved).report()
    name = f"a b/{'x' * 60}.sqlite"
    assert text.render(report, run=[name]).endswith(f"input-starved \\\n    '{name}'\n")
    assert text.render(report, run=[name, name]).endswith("explain input-starved RUN...\n")


def test_the_bare_command_shows_the_help_in_full() -> None:
    done = tracelens()
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: tracelens [OPTIONS] COMMAND")
    assert "...\n" not in done.stderr.partition("Commands:")[2]


def test_a_missing_file_of_phases_is_told_in_words(starved: Path) -> None:
    done = tracelens("analyze", starved, "--phases", "nope.toml")
    assert done.returncode == 2
    assert "nope.toml cannot be used (No such file or directory)" in done.stderr


def test_the_manual_is_as_wide_as_the_terminal() -> None:
    shown = tracelens("explain", "input-starved", env={**os.environ, "COLUMNS": "60"}).stdout
    assert 50 < max(map(len, shown.splitlines())) <= 60
    assert "(`num_workers=0`)" in shown


def test_analyze_json_follows_the_contract(starved: Path) -> None:
    report = json.loads(tracelens("analyze", starved, "--format", "json").stdout)
    assert report["schema"] == "tracelens/1"
    assert report["trace"]["counts"]["kernels"] == 3152
    assert report["iterations"]["count"] == 8
    assert report["iterations"]["gap_ms"]["median"] == pytest.approx(25.733, rel=0.01)
    assert report["trace"]["devices"][0]["busy_ms"] == pytest.approx(289.923007)


def test_phases_of_the_checkpointed_run_are_what_cuda_events_measured(sample_traces: Path) -> None:
    done = tracelens("analyze", sample_traces / "ckpt.sqlite", "--format", "json")
    phases = {p["phase"]: p for p in json.loads(done.stdout)["phases"]}
    assert phases["backward"]["gpu_span_ms"]["median"] == pytest.approx(31.39, rel=0.01)


def test_output_goes_to_the_file(starved: Path, tmp_path: Path) -> None:
    done = tracelens("analyze", starved, "--format", "markdown", "--output", tmp_path / "a.md")
    assert done.stdout == ""
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("## starved.sqlite")


def test_samples_a_second(starved: Path) -> None:
    assert "a second" in tracelens("analyze", starved, "--samples", "8").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["analyze"], "Missing argument"),
        (["analyze", "absent.sqlite"], "absent.sqlite does not exist"),
        (["analyze", "{empty}"], "is empty"),
        (["analyze", "{starved}", "--iterations", "("], "no regular expression"),
        (["analyze", "{starved}", "--samples", "-1"], "-1"),
        (["analyze", "{starved}", "--phases", "absent.toml"], "absent.toml"),
        (["analyze", "{starved}", "--output", "{folder}/absent/a.txt"], "absent/a.txt"),
        (["query", "{starved}", "SELECT * FROM nothing"], "nothing"),
        (["query", "{starved}", "SELEC 1"], "not understood"),
        (["query", "{starved}", "SELECT 'x'::INTEGER"], "x"),
        (["query", "SELECT 1"], "name a file"),
        (["query", "{starved}", "SELECT 1", "--format", "parquet"], "--output"),
        (["explain", "input-starve"], "did you mean input-starved"),
        (["analise"], "analise"),
    ],
)
def test_errors_are_one_line_and_status_2(
    arguments: list[str], words: str, starved: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty.sqlite").touch()
    places = {"starved": starved, "empty": tmp_path / "empty.sqlite", "folder": tmp_path}
    done = tracelens(*(a.format(**places) for a in arguments))
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert words in done.stderr


def test_info_says_what_is_there_and_what_is_missing(starved: Path) -> None:
    told = tracelens("info", starved).stdout
    assert "3,152  kernels" in told
    assert "NVIDIA H200" in told
    assert "record: nsys profile --trace=cuda,nvtx,osrt" in told
    assert "docs/recording.md" in told


def test_query_gives_tables_csv_json_and_parquet(starved: Path, tmp_path: Path) -> None:
    query = "SELECT kind, count(*) AS n FROM operations GROUP BY kind ORDER BY n"
    assert tracelens("query", starved, query).stdout.split() == [
        "kind", "n", "memcpy", "8", "memset", "920", "kernel", "3152",
    ]  # fmt: skip
    assert tracelens("query", starved, query, "--format", "csv").stdout == (
        "kind,n\nmemcpy,8\nmemset,920\nkernel,3152\n"
    )
    told = json.loads(tracelens("query", starved, query, "--format", "json").stdout)
    assert told[0] == {"kind": "memcpy", "n": 8}
    out = tmp_path / "a.parquet"
    assert tracelens("query", starved, query, "--format", "parquet", "--output", out).stdout == ""
    assert out.read_bytes()[:4] == b"PAR1"


def test_query_lists_the_views_with_their_columns(starved: Path) -> None:
    told = tracelens("query", starved, "--tables").stdout
    assert "iterations: Iterations as the device saw them." in told
    assert "gap_ms" in told


def test_a_healthy_run_trips_no_gate_and_a_starved_one_does(sample_traces: Path) -> None:
    healthy = tracelens("analyze", sample_traces / "healthy.sqlite", "--fail-on", "medium")
    assert healthy.returncode == 0
    assert "Healthy: nothing here is worth fixing." in " ".join(healthy.stdout.split())
    assert (
        tracelens("analyze", sample_traces / "starved.sqlite", "--fail-on", "high").returncode == 1
    )


def test_explain_prints_the_manual_and_with_a_run_the_numbers_and_their_sql(starved: Path) -> None:
    manual = tracelens("explain", "input-starved").stdout
    told = tracelens("explain", "input-starved", starved).stdout
    assert told.startswith(manual.rstrip())
    assert "worth 26." in told
    assert "Numbers: what_if" in told
    assert "SQL: metrics/" in told


def test_explain_says_so_where_a_finding_is_not_there(starved: Path) -> None:
    assert "not found" in tracelens("explain", "transfer-bound", starved).stdout


def test_help_starts_no_engine() -> None:
    code = (
        "import sys; from tracelens.cli import run; run(['--help']); "
        "print(sorted({'duckdb', 'polars', 'pyarrow', 'rich', 'connectorx'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_leaves_early_sees_no_traceback(starved: Path) -> None:
    command = f"{sys.executable} -m tracelens query {starved} 'SELECT * FROM calls' --format csv"
    done = subprocess.run(
        ["sh", "-c", f"{command} | head -1"], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("process_index,")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("raised", "status"),
    [(KeyboardInterrupt(), 130), (MemoryError(), 2), (OSError(28, "No space left"), 2)],
)
def test_what_is_raised_becomes_a_status(
    raised: BaseException, status: int, starved: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def fail(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr("tracelens.trace.Trace.report", fail)
    assert run_in_process(["analyze", str(starved)]) == status
    assert len(capsys.readouterr().err.splitlines()) == (status == 2)


@pytest.mark.parametrize(
    ("met", "told"), [("Query interrupted", KeyboardInterrupt), ("disk is full", RuntimeError)]
)
def test_ctrl_c_that_met_a_query_is_told_as_ctrl_c(met: str, told: type[BaseException]) -> None:
    with pytest.raises(told), heeding_ctrl_c():
        raise RuntimeError(met)


def test_what_did_not_fit_into_memory_leaves_the_disk_as_well(
    sample_traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    path = sample_traces / "optloop.sqlite"
    done = tracelens("analyze", path, "--no-cache", "--memory-limit", "60MB")
    assert done.returncode == 0
    assert not list(tmp_path.iterdir())
