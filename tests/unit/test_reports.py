"""What every renderer must do, and what the terminal's does beside."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
from runs import FINDINGS, frames, report

from tracelens.diagnosis import Findings
from tracelens.reports import formats, renderer
from tracelens.reports import text as terminal
from tracelens.reports._words import clean, ms, percent, sparkline, worth_and_share

HOSTILE = "evil\x1b[31m\r\nname\u202e [bold]|`<script>"


def hostile_report() -> dict[str, object]:
    given = frames()
    given["kernels"] = given["kernels"].with_columns(
        name=pl.lit(HOSTILE), short_name=pl.lit(HOSTILE)
    )
    given["phase_instances"] = given["phase_instances"].with_columns(phase=pl.lit(HOSTILE))
    bad = replace(FINDINGS.diagnoses[0], title=HOSTILE, explanation=HOSTILE)
    return report(given, replace(FINDINGS, diagnoses=(bad,)))


@pytest.mark.parametrize("form", formats())
def test_every_renderer_tells_the_finding_and_its_worth(form: str) -> None:
    told = renderer(form).render(report())
    assert "input-starved" in told
    assert "22.5" in told
    assert told.endswith("\n")


@pytest.mark.parametrize("form", formats())
def test_no_renderer_lets_a_name_steer_a_terminal(form: str) -> None:
    told = renderer(form).render(hostile_report())
    assert not {"\x1b", "\r", "\u202e"} & set(told)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_worth_of_the_mean_iteration_says_so(form: str) -> None:
    """Three iterations of 40 ms and one of 240: the mean is 90, of which 50 can be had."""
    rare = replace(
        FINDINGS.diagnoses[0], recoverable_ms=50.0, share_of_period=50 / 90, share_of="mean"
    )
    told = renderer(form).render(report(findings=replace(FINDINGS, diagnoses=(rare,))))
    assert "worth 50.00 ms of the mean iteration's 90.00 ms (56 %)" in " ".join(told.split())


def test_a_worth_in_words() -> None:
    rare = replace(
        FINDINGS.diagnoses[0], recoverable_ms=50.0, share_of_period=50 / 90, share_of="mean"
    )
    assert worth_and_share(rare.to_dict()) == (
        "worth 50.00 ms of the mean iteration's 90.00 ms, 56 %"
    )
    assert worth_and_share(replace(rare, share_of="median").to_dict()) == (
        "worth 50.00 ms an iteration, 56 %"
    )
    assert worth_and_share(replace(rare, recoverable_ms=None).to_dict()) is None


def test_json_is_the_report() -> None:
    assert json.loads(renderer("json").render(report())) == report()


@pytest.mark.parametrize("width", [60, 80, 140])
def test_text_keeps_to_its_width_and_has_no_colour_unless_asked(width: int) -> None:
    told = terminal.render(report(), width=width)
    assert max(map(len, told.splitlines())) <= width
    assert "\x1b" not in told
    assert "\x1b[" in terminal.render(report(), width=width, color=True)


def test_text_says_first_what_to_do_then_where_the_time_went() -> None:
    told = terminal.render(report())
    places = [
        told.index(words)
        for words in ("Fix input-starved first", "1. HIGH", "Next: Feed one batch",
                      "idle: next batch", "gap to the next", "backward takes", "gemm",
                      "open-ranges", "rank-straggler")
    ]  # fmt: skip
    assert places == sorted(places)


def test_a_healthy_run_is_called_so() -> None:
    told = " ".join(terminal.render(report(findings=Findings())).split())
    assert "Healthy: nothing here is worth fixing." in told
    assert "What to do" not in told


def test_the_bars_of_the_budget_follow_each_other() -> None:
    lines = terminal.render(report()).splitlines()
    bars = [line for line in lines if "█" in line and "%" in line]
    starts = [line.index("█") for line in bars]
    assert starts == sorted(starts)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (0.00613, "0.0061"), (0.5, "0.50"), (63.6789, "63.68"), (1240.4, "1,240")],
)
def test_milliseconds(value: float | None, shown: str) -> None:
    assert ms(value) == shown


def test_percent_and_sparkline() -> None:
    assert [percent(s) for s in (None, 0.031, 0.4)] == ["-", "3.1 %", "40 %"]
    assert sparkline([0, 5, 10], 10) == "▁▅█"
    assert sparkline([1, 9, 2, 2], 2) == "█▃"


def test_clean_keeps_letters_of_every_script() -> None:
    assert clean("größe 大\t\x00x") == "größe 大 x"


def many_devices(count: int) -> dict[str, object]:
    """The run by hand on so many ranks, the last of which waits longer."""
    told = report()
    (budget,), (device,) = told["budget"], told["trace"]["devices"]
    told["budget"] = [{**budget, "device": i} for i in range(count)]
    slow = [{**p, "ms": p["ms"] + 20 * (p.get("cause") == "input")} for p in budget["parts"]]
    told["budget"][-1] |= {"parts": slow, "total_ms": budget["total_ms"] + 20}
    told["trace"]["devices"] = [{**device, "device": i, "rank": i} for i in range(count)]
    return told


@pytest.mark.parametrize("width", [60, 80, 140])
def test_many_devices_share_one_table(width: int) -> None:
    lines = terminal.render(many_devices(16), width=width).splitlines()
    assert max(map(len, lines)) <= width
    rows = [line.split() for line in lines if line.startswith("  rank ")]
    assert [row[1] for row in rows] == [str(i) for i in range(16)]
    assert rows[0][:3] == ["rank", "0", "61.25"]
    assert rows[15][2] == "81.25"
    assert "37 %" in " ".join(rows[0])
    assert "52 %" in " ".join(rows[15])
    assert len([line for line in lines if "ordinary iteration" in line]) == 1


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_many_devices_share_one_table_elsewhere_too(form: str) -> None:
    told = renderer(form).render(many_devices(16))
    assert "rank 15" in told
    assert "81.25" in told


def test_a_thousand_devices_are_not_all_listed() -> None:
    told = terminal.render(many_devices(1000), width=80)
    assert "and 968 more devices" in told
    assert len(renderer("html").render(many_devices(1000))) < 3_000_000
