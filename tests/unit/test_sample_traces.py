"""The table that says what is true of the sample traces agrees with what was measured."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "sample_traces"
NAMES = sorted(path.stem for path in FOLDER.glob("*.sqlite"))
ROLES = {"forward": "forward", "backward": "backward", "optim": "optimizer"}


def table() -> dict[str, dict[str, str]]:
    """Rows of the README's table, by the name of the trace."""
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line[:1] == "|"]
    header, _, *rows = cells
    return {row[0].strip("`"): dict(zip(header, row, strict=True)) for row in rows}


def truth(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.truth.json").read_text(encoding="utf-8"))


def test_it_names_each_trace_and_no_other() -> None:
    assert sorted(table()) == NAMES
    assert len(NAMES) == 5


@pytest.mark.parametrize("name", NAMES)
def test_its_iterations_are_those_measured(name: str) -> None:
    measured = {phase["iter"] for phase in truth(name)["phases"]}
    assert int(table()[name]["iterations"]) == len(measured)


@pytest.mark.parametrize("name", NAMES)
def test_its_times_are_medians_of_those_measured(name: str) -> None:
    times: dict[str, list[float]] = {}
    for phase in truth(name)["phases"]:
        times.setdefault(ROLES.get(phase["phase"], ""), []).append(phase["gpu_ms"])
    medians = {role: f"{statistics.median(values):.1f}" for role, values in times.items() if role}
    row = table()[name]
    assert {role: row[role] for role in ROLES.values() if row[role]} == medians


@pytest.mark.parametrize("name", NAMES)
def test_recorder_is_the_one_it_names(name: str) -> None:
    words = (FOLDER / "README.md").read_text(encoding="utf-8")
    measured = truth(name)
    assert measured["gpu"] in words
    assert re.split(r"\+", measured["torch"])[0] in words
