"""What tracelens says of a run: findings with evidence, coverage, what was not checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from typing import Any, Literal, TypeAlias

Severity: TypeAlias = Literal["high", "medium", "low", "info"]
Number: TypeAlias = int | float

SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low", "info")
"""From the most to the least urgent."""
HIGH_SHARE = 0.10
"""From this share of the period on, a fix changes what the run costs: high."""
MEDIUM_SHARE = 0.03
"""From this share on, a fix shows above the noise of clocks and schedulers: medium."""


def severity_of(share: float | None) -> Severity:
    """The severity of what is worth this share of the period; ``None`` is a mere fact."""
    if share is None:
        return "info"
    return "high" if share >= HIGH_SHARE else "medium" if share >= MEDIUM_SHARE else "low"


@dataclass(frozen=True)
class Evidence:
    """One number that a finding rests on, and the threshold that it was held against, if any."""

    name: str
    value: Number | str
    unit: str = ""
    threshold: Number | None = None

    def to_dict(self) -> dict[str, Any]:
        """``{"name", "value", "unit", "threshold"}``."""
        return _fields(self)

    def shown(self) -> str:
        """Value and unit as text, and the threshold if there is one."""
        unit = f" {self.unit}" if self.unit else ""
        bound = "" if self.threshold is None else f" (from {_shown(self.threshold)}{unit} on)"
        return f"{_shown(self.value)}{unit}{bound}"


@dataclass(frozen=True)
class Diagnosis:
    """One finding: what is wrong, how much a fix is worth, and why we think so.

    ``recoverable_ms`` is milliseconds an iteration, ``share_of_period`` the same as a share of
    one; both are ``None`` where the finding is a fact that costs nothing. ``share_of`` says which
    iteration that is: the median one, or for what is rare, which medians don't see, the mean one.
    ``where`` may hold
    device, devices (where several show it, the worst first), rank, iterations ([first, last]),
    span_ms ([start, end]) and ranges (names); more keys are the rule's own.
    """

    id: str
    severity: Severity
    title: str
    recoverable_ms: float | None = None
    share_of_period: float | None = None
    share_of: Literal["median", "mean"] = "median"
    evidence: Sequence[Evidence] = ()
    where: Mapping[str, Any] = field(default_factory=dict)
    explanation: str = ""
    hypothesis: str = ""
    next_steps: Sequence[str] = ()
    caveats: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """The finding by the report contract: plain lists, dicts, strings and finite numbers."""
        return _fields(self)

    def _repr_html_(self) -> str:
        worth = "" if self.recoverable_ms is None else f", {self.recoverable_ms:.2f} ms/iteration"
        rows = "".join(
            f"<tr><td>{escape(e.name.replace('_', ' '))}</td><td>{escape(e.shown())}</td></tr>"
            for e in self.evidence
        )
        likely = f"<p><i>Likely:</i> {escape(self.hypothesis)}</p>" if self.hypothesis else ""
        return (
            f"<div><p><b>{escape(self.title)}</b> ({self.severity}: {escape(self.id)}{worth})</p>"
            f"<p>{escape(self.explanation)}</p>{likely}"
            f"{_listed('Next', self.next_steps, 'ol')}{f'<table>{rows}</table>' if rows else ''}"
            f"{_listed('It could be wrong where', self.caveats, 'ul')}</div>"
        )


class Diagnoses(list[Diagnosis]):
    """Findings, the most urgent first: a list that a notebook shows as cards."""

    def _repr_html_(self) -> str:
        return "<hr>".join(d._repr_html_() for d in self) or "<p>No finding.</p>"


@dataclass(frozen=True)
class CoverageWarning:
    """Something that the recording lacks or that bends its numbers, and how to record better."""

    code: str
    severity: Severity
    message: str
    advice: str

    def to_dict(self) -> dict[str, Any]:
        """``{"code", "severity", "message", "advice"}``."""
        return _fields(self)


@dataclass(frozen=True)
class NotChecked:
    """A finding that could not be judged on this run, and why."""

    id: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """``{"id", "reason"}``."""
        return _fields(self)


@dataclass(frozen=True)
class Findings:
    """All that the rules say about a run; diagnoses by severity, then worth."""

    diagnoses: tuple[Diagnosis, ...] = ()
    warnings: tuple[CoverageWarning, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()

    def _repr_html_(self) -> str:
        warnings = [f"{w.code}: {w.message} {w.advice}" for w in self.warnings]
        missed = [f"{n.id}: {n.reason}" for n in self.not_checked]
        return (
            Diagnoses(self.diagnoses)._repr_html_()
            + _listed("How far to trust this", warnings, "ul")
            + _listed("Not checked", missed, "ul")
        )


def _fields(value: Evidence | Diagnosis | CoverageWarning | NotChecked) -> dict[str, Any]:
    return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}


def _plain(value: Any) -> Any:
    """Dataclasses as dicts, sequences as lists, floats rounded to six digits after the point."""
    if isinstance(value, Evidence):
        return _fields(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return round(value, 6) if isinstance(value, float) else value


def _listed(title: str, items: Sequence[str], kind: str) -> str:
    if not items:
        return ""
    return f"<p>{title}:</p><{kind}>{''.join(f'<li>{escape(i)}</li>' for i in items)}</{kind}>"


def _shown(value: Number | str) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
