"""Projection of ranges against what NVIDIA's own reports print for the same recordings.

``nvtx_gpu_proj_trace`` and ``nvtx_gpu_proj_sum`` of Nsight Systems 2023.4.4, every row of them.
Where that script is known to be wrong, the test says so and says what is right.
"""

from __future__ import annotations

import csv
from collections import Counter
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from tracelens.engine import Engine
from tracelens.loaders import open_source

pytestmark = pytest.mark.shared

SHARED = Path(__file__).resolve().parents[3] / "shared"
TRACE, SUM = "nvtx_gpu_proj_trace", "nvtx_gpu_proj_sum"
RUNS = sorted(p.name.split(".nvtx_")[0] for p in (SHARED / "oracles").glob(f"*.{TRACE}.csv"))
MASK = (1 << 24) - 1

# One row a projected range, in NVIDIA's columns.
PROJECTED = """
WITH named AS (
    SELECT
        r.*, p.start_ns AS projected_ns, p.span_ns, p.launches, p.ops, n.depth, n.parent_id,
        CASE WHEN r.domain = '' THEN r.name ELSE r.domain || ':' || r.name END AS full_name
    FROM range_projection AS p
    INNER JOIN host_range AS r ON p.range_id = r.range_id
    LEFT JOIN range_nesting AS n ON p.range_id = n.range_id
)
SELECT
    full_name AS name, projected_ns, span_ns, start_ns, end_ns - start_ns AS length_ns,
    CASE style WHEN 'push_pop' THEN 'PushPop' ELSE 'StartEnd' END AS style,
    thread_id, launches, ops, depth, parent_id, range_id,
    (SELECT count(*) FROM named AS c WHERE c.parent_id = named.range_id) AS children
FROM named
"""
# What no range owns, found the slow way: a join by containment.
OUTSIDE = """
SELECT min(start_ns), max(end_ns) - min(start_ns), count(DISTINCT call_id)
FROM launched_op AS o
WHERE call_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM host_range AS r
    WHERE r.thread_id = o.thread_id AND r.end_thread_id = o.thread_id
        AND r.start_ns <= o.call_start_ns AND o.call_end_ns <= r.end_ns
)
"""


def oracle(run: str, report: str) -> list[dict[str, str]]:
    """The rows of a report as NVIDIA prints them."""
    with (SHARED / "oracles" / f"{run}.{report}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def engine(run: str) -> Engine:
    built = Engine([open_source(SHARED / "traces" / "nsys" / f"{run}.sqlite")])
    built.need("range_projection", "range_nesting", "host_range", "launched_op")
    return built


@cache
def projected(run: str) -> pl.DataFrame:
    return engine(run).frame_of(PROJECTED)


@pytest.mark.parametrize("run", RUNS)
def test_every_projected_range(run: str) -> None:
    ours = Counter(
        (
            *(row["name"], row["projected_ns"], row["span_ns"], row["start_ns"], row["length_ns"]),
            *(row["style"], row["thread_id"] >> 24 & MASK, row["thread_id"] & MASK),
            *(row["launches"], row["depth"], row["children"], row["range_id"], row["parent_id"]),
        )
        for row in projected(run).iter_rows(named=True)
    )
    numbers = ("Projected Start (ns)", "Projected Duration (ns)", "Orig Start (ns)")
    theirs = Counter(
        (
            *(row["Name"], *(int(row[n]) for n in numbers), int(row["Orig Duration (ns)"])),
            *(row["Style"], int(row["PID"]), int(row["TID"])),
            *(int(row["NumGPUOps"]), int(row["Lvl"]), int(row["NumChild"]), int(row["RangeId"])),
            int(row["ParentId"]) if row["ParentId"] else None,
        )
        for row in oracle(run, TRACE)
        if row["Style"]
    )
    assert ours == theirs


@pytest.mark.parametrize("run", RUNS)
def test_row_of_what_no_range_owns(run: str) -> None:
    ours = engine(run).connection.execute(OUTSIDE).fetchall()
    theirs = [
        (
            int(row["Projected Start (ns)"]),
            int(row["Projected Duration (ns)"]),
            int(row["NumGPUOps"]),
        )
        for row in oracle(run, TRACE)
        if not row["Style"]
    ]
    assert ours == (theirs or [(None, None, 0)])


def rounded(value: float | None) -> float:
    """As NVIDIA prints it: one decimal, and no deviation of a single range."""
    return 0.0 if value is None else round(value, 1)


@pytest.mark.parametrize("run", RUNS)
def test_every_row_of_the_summary(run: str) -> None:
    """By full name and style; names that emit_nvtx made unique count one by one, as theirs do."""
    frame = projected(run).group_by("name", "style").agg(
        total=pl.col("span_ns").sum(),
        length=pl.col("length_ns").sum(),
        instances=pl.len(),
        mean=pl.col("span_ns").mean(),
        median=pl.col("span_ns").median(),
        least=pl.col("span_ns").min(),
        most=pl.col("span_ns").max(),
        deviation=pl.col("span_ns").std(),
        launches=pl.col("launches").sum(),
        launches_mean=pl.col("launches").mean(),
        depth=pl.col("depth").mean(),
        children=pl.col("children").mean(),
    )  # fmt: skip
    ours = {tuple(row[:2]): tuple(map(rounded, row[2:])) for row in frame.iter_rows()}
    theirs = {
        (row["Range"], row["Style"]): tuple(float(v) for v in list(row.values())[2:])
        for row in oracle(run, SUM)
        if row["Style"]
    }
    assert ours.keys() == theirs.keys()
    for key, row in ours.items():
        assert row == pytest.approx(theirs[key], abs=0.11)


@pytest.mark.parametrize("run", RUNS)
def test_our_own_summary_has_the_same_numbers(run: str) -> None:
    """``range_stat`` leaves off what emit_nvtx appends, so such names are compared by their sum."""
    engine(run).need("range_stat")
    ours = (
        engine(run)
        .connection.execute(
            "SELECT CASE WHEN domain = '' THEN name ELSE domain || ':' || name END, gpu_span_ns, "
            "projected, launches FROM range_stat WHERE NOT is_folded AND projected > 0"
        )
        .fetchall()
    )
    theirs: Counter[tuple[str, str]] = Counter()
    columns = ("Total Proj Time (ns)", "Range Instances", "Total GPU Ops")
    for row in (row for row in oracle(run, SUM) if row["Style"]):
        name = row["Range"].split(", ")[0]
        theirs.update({(name, column): int(row[column]) for column in columns})
    assert theirs == {
        (name, column): number
        for name, *numbers in ours
        for column, number in zip(columns, numbers, strict=True)
    }


def test_true_number_of_operations_in_a_graph_launch() -> None:
    """NVIDIA counts launches, and one launch of this graph runs hundreds of kernels."""
    replays = projected("cudagraph").filter(pl.col("name").str.starts_with("iter_"))
    assert replays["launches"].to_list() == [1] * 8
    traced = engine("cudagraph").frame("gpu_op").filter(pl.col("graph_node_id").is_not_null())
    assert replays["ops"].to_list() == [traced.height // 8] * 8
    assert traced.height > 8
