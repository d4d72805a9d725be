"""What the runner makes of what rules say: order, devices, roots, and what was not checked."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import polars as pl

from tracelens.diagnosis import CoverageWarning, Diagnosis, Findings
from tracelens.rules import Rule
from tracelens.rules._runner import find

if TYPE_CHECKING:
    from tracelens.rules import Frames

DEVICES = pl.DataFrame({"device_id": [10, 11], "process_id": [1, 1]})


def make_rule(rule_id: str, **attributes: Any) -> Rule:
    """A rule that tells each row of ``cost`` that names it."""

    def check(frames: Frames) -> Iterator[Diagnosis]:
        for row in frames["cost"].filter(pl.col("finding") == rule_id).to_dicts():
            severity = "high" if row["ms"] >= 10 else "low"
            where = {"device": row["device"], "doing": row["doing"]}
            yield Diagnosis(
                rule_id, severity, f"{rule_id} costs {row['ms']}", row["ms"], where=where
            )

    module = ModuleType(f"tracelens.rules.{rule_id}")
    vars(module).update(ID=rule_id, READS=("cost",), check=check, **attributes)
    return Rule(module)


def told(costs: list[tuple[int, str, float]], *rules: Rule, doing: str | None = None) -> Findings:
    """Findings of rules over costs: (device, finding, ms)."""
    rows = [
        {"device_id": 10 + device, "device": device, "finding": finding, "ms": ms, "doing": doing}
        for device, finding, ms in costs
    ]
    kinds = {"device_id": pl.Int64, "device": pl.Int64, "ms": pl.Float64}
    frame = pl.DataFrame(rows, schema={**kinds, "finding": pl.String, "doing": pl.String})
    return find({"device": DEVICES, "cost": frame}.__getitem__, rules)


def test_severity_goes_first_and_then_worth() -> None:
    costs = [(0, "small", 2.0), (0, "large", 30.0), (0, "middle", 12.0), (0, "tiny", 1.0)]
    rules = [make_rule(name) for name in ("small", "large", "middle", "tiny")]
    assert [d.id for d in told(costs, *rules).diagnoses] == ["large", "middle", "small", "tiny"]


def test_a_finding_of_two_devices_is_told_once_for_the_worse() -> None:
    (diagnosis,) = told([(0, "slow", 11.0), (1, "slow", 12.0)], make_rule("slow")).diagnoses
    assert diagnosis.recoverable_ms == 12.0
    assert diagnosis.where["device"] == 1
    assert diagnosis.where["devices"] == [1, 0]


def test_a_consequence_is_told_with_its_root() -> None:
    costs = [(0, "root", 15.0), (0, "effect", 11.0)]
    findings = told(
        costs,
        make_rule("root"),
        make_rule("effect", CONSEQUENCE_OF={"root": "input"}),
        doing="input",
    )
    (diagnosis,) = findings.diagnoses
    assert diagnosis.id == "root"
    assert diagnosis.where["consequences"] == [{"id": "effect", "title": "effect costs 11.0"}]
    assert "effect costs 11.0" in diagnosis.explanation


def test_what_costs_more_than_its_root_is_told_alone() -> None:
    costs = [(0, "root", 2.0), (0, "effect", 11.0)]
    findings = told(
        costs,
        make_rule("root"),
        make_rule("effect", CONSEQUENCE_OF={"root": "input"}),
        doing="input",
    )
    assert [d.id for d in findings.diagnoses] == ["effect", "root"]


def test_a_root_on_another_device_is_none() -> None:
    costs = [(0, "root", 15.0), (1, "effect", 11.0)]
    findings = told(
        costs,
        make_rule("root"),
        make_rule("effect", CONSEQUENCE_OF={"root": "input"}),
        doing="input",
    )
    assert [d.id for d in findings.diagnoses] == ["root", "effect"]


def test_a_root_that_is_about_something_else_is_none() -> None:
    costs = [(0, "root", 15.0), (0, "effect", 11.0)]
    rules = make_rule("root"), make_rule("effect", CONSEQUENCE_OF={"root": "input"})
    assert len(told(costs, *rules, doing="launch").diagnoses) == 2


def test_not_checked_only_where_no_device_could_be() -> None:
    def lacks_rows(frames: Frames) -> str | None:
        return None if frames["cost"].height else "nothing was recorded"

    rule = make_rule("slow", not_checked=lacks_rows)
    assert told([(0, "slow", 11.0)], rule).not_checked == ()
    assert [n.reason for n in told([], rule).not_checked] == ["nothing was recorded"]


def test_a_rule_of_the_whole_run_sees_every_device() -> None:
    def count(frames: Frames) -> Iterator[CoverageWarning]:
        yield CoverageWarning("rows", "low", f"{frames['cost'].height} rows", "none")

    rule = make_rule("rows", SCOPE="run")
    rule.module.check = count
    findings = told([(0, "a", 1.0), (1, "b", 1.0)], rule)
    assert [w.message for w in findings.warnings] == ["2 rows"]
