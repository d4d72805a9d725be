"""A test that skips for want of ../shared must fail where CI says that it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"
TEST = """
import pytest

@pytest.mark.shared
def test_by_marker(): pass

def test_by_fixture(shared): pass

def test_without(): pass
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with our conftest and no folder of recordings beside it."""
    tests = pytester.mkdir("project") / "tests"
    tests.mkdir()
    (tests / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8"), encoding="utf-8")
    (tests / "test_it.py").write_text(TEST, encoding="utf-8")
    pytester.makeini("[pytest]\nmarkers = shared")
    return pytester


def test_they_skip_where_the_recordings_are_absent(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRACELENS_REQUIRE_SHARED", raising=False)
    project.runpytest_subprocess("project").assert_outcomes(passed=1, skipped=2)


def test_they_fail_where_the_recordings_are_required(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACELENS_REQUIRE_SHARED", "1")
    outcomes = project.runpytest_subprocess("project").parseoutcomes()
    assert outcomes["passed"] == 1
    assert outcomes.get("failed", 0) + outcomes.get("errors", 0) == 2
