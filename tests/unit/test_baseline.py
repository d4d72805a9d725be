"""What became of findings since an earlier report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from runs import report

from tracelens import baseline
from tracelens.errors import TracelensError


def finding(id: str, severity: str, share: float | None) -> dict[str, Any]:
    worth = None if share is None else 100 * share
    return {"id": id, "severity": severity, "recoverable_ms": worth, "share_of_period": share}


def change(now: list[dict[str, Any]], then: list[dict[str, Any]]) -> list[tuple[str, str]]:
    found = baseline.changes(report() | {"diagnoses": now}, report() | {"diagnoses": then}, "b")
    return [(row["id"], row["change"]) for row in found["findings"]]


@pytest.mark.parametrize(
    ("then", "now", "verdict"),
    [
        (("medium", 0.09), ("high", 0.10), "worse"),
        (("high", 0.20), ("high", 0.25), "worse"),
        (("high", 0.20), ("high", 0.22), "same"),
        (("high", 0.25), ("high", 0.20), "better"),
        (("high", 0.10), ("medium", 0.09), "better"),
        (("info", None), ("info", None), "same"),
    ],
)
def test_worse_is_more_urgent_or_worth_more_than_noise(
    then: tuple[str, float | None], now: tuple[str, float | None], verdict: str
) -> None:
    assert change([finding("x", *now)], [finding("x", *then)]) == [("x", verdict)]


def test_new_and_gone() -> None:
    now, then = [finding("a", "high", 0.2)], [finding("b", "high", 0.2)]
    assert change(now, then) == [("a", "new"), ("b", "gone")]


def test_the_most_urgent_place_counts() -> None:
    twice = [finding("x", "high", 0.2), finding("x", "low", 0.01)]
    assert change(twice, [finding("x", "high", 0.2)]) == [("x", "same")]


def test_only_new_and_worse_regress() -> None:
    now = [finding("old", "high", 0.2), finding("new", "high", 0.2)]
    given = report() | {"diagnoses": now}
    given["baseline"] = baseline.changes(
        given, report() | {"diagnoses": [finding("old", "high", 0.2)]}, "b"
    )
    assert [d["id"] for d in baseline.regressed(given)] == ["new"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"not json", "no JSON report"),
        (b"\xff\xfe", "no JSON report"),
        (b"[]", "no report of schema"),
        (b'{"schema": "tracelens/9"}', "no report of schema"),
        (b'{"schema": "tracelens/1"}', "cut short"),
    ],
)
def test_what_is_no_report_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "main.json"
    path.write_bytes(content)
    with pytest.raises(TracelensError, match=words):
        baseline.read(path)


def test_a_report_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "main.json"
    path.write_text(json.dumps(report()), encoding="utf-8")
    assert baseline.read(path) == report()
