"""The pictures of the HTML report for notebooks and papers: ``trace.plot.budget()`` and kin.

Each is an Altair chart: it shows itself in a notebook without a network, takes ``.properties()``
and all else that Altair offers, and ``.save("budget.svg")`` (or .png, .pdf, .html, .json) writes it
offline. They need the extra ``report``; without it each raises TracelensError.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from tracelens import details
from tracelens.errors import TracelensError
from tracelens.reports import _charts, _tree
from tracelens.reports._charts import Chart

if TYPE_CHECKING:
    from tracelens.engine import Engine
    from tracelens.report import Report


class Plots:
    """The pictures of one run. Devices are numbered as in ``trace.devices()``."""

    def __init__(self, engine: Engine, report: Callable[[], Report]) -> None:
        self._engine = engine
        self._make_report = report

    def budget(self) -> Chart:
        """Where an ordinary iteration's time goes: one bar a device, in milliseconds."""
        known = [b for b in self._report["budget"] if b["iterations"]]
        return _shown(_charts.budget(_some(known, "budget")))

    def iterations(self, device: int | None = None) -> Chart:
        """Periods over time, the gap of each on top of its work; far too long ones are marked."""
        chosen = self._device(device)
        rows = [r for r in self._report["iterations"]["rows"] if r["device"] == chosen]
        return _shown(_charts.iterations(_some(rows, "iterations")))

    def timeline(
        self,
        iteration: int | None = None,
        device: int | None = None,
        span_ms: tuple[float, float] | None = None,
    ) -> Chart:
        """Host ranges and calls above, the GPU's phases, streams and idle time below.

        Without ``iteration`` a typical one. ``span_ms`` takes a part of it, in milliseconds from
        its left edge, in which what was too short before is drawn by itself. Drag to move, Ctrl
        and the wheel to zoom.
        """
        _charts.library()
        chosen = self._device(device)
        return _shown(_charts.timeline(details.timeline(self._engine, chosen, iteration, span_ms)))

    def tree(self) -> Chart:
        """The nested ranges as a flame graph, by GPU time summed over the run."""
        root, what = _charts.flame(_tree.nested(self._engine.frame("tree")))
        _some(root["children"], "nested ranges")
        return _shown(_charts.tree(root, what))

    def gaps(self, device: int | None = None) -> Chart:
        """Idle time of each iteration by cause."""
        chosen = self._device(device)
        parts = self._engine.frame("budget_parts").to_dicts()
        rows = [r for r in parts if r["device_index"] == chosen and r["part"] == "idle"]
        return _shown(_charts.gaps(_some(rows, "idle time")))

    @cached_property
    def _report(self) -> Report:
        return self._make_report()

    def _device(self, device: int | None) -> int:
        known = self._engine.frame("devices")["device_index"].to_list()
        if not known or (device is not None and device not in known):
            what = "no GPU work" if device is None else f"no device {device}"
            raise TracelensError(f"there is {what} here", hint="trace.devices() lists those")
        return int(known[0] if device is None else device)


def _some(rows: list[Any], what: str) -> list[Any]:
    if not rows:
        raise TracelensError(f"this run has no {what} to draw", hint="trace.diagnose() says why")
    return rows


def _shown(chart: Chart) -> Chart:
    """The chart, showing itself with the library that it carries instead of one from the web."""
    # Altair takes an ordinary assignment for a property of the chart
    object.__setattr__(chart, "__class__", _offline(chart.__class__))
    return chart


@cache
def _offline(kind: Any) -> Any:
    return type(kind.__name__, (kind,), {"_repr_mimebundle_": _mimebundle})


def _mimebundle(chart: Chart, *args: Any, **kwargs: Any) -> Any:
    alt = _charts.library()
    if alt.renderers.active != "default":  # whoever chose a renderer gets that one
        return super(type(chart), chart)._repr_mimebundle_(*args, **kwargs)
    place = f"tracelens-{uuid.uuid4().hex}"
    spec = json.dumps(chart.to_dict()).replace("<", "\\u003c")
    drawn = f'vegaEmbed("#{place}", {spec}, {{"actions": false}});'
    html = f'<div id="{place}"></div><script>{_charts.script()}\n{drawn}</script>'
    return {"text/plain": f"<{type(chart).__name__}>", "text/html": html}
