"""What the README tells a newcomer to type works."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tracelens.cli import commands

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TYPED = re.findall(r"^    tracelens (.*?)(?:  +#.*)?$", README, re.MULTILINE)
PYTHON = re.findall(r"(?:^    .*\n|^\n(?=    ))+", README, re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, sample_traces: Path) -> Path:
    """A folder with two recordings in it, named as in the README, and an archive of no runs."""
    for name in ("run.sqlite", "after.sqlite"):
        shutil.copyfile(sample_traces / "starved.sqlite", tmp_path / name)
    (tmp_path / "archive" / "runs").mkdir(parents=True)
    return tmp_path


def python(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    path = {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=folder, env=path, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("arguments", TYPED)
def test_command_runs(arguments: str, folder: Path) -> None:
    done = python(["-m", "tracelens", *shlex.split(arguments)], folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout or len(list(folder.iterdir())) > 3


def test_it_shows_every_command() -> None:
    assert {typed.split()[0] for typed in TYPED} == set(commands.list_commands(None))


def test_its_python_runs(folder: Path) -> None:
    (block,) = (block for block in PYTHON if "import tracelens" in block)
    code = re.sub(r"^    ", "", block, flags=re.MULTILINE)
    done = python(["-c", code], folder)
    assert (done.returncode, done.stderr) == (0, "")


def test_its_make_targets_are_there() -> None:
    documents = README + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^    make (\w+)", documents, re.MULTILINE))
    rules = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert named == set(rules) - {"clean"}


def test_it_says_what_each_dependency_is_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"\W", requirement)[0] for requirement in project["dependencies"]}
    explained = re.findall(r"^\| (\w+) \| (?!what for).+ \|$", README, re.MULTILINE)
    assert set(explained) == needed
