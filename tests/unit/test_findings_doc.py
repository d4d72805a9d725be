"""docs/findings.md is what the rules say of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracelens.rules import Rule, _manual, all_rules

PAGE = Path(__file__).resolve().parents[2] / "docs" / "findings.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == _manual.manual()


@pytest.mark.parametrize("rule", all_rules(), ids=lambda r: r.id)
def test_every_rule_has_its_section(rule: Rule) -> None:
    assert f"\n## {rule.id}\n" in _manual.manual()
