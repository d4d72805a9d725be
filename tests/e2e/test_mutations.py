"""Real recordings, bent as other versions and other captures are, alone and in pairs.

Each kind of mutation has a relation between the report with it and the report without it. In a
pair the relation of each must hold to the report that has only the other. The tool that bends them
is beside the project (../shared/tools/mutate_trace.py); ``test_bent_exports`` holds small exports
to the same without it.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tracelens

Report = dict[str, Any]
TRACES = ("healthy", "starved", "cudagraph", "fsdp.rank0")
HOST_CAUSES = {"launch", "sync", "allocator", "input", "host", "profiler"}
HOST_FINDINGS = {
    "input-starved", "launch-bound", "host-sync", "allocator-churn", "host-stall",
    "optimizer-small-kernels",
}  # fmt: skip


def codes(report: Report) -> set[str]:
    return {warning["code"] for warning in report["coverage"]["warnings"]}


def findings(report: Report) -> set[str]:
    return {diagnosis["id"] for diagnosis in report["diagnoses"]}


def spans(report: Report) -> dict[str, Any]:
    """What is measured on the GPU alone."""
    iterations = report["iterations"]
    return {
        "busy": [d["busy_ms"] for d in report["trace"]["devices"]],
        "period": iterations["period_ms"],
        "gap": iterations["gap_ms"],
        "iterations": [(r["name"], r["period_ms"]) for r in iterations["rows"]],
        "phases": {p["phase"]: (p["gpu_span_ms"], p["gpu_busy_ms"]) for p in report["phases"]},
        "ratio": report["ratios"],
    }


def operations(report: Report) -> int:
    return sum(report["trace"]["counts"][k] for k in ("kernels", "memcpys", "memsets"))


def same_but_for_the_file(bent: Report, plain: Report) -> None:
    """Another version's schema, another way to write the same."""
    for report in (bent, plain):
        del report["trace"]["files"], report["trace"]["producer"]
    assert bent == plain


def same_but_for_graphs(bent: Report, plain: Report) -> None:
    """2020's exports know nothing of what happens inside a CUDA graph."""
    if plain["coverage"]["attribution"]["graph"]:
        assert bent["coverage"]["attribution"]["graph"] == 0
        assert spans(bent)["period"] == spans(plain)["period"]
        assert spans(bent)["busy"] == spans(plain)["busy"]
    else:
        same_but_for_the_file(bent, plain)


def gpu_clock_is_off(bent: Report, plain: Report) -> None:
    """The GPU's figures hold; what the host had to do with it cannot be known."""
    linked = operations(plain) - plain["coverage"]["unlinked"]
    assert ("clock-skew" in codes(bent)) == bool(linked)
    assert spans(bent) == spans(plain)
    assert not findings(bent) & HOST_FINDINGS
    causes = {part.get("cause") for budget in bent["budget"] for part in budget["parts"]}
    assert not causes & {*HOST_CAUSES, *(["dependency"] if linked else [])}


def launches_are_lost(bent: Report, plain: Report) -> None:
    """Their operations count as busy all the same."""
    assert bent["coverage"]["unlinked"] >= plain["coverage"]["unlinked"]
    if operations(plain):
        assert "unlinked-operations" in codes(bent)
    assert spans(bent)["busy"] == spans(plain)["busy"]
    assert operations(bent) == operations(plain)
    assert bent["iterations"]["count"] == plain["iterations"]["count"]


def ranges_have_no_end(bent: Report, plain: Report) -> None:
    """They are kept, marked, and swallow nothing."""
    assert bent["trace"]["counts"]["ranges"] == plain["trace"]["counts"]["ranges"]
    assert ("open-ranges" in codes(bent)) == bool(plain["trace"]["counts"]["ranges"])
    assert bent["iterations"]["count"] == plain["iterations"]["count"]
    before = spans(plain)["phases"]
    for phase, (span, _) in spans(bent)["phases"].items():
        if before.get(phase, ({},))[0].get("n", 0) > 2:
            assert span["median"] == pytest.approx(before[phase][0]["median"], rel=0.05)
            assert span["max"] <= 1.1 * before[phase][0]["max"]
    assert findings(bent) == findings(plain)


def operations_have_no_time(bent: Report, plain: Report) -> None:
    """They are counted as lost and stretch no span."""
    lost = operations(plain) - operations(bent)
    assert lost == 20 * len(plain["trace"]["devices"])
    assert not lost or "lost-kernels" in codes(bent)
    assert bent["trace"]["span_ms"] <= plain["trace"]["span_ms"]
    for device, whole in zip(spans(bent)["busy"], spans(plain)["busy"], strict=True):
        assert device <= whole


def there_are_two_processes(bent: Report, plain: Report) -> None:
    """All is there twice, and each process is what it was alone."""
    for name, count in plain["trace"]["counts"].items():
        assert bent["trace"]["counts"][name] == 2 * count, name
    devices = len(plain["trace"]["devices"])
    assert len(bent["trace"]["devices"]) == 2 * devices
    assert [d["busy_ms"] for d in bent["trace"]["devices"]] == 2 * spans(plain)["busy"]
    assert bent["iterations"]["count"] == plain["iterations"]["count"]
    by_device = [
        [(r["name"], r["period_ms"]) for r in bent["iterations"]["rows"] if r["device"] == device]
        for device in range(2 * devices)
    ]
    assert by_device == 2 * [spans(plain)["iterations"]] * bool(devices)
    assert findings(bent) - {"rank-straggler"} == findings(plain)
    assert bent["coverage"]["unlinked"] == 2 * plain["coverage"]["unlinked"]


def there_is_no_gpu_work(bent: Report, plain: Report) -> None:
    """Nothing is claimed of the GPU, and the loss is told where calls show that there was work."""
    assert operations(bent) == 0
    assert bent["trace"]["devices"] == bent["phases"] == bent["diagnoses"] == bent["budget"] == []
    assert ("lost-kernels" in codes(bent)) == bool(plain["trace"]["counts"]["api_calls"])


def there_are_no_ranges(bent: Report, plain: Report) -> None:
    """Iterations come from the kernels; there are no phases."""
    assert "no-nvtx" in codes(bent)
    assert bent["phases"] == []
    assert spans(bent)["busy"] == spans(plain)["busy"]


def there_are_no_calls(bent: Report, plain: Report) -> None:
    """No operation has a launch, and no idle time a cause."""
    assert bent["trace"]["counts"]["api_calls"] == 0
    assert bent["coverage"]["unlinked"] == operations(plain)
    assert spans(bent)["busy"] == spans(plain)["busy"]
    causes = {part.get("cause") for budget in bent["budget"] for part in budget["parts"]}
    assert causes <= {None, "unknown"}
    assert not findings(bent) & HOST_FINDINGS


CHECKS: dict[str, Callable[[Report, Report], None]] = {
    "like-2020": same_but_for_graphs,
    "like-2022": same_but_for_the_file,
    "like-2024": same_but_for_the_file,
    "like-2026": same_but_for_the_file,
    "text-ids": same_but_for_the_file,
    "tables-v2": same_but_for_the_file,
    "gpu-shift=-150": gpu_clock_is_off,
    "gpu-shift=500000": gpu_clock_is_off,
    "drop-api=30": launches_are_lost,
    "open-ranges": ranges_have_no_end,
    "open-at-end": ranges_have_no_end,
    "zero-times=20": operations_have_no_time,
    "second-process": there_are_two_processes,
    "no-kernels": there_is_no_gpu_work,
    "no-nvtx": there_are_no_ranges,
    "no-api": there_are_no_calls,
}


def family(mutation: str) -> str:
    """What a recording can be only once: of a version, off by so much, left open in one way."""
    once = ("like-", "gpu-shift", "open-")
    return next((name for name in once if mutation.startswith(name)), mutation)


PAIRS = [(a, b) for a, b in itertools.combinations(CHECKS, 2) if family(a) != family(b)]


@dataclass(frozen=True)
class Bench:
    """Bends recordings and analyses them, each once."""

    shared: Path
    folder: Path

    @cache  # noqa: B019 - lives as long as the session
    def text(self, trace: str, mutations: frozenset[str]) -> str:
        source = self.shared / "traces" / "nsys" / f"{trace}.sqlite"
        if not mutations:
            return json.dumps(tracelens.open(source).report(), allow_nan=False)
        bent = self.folder / f"{trace}.sqlite"
        tool = self.shared / "tools" / "mutate_trace.py"
        subprocess.run([sys.executable, tool, source, bent, *sorted(mutations)], check=True)
        text = json.dumps(tracelens.open(bent).report(), allow_nan=False)
        bent.unlink()
        return text

    def report(self, trace: str, *mutations: str) -> Report:
        report: Report = json.loads(self.text(trace, frozenset(mutations)))
        return report


@pytest.fixture(scope="session")
def bench(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(shared, tmp_path_factory.mktemp("bent"))


def holds_together(report: Report) -> None:
    """What is true of every report."""
    assert sum(report["coverage"]["attribution"].values()) == operations(report)
    for budget in report["budget"]:
        parts = sum(part["ms"] for part in budget["parts"])
        assert parts == pytest.approx(budget["total_ms"], rel=1e-6, abs=1e-5)


@pytest.mark.shared
@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("mutation", CHECKS)
def test_alone(mutation: str, trace: str, bench: Bench) -> None:
    bent = bench.report(trace, mutation)
    holds_together(bent)
    CHECKS[mutation](bent, bench.report(trace))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("pair", "trace"),
    list(zip(PAIRS, itertools.cycle(TRACES), strict=False)),
    ids=lambda v: v if isinstance(v, str) else "+".join(v),
)
def test_in_pairs(pair: tuple[str, str], trace: str, bench: Bench) -> None:
    holds_together(bench.report(trace, *pair))
    for mutation, other in (pair, pair[::-1]):
        CHECKS[mutation](bench.report(trace, *pair), bench.report(trace, other))
