"""``tracelens explain``: what a finding means, and the numbers and SQL behind it in a run."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tracelens.cli import _common, _tables
from tracelens.errors import TracelensError

if TYPE_CHECKING:
    from tracelens.diagnosis import Diagnosis
    from tracelens.rules import Rule
    from tracelens.trace import Trace

_SHOWN_ROWS = 12
_WIDEST = 100
_INTERNAL = ("device_id", "process_id")
"""Keys of joins, which mean nothing to a reader."""


@click.command(short_help="What a finding means, and the numbers and SQL behind it.")
@click.argument("finding", metavar="ID")
@click.argument("run", nargs=-1)
@_common.run_options
def command(finding: str, run: tuple[str, ...], no_cache: bool, memory_limit: str | None) -> None:
    """Say what a finding means: cause, cure, and when it is wrong.

    With a run also what was found in it, the numbers behind it, and the SQL that gave them.

    \b
    Example:
      tracelens explain input-starved
      tracelens explain input-starved run.sqlite
    """
    from tracelens.trace import open as open_trace

    rule = _rule(finding)
    lines = [*_manual(rule.manual), ""]
    if run:
        with _common.working("analysing") as progress:
            trace = open_trace(
                run, cache=not no_cache, memory_limit=memory_limit, progress=progress
            )
            lines += [*_found(trace, rule), *_numbers(trace, rule)]
    _common.write("\n".join(lines).rstrip() + "\n", None)


def _manual(text: str) -> Iterator[str]:
    """The paragraphs of a rule's manual, as wide as the terminal."""
    for number, paragraph in enumerate(text.replace("``", "`").split("\n\n")):
        if number:
            yield ""
        if re.search(r"^\s+\S", paragraph, re.MULTILINE):
            yield paragraph
        else:
            yield from textwrap.wrap(paragraph, _width(), break_on_hyphens=False)


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
    findings = trace.findings
    said = [line for missed in findings.not_checked if missed.id == rule.id
            for line in _wrapped(f"not checked: {missed.reason}")]  # fmt: skip
    for warning in findings.warnings:
        if warning.code == rule.id:
            said += _wrapped(f"{warning.severity}: {warning.message} {warning.advice}")
    for diagnosis in findings.diagnoses:
        if diagnosis.id == rule.id:
            said += _told(diagnosis)
    yield "In this run"
    yield from said or ["  not found: its conditions are not met"]
    yield ""


def _told(diagnosis: Diagnosis) -> Iterator[str]:
    """A finding with all that it rests on."""
    from tracelens.reports._words import worth_and_share

    yield from _wrapped(f"{diagnosis.severity}: {diagnosis.title}")
    if told := worth_and_share(diagnosis.to_dict()):
        yield f"  {told} of the period"
    yield from _wrapped(diagnosis.explanation)
    yield from _wrapped(f"Hypothesis: {diagnosis.hypothesis}")
    heads = ("evidence", "value", "threshold", "unit")
    rows = [(e.name, e.value, e.threshold, e.unit) for e in diagnosis.evidence]
    yield from (f"    {line}" for line in _tables.table(heads, rows))
    for number, step in enumerate(diagnosis.next_steps, 1):
        yield from _wrapped(f"{number}. {step}")
    for caveat in diagnosis.caveats:
        yield from _wrapped(f"But: {caveat}")


def _wrapped(text: str) -> list[str]:
    from tracelens.reports._words import clean

    return textwrap.wrap(clean(text), _width(), initial_indent="  ", subsequent_indent="    ")


def _width() -> int:
    return min(_common.terminal_width(), _WIDEST)


def _numbers(trace: Trace, rule: Rule) -> Iterator[str]:
    """The relations that the rule judges: their first rows, and where they come from."""
    from tracelens.reports._words import plural

    for name in rule.reads:
        frame = trace.engine.frame(name)
        shown = frame.select(c for c in frame.columns if c not in _INTERNAL).head(_SHOWN_ROWS)
        more = f", the first {_SHOWN_ROWS}" if frame.height > _SHOWN_ROWS else ""
        yield f"Numbers: {name} ({plural(frame.height, 'row')}{more})"
        yield from (f"  {line}" for line in _tables.table(shown.columns, shown.rows()))
        yield from _origin(trace, name)
        yield ""


def _origin(trace: Trace, name: str) -> Iterator[str]:
    """The SQL of a relation, or what its step says of itself."""
    from tracelens import sqlfiles
    from tracelens.engine import step_module

    modules = {**sqlfiles.staging(trace.engine.sources[0].info.staging), **sqlfiles.modules()}
    if module := modules.get(name):
        yield f"\nSQL: {module.layer}/{name}.sql"
        yield module.query.rstrip()
    else:
        yield f"\nStep: tracelens/steps/{name}.py, from {', '.join(trace.engine.reads(name))}"
        yield (step_module(name).__doc__ or "").rstrip()
