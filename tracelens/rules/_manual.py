"""The manual of all findings as one Markdown page, made from the rules' docstrings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tracelens.rules import Rule, all_rules

_HEAD = """# Findings

What tracelens looks for, and what it says of a recording. This page is made from the rules in
`tracelens/rules` by `python -m tracelens.rules._manual > docs/findings.md`: edit those.
`tracelens explain ID` prints one of these.

Severity follows the worth, as a share of the iteration's period: high from 10 %, medium from 3 %,
low below; info for facts that cost nothing.
"""


def manual() -> str:
    """The page, with a newline at its end."""
    findings = [rule for rule in all_rules() if not rule.is_coverage]
    warnings = [rule for rule in all_rules() if rule.is_coverage]
    parts = [
        _HEAD,
        "## Contents\n",
        *_contents("Findings", findings),
        *_contents("Coverage warnings", warnings),
        *(_section(rule) for rule in findings),
        "# Coverage warnings\n\nWhat a recording lacks, or what bends its numbers.\n",
        *(_section(rule) for rule in warnings),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _contents(title: str, rules: Iterable[Rule]) -> Iterator[str]:
    yield f"{title}: " + ", ".join(f"[{rule.id}](#{rule.id})" for rule in rules) + ".\n"


def _section(rule: Rule) -> str:
    head, _, text = rule.manual.partition("\n")
    reads = ", ".join(f"`{name}`" for name in rule.reads)
    summary = head.removeprefix(f"{rule.id}: ")
    markdown = text.strip().replace("``", "`")
    return (
        f"## {rule.id}\n\n{summary[0].upper()}{summary[1:]}\n\n{markdown}\n\n"
        f"It judges the relations {reads}.\n"
    )


if __name__ == "__main__":
    print(manual(), end="")
