"""Ranges by name: folding, latencies, overlap, payloads; and what a mark carries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from exports import Call, Kernel, Mark, Range, make_export

import tracelens as tl


def request(number: int, start: int, end: int | None) -> Range:
    """A request opened in a thread of its own, and closed by the main thread."""
    return Range(
        start,
        end,
        f"request_{number}",
        thread=100 + number,
        end_thread=None if end is None else 1000,
        style="start_end",
        domain=1,
        color=0x00FF00,
        payload=10 * number,
    )


@pytest.fixture
def trace(tmp_path: Path) -> tl.Trace:
    # request 0 |--------------|
    # request 1      |----|
    # request 2                  |------|
    # request 3                     |------------ never closed
    ranges = [request(0, 0, 100), request(1, 20, 50), request(2, 110, 170), request(3, 140, None)]
    ranges += [Range(10, 40, "step", category=5), Range(60, 80, "step", category=5)]
    return tl.open(
        make_export(
            tmp_path / "run.sqlite",
            ranges=ranges,
            marks=[Mark(7, "arrived", domain=1)],
            domains={1: "serving"},
            calls=[Call(12, 14, 1), Call(62, 64, 2)],
            kernels=[Kernel(100, 130, 1), Kernel(200, 210, 2)],
            sql=[
                "INSERT INTO NVTX_EVENTS (start, eventType, category, text, globalTid, domainId) "
                "SELECT 0, 33, 5, 'decode', globalTid, 0 FROM NVTX_EVENTS WHERE text = 'step' "
                "LIMIT 1",
                "UPDATE NVTX_EVENTS SET category = 6, color = 255 WHERE text = 'arrived'",
            ],
        )
    )


def row(trace: tl.Trace, name: str, fold: bool = True) -> dict[str, Any]:
    (found,) = [r for r in trace.range_summary(fold).to_dicts() if r["name"] == name]
    return found


def test_folded_names_share_a_row(trace: tl.Trace) -> None:
    assert sorted(trace.range_summary()["name"]) == ["request_#", "step"]
    names = [f"request_{i}" for i in range(4)]
    assert sorted(trace.range_summary(fold=False)["name"]) == [*names, "step"]


def test_a_range_that_was_never_closed_has_no_length(trace: tl.Trace) -> None:
    requests = row(trace, "request_#")
    assert (requests["instances"], requests["open_instances"]) == (4, 1)
    times = [requests[m] for m in ("min_ms", "p50_ms", "mean_ms", "max_ms", "total_ms")]
    assert [1e6 * t for t in times] == pytest.approx([30, 60, 190 / 3, 100, 190])
    assert row(trace, "request_3", fold=False)["p50_ms"] is None


def test_overlap(trace: tl.Trace) -> None:
    requests = row(trace, "request_#")
    assert (requests["overlapping"], requests["most_open"]) == (4, 2)
    step = row(trace, "step")
    assert (step["overlapping"], step["most_open"]) == (0, 1)


def test_payloads_colours_and_categories(trace: tl.Trace) -> None:
    requests = row(trace, "request_#")
    payloads = [requests[f"payload_{what}"] for what in ("min", "median", "max")]
    assert (payloads, requests["payloads"]) == ([0, 15, 30], 4)
    assert requests["colors"] == ["#0000FF00"]
    assert (requests["categories"], row(trace, "step")["categories"]) == ([], ["decode"])


def test_projection_by_name(trace: tl.Trace) -> None:
    step = row(trace, "step")
    assert (step["projected"], step["operations"]) == (2, 2)
    assert 1e6 * step["gpu_span_ms"] == pytest.approx(20)
    assert row(trace, "request_#")["gpu_span_ms"] is None


def test_a_mark_with_its_colour_and_category(trace: tl.Trace) -> None:
    (mark,) = trace.marks().to_dicts()
    assert (mark["name"], mark["domain"], mark["at_ns"]) == ("arrived", "serving", 7)
    assert (mark["color"], mark["category"]) == ("#000000FF", "6")
