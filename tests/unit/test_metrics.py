"""Metrics over relations of a few rows: the expected rows stand beside them."""

from __future__ import annotations

from typing import Any

import polars as pl
from casefile import table

from tracelens import sqlfiles
from tracelens.engine import Engine, step_module

TYPES = {
    "BIGINT": pl.Int64,
    "VARCHAR": pl.String,
    "ENUM": pl.String,
    "BOOLEAN": pl.Boolean,
    "DOUBLE": pl.Float64,
}
WINDOWS = """
device_id | iteration_index | start_ns | end_ns | period_ns | is_steady
1         | 0               | 0        | 1000   | 1000      | true
1         | 1               | 1000     | 2000   | 1000      | true
"""


EXAMINED = """
device_id | iteration_index | is_lead
1         | 0               | false
1         | 1               | false
1         | 2               | false
1         | 3               | false
"""


def metric(name: str, **relations: str) -> list[dict[str, Any]]:
    """The rows of a metric over these relations, in any order; columns not given are NULL."""
    engine = Engine([])
    for read in sqlfiles.modules()[name].reads:
        engine.put(read, _frame(read, relations.get(read, "")))
    return engine.frame(name).to_dicts()


def _frame(name: str, text: str) -> pl.DataFrame:
    given = table(text) if text else pl.DataFrame()
    module = sqlfiles.modules().get(name) or sqlfiles.staging("nsys").get(name)
    columns = (
        {c.name: TYPES[c.type] for c in module.columns}
        if module
        else getattr(step_module(name), "SCHEMA", {})
    )
    return given.with_columns(
        (pl.col(column) if column in given.columns else pl.lit(None)).cast(kind).alias(column)
        for column, kind in columns.items()
    ).select(*dict.fromkeys([*given.columns, *columns]))


def test_exposed_copies_are_what_no_kernel_runs_beside() -> None:
    (row,) = metric(
        "transfer_bound",
        # half beside kernels in the first iteration, all of it in the second
        gpu_op="""
        op_id | device_id | kind   | name_id | start_ns | end_ns | bytes | copy_kind
        1     | 1         | memcpy | 9       | 100      | 500    | 600   | HtoD
        2     | 1         | kernel | 8       | 300      | 700    |       |
        3     | 1         | kernel | 8       | 350      | 600    |       |
        4     | 1         | kernel | 8       | 1100     | 1900   |       |
        5     | 1         | memcpy | 9       | 1200     | 1600   | 600   | HtoD
        """,
        op_class="name_id | op_class\n9 | copy\n8 | compute",
        op_phase="""
        op_id | device_id | kind   | start_ns | end_ns | call_end_ns | iteration_index | phase
        1     | 1         | memcpy | 100      | 500    | 250         | 0               | data
        2     | 1         | kernel | 300      | 700    | 262         | 0               | forward
        3     | 1         | kernel | 350      | 600    | 264         | 0               | forward
        4     | 1         | kernel | 1100     | 1900   | 266         | 1               | forward
        5     | 1         | memcpy | 1200     | 1600   | 268         | 1               | data
        """,
        iteration_window=WINDOWS,
    )
    assert row == {
        "device_id": 1,
        "direction": "HtoD",
        "copies": 1.0,
        "bytes": 600.0,
        "copy_ns": 400.0,
        "exposed_ns": 100.0,  # median of 200 and 0
        "pageable_bytes": 0.0,
        "blocked_ns": 75.0,  # 150 of the first, none of the second
        "range_name": "data",
    }


def test_what_is_captured_into_a_graph_launches_nothing() -> None:
    rows = metric(
        "launch_call",
        api_call="""
        call_id | process_id | name_id | start_ns
        1       | 1          | 7       | 20
        2       | 1          | 7       | 35
        3       | 1          | 7       | 50
        4       | 2          | 7       | 35
        5       | 1          | 8       | 60
        """,
        api_kind="name_id | kind\n7 | launch\n8 | sync",
        stream_capture="process_id | start_ns | end_ns\n1 | 30 | 40",
    )
    assert {(r["process_id"], r["start_ns"]) for r in rows} == {(1, 20), (1, 50), (2, 35)}


def test_lost_launches_are_neither_trailing_nor_recorded_twice() -> None:
    (row,) = metric(
        "coverage_launches",
        launch_call="""
        process_id | start_ns | correlation_id | kind
        1          | 10       | 101            | launch
        1          | 11       | 101            | launch
        1          | 20       | 102            | launch
        1          | 50       | 104            | launch
        1          | 60       | 105            | launch
        """,
        gpu_op="process_id | correlation_id\n1 | 101\n1 | 104",
        op_phase="""
        op_id | process_id | call_id | call_start_ns
        1     | 1          | 1       | 10
        2     | 1          | 5       | 50
        """,
    )
    assert (row["launches"], row["operations"]) == (5, 2)
    assert (row["lost_launches"], row["trailing_launches"]) == (1, 1)


def test_idle_time_counts_iterations_without_any_as_zero() -> None:
    windows = "\n".join(
        [WINDOWS.strip(), "1 | 2 | 2000 | 3000 | 1000 | true", "1 | 3 | 3000 | 3500 | | true"]
    )
    (row,) = metric(
        "idle_by_finding",
        # the last iteration has no gap behind it
        idle_cause="""
        device_id | iteration_index | finding   | idle_ns | call_id | call_name
        1         | 0               | host-sync | 300     | 1       | cudaStreamSynchronize
        1         | 0               | host-sync | 60      | 2       | cudaMemcpy
        1         | 3               | host-sync | 900     | 3       | cudaMemcpy
        """,
        iteration_window=windows,
        examined_iteration=EXAMINED,
    )
    assert (row["median_ns"], row["mean_ns"], row["max_ns"]) == (0.0, 120.0, 360)
    assert row["call_name"] == "cudaStreamSynchronize"


def test_kernels_are_compared_at_their_place_of_the_iteration() -> None:
    rows = metric(
        "kernel_variance",
        # the kernel is short first and long second, in both iterations: no variance
        gpu_op="""
        op_id | grid | block
        1     | 4    | 32
        2     | 4    | 32
        3     | 4    | 32
        4     | 4    | 32
        """,
        op_class="name_id | op_class\n8 | compute",
        op_name="name_id | name\n8 | gemm",
        op_phase="""
        op_id | device_id | kind   | name_id | start_ns | end_ns | iteration_index
        1     | 1         | kernel | 8       | 0        | 10     | 0
        2     | 1         | kernel | 8       | 20       | 120    | 0
        3     | 1         | kernel | 8       | 1000     | 1010   | 1
        4     | 1         | kernel | 8       | 1020     | 1120   | 1
        """,
        iteration_window=WINDOWS,
    )
    assert [(r["launches"], r["p90_over_median"], r["excess_ns"]) for r in rows] == [(4, 1.0, 0.0)]


def test_what_grew_is_the_part_that_exceeds_its_own_median_most() -> None:
    windows = "\n".join([WINDOWS.strip(), "1 | 2 | 2000 | 4000 | 2000 | true"])
    rows = metric(
        "irregular_iterations",
        iteration_window=windows,
        examined_iteration=EXAMINED,
        budget_part="""
        device_id | iteration_index | part    | role    | cause | ns
        1         | 0               | compute | forward |       | 900
        1         | 1               | compute | forward |       | 910
        1         | 2               | compute | forward |       | 950
        1         | 0               | idle    |         | host  | 100
        1         | 1               | idle    |         | host  | 90
        1         | 2               | idle    |         | host  | 1050
        """,
        idle_cause="device_id | iteration_index | idle_ns | open_range\n1 | 2 | 1000 | gc",
    )
    longest = next(row for row in rows if row["iteration_index"] == 2)
    assert (longest["grew_part"], longest["grew_detail"], longest["grew_ns"]) == (
        "idle",
        "host",
        950,
    )
    assert longest["open_range"] == "gc"
