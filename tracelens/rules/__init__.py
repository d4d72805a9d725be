"""Findings and coverage warnings: one file a rule, found by walking this folder.

A rule is a module. Its docstring is the manual: the first line names the finding, then what is
found, its cause and its cure. It holds:

``ID``
    the finding's id, or the coverage warning's code.
``READS``
    names of the relations that it judges.
``check(frames)``
    yields the :class:`Diagnosis` or :class:`CoverageWarning` objects that the frames show.
``not_checked(frames)`` (optional)
    says why the finding cannot be judged on these frames, or ``None`` where it can.
``CONSEQUENCE_OF`` (optional)
    findings that have the same root as this one, each with what its ``where["doing"]`` says then:
    beside such a finding on the same device this one is told as its consequence.

A finding's ``check`` gets the frames of one device at a time: rows of other devices and processes
are left out. Coverage rules (in ``coverage/``), and rules with ``SCOPE = "run"``, get all rows.
Thresholds and words live here; SQL and connections do not.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import polars as pl

    from tracelens.diagnosis import CoverageWarning, Diagnosis

    Frames: TypeAlias = Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class Rule:
    """A finding's or a coverage warning's module, as the runner and the docs see it."""

    module: ModuleType

    @property
    def id(self) -> str:
        """Id of the finding, or code of the warning."""
        return str(self.module.ID)

    @property
    def reads(self) -> tuple[str, ...]:
        """Relations that it judges."""
        return tuple(self.module.READS)

    @property
    def manual(self) -> str:
        """What ``explain`` and the docs print."""
        return inspect.cleandoc(self.module.__doc__ or "")

    @property
    def is_coverage(self) -> bool:
        """Whether it judges the recording and not the program."""
        return ".coverage." in self.module.__name__

    @property
    def sees_whole_run(self) -> bool:
        """Whether it needs all devices at once."""
        return self.is_coverage or getattr(self.module, "SCOPE", "device") == "run"

    @property
    def roots(self) -> Mapping[str, str]:
        """Findings that this one may be a consequence of, and what they must be about then."""
        return dict(getattr(self.module, "CONSEQUENCE_OF", {}))

    @property
    def stem(self) -> str:
        """Name of its file, which its case file shares."""
        return self.module.__name__.rpartition(".")[2]

    def check(self, frames: Frames) -> Iterator[Diagnosis | CoverageWarning]:
        """What the frames show."""
        yield from self.module.check(frames)

    def not_checked(self, frames: Frames) -> str | None:
        """Why it cannot be judged on these frames."""
        reason: Any = getattr(self.module, "not_checked", None)
        return reason(frames) if reason else None


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule in this folder and in ``coverage/``, ordered by id."""
    found = (
        Rule(importlib.import_module(m.name))
        for m in pkgutil.walk_packages(__path__, prefix=f"{__name__}.")
        if not m.ispkg and not m.name.rpartition(".")[2].startswith("_")
    )
    return tuple(sorted(found, key=lambda rule: (rule.is_coverage, rule.id)))


def rule(rule_id: str) -> Rule:
    """The rule with this id or warning code; ``KeyError`` where there is none."""
    for candidate in all_rules():
        if rule_id in (candidate.id, f"coverage:{candidate.id}"):
            return candidate
    raise KeyError(rule_id)


def relations() -> tuple[str, ...]:
    """Every relation that some rule reads, for building them in one go."""
    return tuple(sorted({name for r in all_rules() for name in r.reads} | {"device"}))
