"""Pictures from Python: what is in them, and that they are shown and saved without a network."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import tracelens as tl

NAMES = ("budget", "iterations", "timeline", "tree", "gaps")


@pytest.fixture(scope="module")
def starved(sample_traces: Path) -> tl.Trace:
    return tl.open(sample_traces / "starved.sqlite")


def values(chart: Any) -> list[dict[str, Any]]:
    """The rows of a chart, or of its first layer."""
    spec = chart.to_dict()
    return list((spec.get("layer") or [spec])[0].get("data", spec.get("data"))["values"])


@pytest.mark.parametrize("name", NAMES)
def test_every_picture_saves_offline(starved: tl.Trace, name: str, tmp_path: Path) -> None:
    chart = getattr(starved.plot, name)()
    chart.save(str(tmp_path / "a.svg"))
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").count("<path") > 2


def test_png_too(starved: tl.Trace, tmp_path: Path) -> None:
    starved.plot.budget().save(str(tmp_path / "a.png"))
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("name", NAMES)
def test_in_a_notebook_nothing_is_fetched(starved: tl.Trace, name: str) -> None:
    shown = getattr(starved.plot, name)().properties(title="x")._repr_mimebundle_()["text/html"]
    assert "vegaEmbed(" in shown
    assert not re.search(r"<(script|link)[^>]+(src|href)=", shown)


def test_the_budget_is_that_of_the_report(starved: tl.Trace) -> None:
    (budget,) = starved.report()["budget"]
    told = values(starved.plot.budget())
    assert sum(row["ms"] for row in told) == pytest.approx(budget["total_ms"], abs=0.01)
    assert next(r for r in told if r["part"] == "idle: next batch")["ms"] == pytest.approx(
        26.5, 0.1
    )


def test_the_timeline_is_of_the_iteration_asked_for(starved: tl.Trace) -> None:
    rows = values(starved.plot.timeline(iteration=3))
    assert {row["name"] for row in rows} >= {"iter_3", "forward", "backward"}
    near = starved.plot.timeline(iteration=3, span_ms=(0, 5)).to_dict()
    assert near["encoding"]["x"]["scale"]["domain"] == [0, 5]


def test_iterations_have_a_gap_each(starved: tl.Trace) -> None:
    gaps = [r for r in values(starved.plot.iterations()) if r["part"] == "gap to the next"]
    assert len(gaps) == 7
    assert all(20 < row["to_ms"] - row["from_ms"] < 31 for row in gaps)


def test_the_flame_graph_holds_children_within_their_parents(starved: tl.Trace) -> None:
    rows = values(starved.plot.tree())
    parent = next(row for row in rows if row["name"] == "iter_#")
    inside = [row for row in rows if row["level"] == parent["level"] + 1]
    assert {"forward", "backward", "optim"} <= {row["name"] for row in inside}
    assert all(parent["from"] <= r["from"] <= r["to"] <= parent["to"] + 1e-6 for r in inside)


def test_without_the_packages_it_says_what_to_install(
    starved: tl.Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    for name in NAMES:
        with pytest.raises(tl.TracelensError, match=r"tracelens-gpu\[report\]"):
            getattr(starved.plot, name)()


def test_what_is_not_there_cannot_be_drawn(starved: tl.Trace) -> None:
    with pytest.raises(tl.TracelensError, match="no device 5"):
        starved.plot.gaps(device=5)
