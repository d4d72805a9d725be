"""Case files: frames that a reader can check by eye, and what a rule must say of them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tracelens.diagnosis import Findings
from tracelens.rules import Rule
from tracelens.rules._runner import find

FOLDER = Path(__file__).parent / "cases"
ONE_DEVICE = pl.DataFrame({"device_id": [0], "process_id": [0]})


@dataclass(frozen=True)
class Case:
    """One situation: its frames by name, and the findings that must come of it, in order."""

    rule: str
    name: str
    frames: Mapping[str, pl.DataFrame]
    expect: tuple[Mapping[str, Any], ...]
    not_checked: str

    @property
    def fires(self) -> bool:
        return bool(self.expect)

    def judge(self, rule: Rule) -> Findings:
        """What the rule says; relations that the case does not give are empty."""
        frames = {"device": ONE_DEVICE, **self.frames}
        return find(lambda name: frames.get(name, pl.DataFrame()), [rule])


def table(text: str) -> pl.DataFrame:
    """A frame from lines of cells between bars; an empty cell is NULL."""
    head, *lines = (
        [cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()
    )
    columns = {name: [_value(line[i]) for line in lines] for i, name in enumerate(head)}
    return pl.DataFrame(columns, strict=False)


def _value(cell: str) -> int | float | bool | str | None:
    if cell in ("true", "false", ""):
        return {"true": True, "false": False, "": None}[cell]
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def read(path: Path) -> Iterator[Case]:
    """The cases of one file; frames above the first are every case's, unless it gives its own."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    shared = content.get("frames", {})
    for case in content.get("case", []):
        yield Case(
            rule=content["rule"],
            name=case["name"],
            frames={name: table(text) for name, text in (shared | case.get("frames", {})).items()},
            expect=tuple(case["expect"]),
            not_checked=case.get("not_checked", ""),
        )


def faults(rule: Rule, folder: Path = FOLDER) -> list[str]:
    """What a rule's case file lacks: it must fire once and stay quiet once."""
    path = folder / f"{rule.stem}.toml"
    if not path.exists():
        return [f"{rule.id} has no case file {path.name}"]
    cases = list(read(path))
    found = [] if {c.rule for c in cases} == {rule.id} else [f"{path.name} is not about {rule.id}"]
    if not any(case.fires for case in cases):
        found.append(f"{path.name} has no case that fires")
    if not any(not case.fires and not case.not_checked for case in cases):
        found.append(f"{path.name} has no quiet case")
    return found


def differences(case: Case, findings: Findings) -> list[str]:
    """Where the findings differ from what the case expects."""
    said = [*findings.diagnoses, *findings.warnings]
    ids = [s.to_dict().get("id") or s.to_dict()["code"] for s in said]
    wanted = [e.get("id") or e["code"] for e in case.expect]
    if ids != wanted:
        return [f"said {ids}, expected {wanted}"]
    reasons = [n.reason for n in findings.not_checked]
    found = [
        f"{key}: {got!r} lacks {want!r}"
        for e, s in zip(case.expect, said, strict=True)
        for key, want in e.items()
        for got in [_told(s.to_dict(), key)]
        if not _agrees(got, want)
    ]
    if bool(case.not_checked) != bool(reasons) or case.not_checked not in " ".join(reasons):
        found.append(f"not checked: {reasons}, expected {case.not_checked!r}")
    return found


def _told(said: Mapping[str, Any], key: str) -> Any:
    """A field of a finding; ``caveat`` and ``where.KEY`` look inside."""
    if key == "caveat":
        return " ".join(said["caveats"])
    outer, _, inner = key.partition(".")
    return said[outer].get(inner) if inner else said[outer]


def _agrees(got: Any, want: Any) -> bool:
    if isinstance(want, str) and isinstance(got, str):
        return want in got
    if isinstance(want, float) and got is not None:
        return abs(got - want) <= 1e-3 * max(abs(want), 1.0)
    return bool(got == want)
