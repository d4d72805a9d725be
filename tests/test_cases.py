"""Every rule against its case file, and the rule that each must have one."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import casefile
import pytest

from tracelens import rules, sqlfiles

CASES = [case for path in sorted(casefile.FOLDER.glob("*.toml")) for case in casefile.read(path)]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.rule}: {c.name}")
def test_case(case: casefile.Case) -> None:
    assert casefile.differences(case, case.judge(rules.rule(case.rule))) == []


@pytest.mark.parametrize("rule", rules.all_rules(), ids=lambda r: r.id)
def test_every_rule_has_a_firing_and_a_quiet_case(rule: rules.Rule) -> None:
    assert casefile.faults(rule) == []


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "no case file"),
        ('rule = "odd"\n[[case]]\nname = "a"\nexpect = [{ id = "odd" }]', "no quiet case"),
        ('rule = "odd"\n[[case]]\nname = "a"\nexpect = []', "no case that fires"),
        (
            'rule = "odd"\n[[case]]\nname = "a"\nexpect = [{ id = "odd" }]\n'
            '[[case]]\nname = "b"\nexpect = []\nnot_checked = "too short"',
            "no quiet case",
        ),
    ],
)
def test_a_rule_without_both_is_refused(tmp_path: Path, content: str | None, fault: str) -> None:
    odd = ModuleType("tracelens.rules.odd")
    odd.ID = "odd"  # type: ignore[attr-defined]
    if content is not None:
        (tmp_path / "odd.toml").write_text(content)
    assert any(fault in f for f in casefile.faults(rules.Rule(odd), tmp_path))


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.rule}: {c.name}")
def test_cases_use_columns_that_the_relations_have(case: casefile.Case) -> None:
    rule = rules.rule(case.rule)
    assert set(case.frames) <= {*rule.reads, "device"}
    for name, frame in case.frames.items():
        if module := sqlfiles.modules().get(name):
            assert set(frame.columns) <= {column.name for column in module.columns}


@pytest.mark.parametrize("rule", rules.all_rules(), ids=lambda r: r.id)
def test_a_manual_says_finding_and_cure(rule: rules.Rule) -> None:
    first, *rest = rule.manual.splitlines()
    assert first.startswith(f"{rule.id}: ")
    assert "The cure: " in "\n".join(rest)
