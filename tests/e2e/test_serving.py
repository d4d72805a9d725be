"""What a serving program marks reaches the API: requests across threads, payloads, colours, marks.

``domains.sqlite``: six requests opened in threads of their own and closed by the scheduler, each
overlapping the next; the last one is never closed.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import tracelens

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def trace() -> tracelens.Trace:
    shared = Path(__file__).resolve().parents[3] / "shared"
    return tracelens.open(shared / "traces" / "nsys" / "domains.sqlite")


def test_six_overlapping_requests(trace: tracelens.Trace) -> None:
    requests = trace.ranges().filter(pl.col("name").str.starts_with("request_"))
    assert requests["name"].to_list() == [f"request_{i}" for i in range(6)]
    assert requests["payload"].to_list() == [0, 1, 2, 3, 4, 5]
    assert set(requests["style"]) == {"start_end"}
    assert set(requests["domain"]) == {"serving"}
    assert requests["thread"].n_unique() == 6
    starts, ends = requests["start_ns"].to_list(), requests["end_ns"].to_list()
    assert all(start < end for start, end in zip(starts[1:], ends[:-1], strict=True))


def test_requests_by_name(trace: tracelens.Trace) -> None:
    (row,) = trace.range_summary().filter(pl.col("name") == "request_#").iter_rows(named=True)
    lengths = (
        trace.ranges()
        .filter(pl.col("name").str.starts_with("request_") & ~pl.col("is_open"))["cpu_ms"]
        .sort()
    )
    assert (row["instances"], row["open_instances"]) == (6, 1)
    assert (row["overlapping"], row["most_open"]) == (6, 2)
    assert row["p50_ms"] == pytest.approx(lengths.median())
    assert row["max_ms"] == pytest.approx(lengths.max())
    assert (row["payload_min"], row["payload_median"], row["payload_max"]) == (0, 2.5, 5)
    assert row["colors"] == ["#00008000"]


def test_names_as_they_are(trace: tracelens.Trace) -> None:
    names = trace.range_summary(fold=False)["name"].to_list()
    assert sorted(n for n in names if n.startswith("request_")) == [
        f"request_{i}" for i in range(6)
    ]


def test_one_open_range(trace: tracelens.Trace) -> None:
    assert trace.ranges().filter(pl.col("is_open"))["name"].to_list() == ["request_5"]


def test_category_and_colours(trace: tracelens.Trace) -> None:
    steps = trace.ranges().filter(pl.col("name").str.starts_with("step_"))
    assert steps["category"].to_list() == ["decode"] * 6
    assert set(steps["color"]) == {"#00FFA500"}


def test_seven_marks(trace: tracelens.Trace) -> None:
    marks = trace.marks()
    assert marks.height == 7
    assert marks["name"].to_list()[-1] == "ckpt saved"
    assert marks["color"].to_list() == ["#00FF0000"] * 6 + [None]
