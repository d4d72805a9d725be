"""The HTML report without a browser, and the small pictures of long recordings."""

from __future__ import annotations

import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from runs import FINDINGS, frames, report

import tracelens as tl
from tracelens import details
from tracelens.errors import TracelensError
from tracelens.reports import html

HOSTILE = "</script><img src=x onerror=alert(1)>\u2028&lt;"


def without_scripts(told: str) -> str:
    return re.sub(r"<script.*?</script>", "", told, flags=re.DOTALL)


def test_nothing_that_a_recording_says_becomes_markup() -> None:
    given = frames()
    given["kernels"] = given["kernels"].with_columns(name=pl.lit(HOSTILE))
    given["phase_instances"] = given["phase_instances"].with_columns(phase=pl.lit(HOSTILE))
    given["iterations"] = given["iterations"].with_columns(name=pl.lit(HOSTILE))
    given["budget"] = given["budget"].with_columns(role=pl.lit(HOSTILE))
    bad = replace(FINDINGS.diagnoses[0], title=HOSTILE, where={"ranges": [HOSTILE]})
    told = html.render(report(given, replace(FINDINGS, diagnoses=(bad,))))
    assert "<img" not in without_scripts(told)
    assert "onerror=alert(1)&gt;" in without_scripts(told)
    assert told.count("</script>") == told.count("<script") == 3


def test_it_points_nowhere() -> None:
    told = without_scripts(html.render(report()))
    assert set(re.findall(r'(?:href|src)="(.)', told)) == {"#"}
    assert "url(" not in told
    assert "connect-src" not in told
    assert "default-src 'none'" in told


def test_a_link_leads_to_every_section_that_is_there() -> None:
    told = html.render(report())
    targets = re.findall(r'<a href="#([a-z]+)"', told)
    assert "kernels" in targets
    assert "timeline" not in targets
    assert all(f'id="{target}"' in told for target in targets)


def test_without_the_packages_it_says_in_one_line_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(TracelensError, match=r'pip install "tracelens-gpu\[report\]"') as raised:
        html.render(report())
    assert "\n" not in str(raised.value)


def events(count: int, **columns: Any) -> pl.DataFrame:
    """Kernels of 600 ns, one a microsecond, alternately of two phases."""
    start = pl.int_range(count, eager=True) * 1000
    rows = pl.DataFrame({"start_ns": start, "end_ns": start + 600})
    group = pl.when(pl.int_range(count) % 2 == 0).then(pl.lit("a")).otherwise(pl.lit("b"))
    return rows.with_columns(
        group.alias("group"), place=pl.lit(1), lane=pl.lit("s"), kind=pl.lit("work"),
        name=pl.lit("k"),
    )  # fmt: skip


def test_few_events_are_drawn_as_they_are() -> None:
    drawn = details.thin(events(10), 10_000, limit=100)
    assert drawn.height == 10
    assert set(drawn["count"]) == {1}


def test_a_million_events_become_few_rectangles_soon_and_none_is_lost() -> None:
    began = time.process_time()
    drawn = details.thin(events(1_000_000), 1_000_000_000, limit=3000)
    assert drawn.height <= 3000
    assert drawn["count"].sum() == 1_000_000
    assert (drawn["start_ns"].min(), drawn["end_ns"].max()) == (0, 999_999_600)
    assert time.process_time() - began < 20


def test_a_long_event_among_short_ones_stays_itself() -> None:
    long = events(1).with_columns(end_ns=pl.lit(500_000, pl.Int64), name=pl.lit("long"))
    drawn = details.thin(pl.concat([events(1000), long]), 1_000_000, limit=50)
    assert drawn.filter(pl.col("name") == "long").select("start_ns", "end_ns", "count").rows() == [
        (0, 500_000, 1)
    ]


@pytest.fixture(scope="module")
def starved(sample_traces: Path) -> tl.Trace:
    return tl.open(sample_traces / "starved.sqlite")


def test_the_timeline_is_of_a_typical_iteration(starved: tl.Trace) -> None:
    shown = details.timeline(starved.engine)
    periods = starved.iterations()["period_ms"].drop_nulls()
    assert shown.iteration is not None
    period = starved.iterations()["period_ms"][shown.iteration]
    assert period == periods.sort()[(len(periods) - 1) // 2]
    assert period <= shown.length_ms < 1.05 * period
    kinds = {row["kind"] for row in shown.rows}
    assert kinds == {"host", "call", "phase", "work", "idle"}
    assert all(0 <= row["start_ms"] <= row["end_ms"] <= shown.length_ms for row in shown.rows)


def test_a_part_of_it_is_seen_in_more_detail(starved: tl.Trace) -> None:
    whole = details.timeline(starved.engine, iteration=3, limit=200)
    part = details.timeline(starved.engine, iteration=3, span_ms=(2.0, 4.0), limit=200)
    assert part.length_ms == pytest.approx(2.0)
    assert whole.events > len(whole.rows)
    assert len(whole.rows) <= 200
    assert max(row["count"] for row in part.rows) < max(row["count"] for row in whole.rows)


@pytest.mark.parametrize(
    ("choice", "words"),
    [({"device": 7}, "no device 7"), ({"iteration": 99}, "no iteration 99"),
     ({"span_ms": (3.0, 2.0)}, "nothing lies")],
)  # fmt: skip
def test_what_is_not_there_is_said(starved: tl.Trace, choice: dict[str, Any], words: str) -> None:
    with pytest.raises(TracelensError, match=words):
        details.timeline(starved.engine, **choice)


def test_it_stays_small_however_long_the_recording() -> None:
    name = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor<float>>" * 40
    given = frames()
    count = 20_000
    given["iterations"] = pl.concat([given["iterations"][1:2]] * count).with_columns(
        iteration_index=pl.int_range(count), start_ms=60.0 * pl.int_range(count), name=pl.lit(name)
    )
    kernel = given["kernels"]
    kernels = pl.concat([kernel] * 5000).with_columns(
        name=pl.format("{}{}", pl.lit(name), pl.int_range(5000)), short_name=pl.lit(name)
    )
    given["kernels"] = kernels
    row = {"lane": "stream 7", "kind": "work", "group": "forward", "name": name[:160], "count": 1}
    rows = [{**row, "start_ms": i / 7, "end_ms": i / 7 + 0.1} for i in range(details.RECTANGLES)]
    parts = pl.DataFrame(
        [
            {"device_index": 0, "iteration_index": i, "part": "idle", "cause": cause, "ms": 1 / 3}
            for i in range(count)
            for cause in ("sync", "launch", "input", "host")
        ]
    )
    nodes = [
        {
            "path_id": i, "parent_path_id": None, "process_index": 0, "is_main": True, "depth": 0,
            "domain": "", "is_library": False, "name": f"{i}{name}", "instances": 1,
            "open_instances": 0, "cpu_ms": 1.0, "self_cpu_ms": 1.0, "gpu_span_ms": 1.0,
            "gpu_busy_ms": 1.0, "operations": 1, "self_operations": 1,
        }
        for i in range(700)
    ]  # fmt: skip
    shown = details.Timeline(0, 3, name, 500.0, ["stream 7"], rows, 10**7)
    more = details.Details(pl.DataFrame(nodes), kernels, parts, shown)
    assert len(html.render(report(given), details=more).encode()) < 3_000_000
