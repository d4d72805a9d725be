"""Reading changes nothing, shows nothing that is nobody's business, and runs nothing."""

from __future__ import annotations

import ast
import hashlib
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import click
import pytest
from confiding import SECRETS, confiding_export, confiding_trace
from exports import Call, Kernel, Range, make_export

import tracelens
from tracelens.cli import commands, run
from tracelens.errors import TracelensError

PACKAGE = Path(tracelens.__file__).parent
FORMATS = ("text", "json", "markdown", "html")
COMMANDS: dict[str, list[str]] = {
    **{f"analyze {form}": ["analyze", "RUN", "--format", form] for form in FORMATS},
    "analyze twice": ["analyze", "RUN", "RUN"],
    "info": ["info", "RUN"],
    "tree": ["tree", "RUN"],
    "query": ["query", "RUN", "SELECT * FROM ranges"],
    "explain": ["explain", "no-nvtx", "RUN"],
    "compare": ["compare", "RUN", "RUN"],
    "redact": ["redact", "RUN", "OUT"],
    "export": ["export", "RUN", "--perfetto", "OUT"],
    "batch": ["batch", "RUN", "--output", "OUT", "--jobs", "1"],
}
HOSTILE = (
    "\x1b]0;title\x07\x1b[2J", "a\nb\r", "\x9b31m", "\u202egnp", "[bold red]x[/]", "[/nothing]",
    "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", '"><b onclick=x>',
    "' onmouseover='x", "&lt;&amp;", "{{ 7 * 7 }}", "${x}", "`x`", "|x|", "]]><!--",
)  # fmt: skip


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def arguments(command: str, recording: Path, out: Path) -> list[str]:
    places = {"RUN": str(recording), "OUT": str(out)}
    return [places.get(word, word) for word in COMMANDS[command]]


def test_every_command_that_reads_a_recording_is_here() -> None:
    archives_only = {"trends"}
    listed = set(commands.list_commands(click.Context(commands)))
    assert {words[0] for words in COMMANDS.values()} | archives_only == listed


def status(command: str) -> set[int]:
    """The exit statuses to expect: some of these runs have too few iterations to be compared."""
    return {0, 2} if command == "compare" else {0}


def state(folder: Path) -> dict[str, tuple[str, int]]:
    """Everything in a folder: its content's checksum and when it was written."""
    return {
        str(p.relative_to(folder)): (
            hashlib.sha256(p.read_bytes()).hexdigest(),
            p.stat().st_mtime_ns,
        )
        for p in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["run.sqlite", "run.json"])
def test_no_command_changes_a_recording_or_its_folder(
    command: str, name: str, tmp_path: Path
) -> None:
    folder = tmp_path / "recordings"
    folder.mkdir()
    recording = folder / name
    (confiding_export if name.endswith("sqlite") else confiding_trace)(recording)
    before = state(folder)
    assert run(arguments(command, recording, tmp_path / f"out-{name}")) in status(command)
    assert state(folder) == before


@pytest.mark.parametrize("command", [c for c in COMMANDS if c != "query"])
@pytest.mark.parametrize("name", ["run.sqlite", "run.json"])
def test_no_command_shows_what_a_recording_confides(
    command: str, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What ranges and kernels are called is shown; the rest is nobody's business."""
    recording = tmp_path / name
    (confiding_export if name.endswith("sqlite") else confiding_trace)(recording, names_too=False)
    assert run(arguments(command, recording, tmp_path / f"out-{name}")) in status(command)
    shown = capfd.readouterr()
    text = (shown.out + shown.err).replace(str(tmp_path), "")
    assert [secret for secret in SECRETS if secret in text] == []


def hostile_export(path: Path) -> Path:
    names = [name.replace("\x00", "") for name in HOSTILE]
    count = len(names)
    return make_export(
        path,
        kernels=[Kernel(i * 100 + 30, i * 100 + 60, i + 1, name=n) for i, n in enumerate(names)],
        calls=[Call(i * 100 + 20, i * 100 + 25, i + 1, name=n) for i, n in enumerate(names)],
        ranges=[
            *(Range(i * 100, i * 100 + 90, f"iter_{i}") for i in range(count)),
            *(Range(i * 100 + 10, i * 100 + 80, n, domain=i + 1) for i, n in enumerate(names)),
        ],
        domains={i + 1: n for i, n in enumerate(names)},
    )


@pytest.mark.parametrize("command", ["analyze text", "analyze markdown", "info", "tree", "query"])
def test_names_do_not_steer_the_terminal(
    command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    recording = hostile_export(tmp_path / "run.sqlite")
    assert run(arguments(command, recording, tmp_path / "out")) == 0
    shown = capfd.readouterr().out
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


class Tags(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


def tags(recording: Path, capfd: pytest.CaptureFixture[str]) -> Tags:
    assert run(["analyze", str(recording), "--format", "html"]) == 0
    page = Tags()
    page.feed(capfd.readouterr().out)
    return page


def test_names_are_no_html(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    hostile = tags(hostile_export(tmp_path / "hostile.sqlite"), capfd)
    harmless = tags(confiding_export(tmp_path / "run.sqlite"), capfd)
    assert hostile.tags.count("script") == harmless.tags.count("script")
    assert "img" not in hostile.tags
    assert not [a for a in hostile.attributes if a.startswith("on")]


def test_a_link_is_followed_and_left_alone(tmp_path: Path) -> None:
    recording = confiding_export(tmp_path / "run.sqlite")
    link = tmp_path / "link.sqlite"
    link.symlink_to(recording)
    assert run(["analyze", str(link)]) == 0
    assert link.is_symlink()
    assert link.resolve() == recording


def test_a_home_that_cannot_be_written(
    tmp_path: Path, sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache is a comfort: without it the answer is the same."""
    recording = tmp_path / "run.sqlite"
    shutil.copyfile(sample_traces / "cudagraph.sqlite", recording)
    (tmp_path / "home").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert run(["analyze", str(recording)]) == run(["analyze", str(recording)]) == 0


def test_a_full_disk_under_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = confiding_export(tmp_path / "run.sqlite")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", full)
    monkeypatch.setattr(Path, "replace", full)
    assert run(["analyze", str(recording)]) == run(["analyze", str(recording)]) == 0


def test_too_little_memory_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from tracelens import trace

    def hungry(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(trace, "open", hungry)
    assert run(["analyze", str(confiding_export(tmp_path / "run.sqlite"))]) == 2
    assert len(capfd.readouterr().err.splitlines()) == 1


def test_numbers_too_large_to_sum_are_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import duckdb

    from tracelens import trace

    def overflow(*_: Any, **__: Any) -> None:
        duckdb.sql("SELECT 9223372036854775807 + 1").fetchall()

    monkeypatch.setattr(trace, "open", overflow)
    assert run(["analyze", str(confiding_export(tmp_path / "run.sqlite"))]) == 2
    assert "numbers" in capfd.readouterr().err


SOURCES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_nothing_is_unpickled_or_evaluated(path: Path) -> None:
    forbidden_modules = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
    forbidden_calls = {"eval", "exec", "compile", "__import__"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {a.name for a in node.names} | {getattr(node, "module", None)}
            assert not names & forbidden_modules
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in forbidden_calls


def test_huge_names_are_read(tmp_path: Path) -> None:
    recording = make_export(
        tmp_path / "run.sqlite",
        kernels=[Kernel(0, 10, 1, name="k" * 1_000_000)],
        ranges=[Range(0, 10, "r" * 1_000_000)],
    )
    try:
        assert tracelens.open(recording).report()["trace"]["counts"]["kernels"] == 1
    except TracelensError:
        pytest.fail("a long name is no damage")
