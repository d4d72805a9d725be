"""``tracelens explain``: what a finding means, and the numbers and SQL behind it in a run."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tracelens.cli import _common
from tracelens.errors import TracelensError

if TYPE_CHECKING:
    from tracelens.rules import Rule
    from tracelens.trace import Trace

_SHOWN_ROWS = 12


@click.command()
@click.argument("finding", metavar="ID")
@click.argument("run", nargs=-1, type=click.Path(path_type=Path))
def command(finding: str, run: tuple[Path, ...]) -> None:
    """Say what a finding means: cause, cure, and when it is wrong.

    With a run also what was found in it, the numbers behind it, and the SQL that gave them.

    \b
    Example:
      tracelens explain input-starved
      tracelens explain input-starved run.sqlite
    """
    from tracelens.trace import open as open_trace

    rule = _rule(finding)
    lines = [rule.manual, ""]
    if run:
        with _common.working("analysing"):
            trace = open_trace(run)
            lines += [*_found(trace, rule), *_numbers(trace, rule)]
    _common.write("\n".join(lines).rstrip() + "\n", None)


def _rule(finding: str) -> Rule:
    from tracelens import rules

    try:
        return rules.rule(finding)
    except KeyError:
        known = [r.id for r in rules.all_rules()]
        near = difflib.get_close_matches(finding, known, n=3, cutoff=0.5)
        hint = f"did you mean {', '.join(near)}?" if near else f"known are {', '.join(known)}"
        raise TracelensError(f"there is no finding {finding!r}", hint=hint) from None


def _found(trace: Trace, rule: Rule) -> Iterator[str]:
    """What the run shows of it."""
    from tracelens.reports._words import clean

    findings = trace.findings
    yield "In this run"
    for missed in findings.not_checked:
        if missed.id == rule.id:
            yield f"  not checked: {clean(missed.reason)}"
    for warning in findings.warnings:
        if warning.code == rule.id:
            yield f"  {warning.severity}: {clean(warning.message)} {clean(warning.advice)}"
    for diagnosis in findings.diagnoses:
        if diagnosis.id == rule.id:
            yield f"  {diagnosis.severity}: {clean(diagnosis.title)}"
            yield f"  {clean(diagnosis.explanation)}"
            yield f"  Hypothesis: {clean(diagnosis.hypothesis)}"
            for e in diagnosis.evidence:
                limit = "" if e.threshold is None else f" (threshold {e.threshold} {e.unit})"
                yield f"    {clean(e.name)} = {clean(e.value)} {e.unit}{limit}"
            yield from (f"  {n}. {clean(s)}" for n, s in enumerate(diagnosis.next_steps, 1))
            yield from (f"  But: {clean(c)}" for c in diagnosis.caveats)
    told = {d.id for d in findings.diagnoses} | {w.code for w in findings.warnings}
    if rule.id not in told | {n.id for n in findings.not_checked}:
        yield "  not found: its conditions are not met"
    yield ""


def _numbers(trace: Trace, rule: Rule) -> Iterator[str]:
    """The relations that the rule judges: their first rows, and where they come from."""
    for name in rule.reads:
        yield f"Numbers: {name}"
        yield str(trace.engine.frame(name).head(_SHOWN_ROWS))
        yield from _origin(trace, name)
        yield ""


def _origin(trace: Trace, name: str) -> Iterator[str]:
    from tracelens import sqlfiles

    module = sqlfiles.modules().get(name)
    if module is None:
        yield f"Built by tracelens/steps/{name}.py from {', '.join(trace.engine.reads(name))}"
    else:
        yield f"SQL of {name} (sql/{module.layer}/{name}.sql)"
        yield module.query.rstrip()
