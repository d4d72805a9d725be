"""What notebooks show of findings and runs: whole, and with every text escaped."""

from __future__ import annotations

from dataclasses import replace

from runs import FINDINGS, report

from tracelens.diagnosis import Diagnoses, Findings
from tracelens.reports import _notebook

HOSTILE = "<script>alert(1)</script>"


def test_a_finding_shows_all_that_it_knows() -> None:
    shown = FINDINGS.diagnoses[0]._repr_html_()
    for words in ("22.50 ms/iteration", "input idle ms", "22.5 ms (from 1.8 ms on)", "Likely:",
                  "num_workers=8", "A rare stall"):  # fmt: skip
        assert words in shown


def test_findings_show_warnings_and_what_was_not_checked() -> None:
    shown = FINDINGS._repr_html_()
    assert "open-ranges" in shown
    assert "rank-straggler: one rank only" in shown
    assert Findings()._repr_html_() == "<p>No finding.</p>"


def test_a_run_shows_verdict_budget_and_findings() -> None:
    shown = _notebook.render(report())
    for words in ("Fix input-starved first", "idle: next batch 22.50 ms", "worth 22.50 ms"):
        assert words in shown
    assert "activation-recompute" not in shown


def test_nothing_becomes_markup() -> None:
    bad = replace(FINDINGS.diagnoses[0], title=HOSTILE, explanation=HOSTILE, caveats=(HOSTILE,))
    assert "<script" not in Diagnoses([bad])._repr_html_()
    assert "<script" not in _notebook.render(report(findings=replace(FINDINGS, diagnoses=(bad,))))
