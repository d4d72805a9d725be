"""What must hold of any file whatever: an answer in time, and a report that a reader can trust."""

from __future__ import annotations

import faulthandler
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import tracelens
from tracelens import reports
from tracelens.errors import TracelensError

SECONDS = float(os.environ.get("TRACELENS_FUZZ_SECONDS", "0"))
"""How long all of ``make fuzz`` may take; 0 for the short profile, a few examples of each kind."""
SLOWEST_S = 60.0
"""Far more than any of these small files needs, on a busy machine too: beyond it, it hangs."""


def examples(short: int, long: int) -> settings:
    """So many examples of the short profile, always the same ones, or of one round of the long."""
    return settings(
        max_examples=long if SECONDS else short,
        derandomize=not SECONDS,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def in_time() -> Iterator[None]:
    """Fail on what takes long; end the process, with its stacks shown, where it never returns."""
    faulthandler.dump_traceback_later(5 * SLOWEST_S, exit=True)
    started = time.monotonic()
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert time.monotonic() - started < SLOWEST_S


def check(path: Path) -> None:
    """The report of a file holds together, in every format."""
    with in_time():
        report = tracelens.open(path, cache=False).report()
        json.dumps(report, allow_nan=False)
    counts = report["trace"]["counts"]
    operations = sum(counts[kind] for kind in ("kernels", "memcpys", "memsets"))
    attributed = sum(report["coverage"]["attribution"].values())
    assert attributed <= operations + counts["graph_launches"]
    for device in report["trace"]["devices"]:
        assert 0 <= device["busy_ms"] <= report["trace"]["span_ms"] * (1 + 1e-9) + 1e-5
    for budget in report["budget"]:
        parts = sum(part["ms"] for part in budget["parts"])
        assert parts == pytest.approx(budget["total_ms"], rel=1e-6, abs=1e-3)
        assert all(part["ms"] >= 0 for part in budget["parts"])
    for form in reports.formats():
        shown = reports.renderer(form).render(report, width=80, color=False)
        # a page has scripts of its own; what names become in it is tested where it can be parsed
        if form in ("text", "markdown"):
            assert all(c == "\n" or c.isprintable() or ord(c) > 0xFF for c in shown), form


def check_damaged(path: Path) -> None:
    """A damaged file is analysed, or refused in one line that names it."""
    refusal = None
    try:
        check(path)
    except TracelensError as error:
        refusal = str(error)
    assert refusal is None or (path.name in refusal and len(refusal.splitlines()) == 1)
