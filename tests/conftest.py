"""Fixtures that every test may use, and what becomes of tests whose recordings are not here."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
REQUIRE_SHARED = os.environ.get("TRACELENS_REQUIRE_SHARED") == "1"

# How long an example takes says more about what else the machine does than about the code.
settings.register_profile("no-clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no-clock")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recordings that are not the project's to ship; the test is skipped without."""
    if not SHARED.is_dir():
        pytest.skip("the recordings in ../shared are not here")
    return SHARED


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Generator[None, None, None]:
    """Keep what tests compute out of the user's cache; commands started by tests inherit it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def sample_traces() -> Path:
    """The folder of recordings that the project ships."""
    return ROOT / "sample_traces"


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("shared") and not SHARED.is_dir():
        pytest.skip("the recordings in ../shared are not here")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where TRACELENS_REQUIRE_SHARED=1 says that the recordings are there, a skip is a failure."""
    report = yield
    if REQUIRE_SHARED and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, but nothing may be: {report.longrepr}"
    return report
