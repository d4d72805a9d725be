"""The pictures of the HTML report: a chart, its place in the page, and what it says in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tracelens.details import Details, Timeline
from tracelens.report import Report
from tracelens.reports import _charts, _palette, _tree
from tracelens.reports import _words as words
from tracelens.reports._html import Content, Markup, legend, tag

_SHOWN_DEVICES = 4
"""Devices with pictures of their own: of the rest, the tables tell."""
_SHOWN_BARS = 32


@dataclass(frozen=True)
class Figure:
    """A Vega-Lite specification, and the HTML that it is drawn into."""

    spec: dict[str, Any]
    html: Markup


def figures(report: Report, details: Details | None) -> dict[str, Figure]:
    """All pictures that this run gives rise to, by name."""
    drawn: dict[str, Figure] = {}
    known = [b for b in report["budget"] if b["iterations"]]
    if known:
        names = {b["device"]: words.device_name(report, b["device"]) for b in known}
        drawn["budget"] = _budget(known[:_SHOWN_BARS], names)
    devices = _drawn_devices(report)
    for device in devices:
        rows = [r for r in report["iterations"]["rows"] if r["device"] == device]
        if sum(r["period_ms"] is not None for r in rows) > 1:
            drawn[f"iterations-{device}"] = _iterations(device, rows, len(devices))
    return drawn if details is None else drawn | _of_details(devices, details)


def _drawn_devices(report: Report) -> list[int]:
    """Those with findings before others, as many as there are pictures for."""
    known = [d["device"] for d in report["trace"]["devices"]]
    told = [d["where"].get("device") for d in report["diagnoses"]]
    order = dict.fromkeys([device for device in told if device in known] + known)
    return sorted(list(order)[:_SHOWN_DEVICES])


def _of_details(devices: Sequence[int], details: Details) -> dict[str, Figure]:
    drawn: dict[str, Figure] = {}
    if details.timeline is not None and details.timeline.rows:
        drawn["timeline"] = _timeline(details.timeline)
    parts = details.parts.to_dicts()
    for device in devices:
        idle = [r for r in parts if r["device_index"] == device and r["part"] == "idle"]
        if idle:
            drawn[f"idle-{device}"] = _idle(device, idle, len(devices))
    root, what = _charts.flame(_tree.nested(details.tree))
    if root["value"] > 0:
        drawn["tree"] = _flame(root, what)
    return drawn


def _budget(budgets: Sequence[Mapping[str, Any]], names: Mapping[int, str]) -> Figure:
    colors = {
        words.part_name(p): _palette.color(_charts.part_group(p))
        for b in budgets
        for p in words.ordered_parts(b)
    }
    told = "; ".join(
        _budget_words(b, names if len(names) > 1 else {}) for b in budgets[:_SHOWN_DEVICES]
    )
    # with few devices the tables beneath have the colours, and say the same in figures
    beside = legend(colors) if len(budgets) > words.FEW_DEVICES else None
    return _figure("budget", _charts.budget(budgets, False, names), told, beside, is_told=False)


def _budget_words(budget: Mapping[str, Any], names: Mapping[int, str]) -> str:
    device = names.get(budget["device"])
    gpu = f"{device}: " if device else ""
    parts = (
        f"{words.part_name(p)} {words.percent(words.share(p['ms'], budget['total_ms']))}"
        for p in words.ordered_parts(budget)
    )
    return f"{gpu}{', '.join(parts)}"


def _iterations(device: int, rows: Sequence[Mapping[str, Any]], devices: int) -> Figure:
    long = _charts.outliers(rows)
    names = ", ".join(words.clipped(row["name"], 60) or str(row["index"]) for row in long[:8])
    most = f"Far longer than it: {len(long):,} ({names}{' …' if len(long) > 8 else ''})."
    told = (
        f"{'GPU ' + str(device) + ': each' if devices > 1 else 'Each'} bar is an iteration, as "
        "wide as it is long; the dashed line is the median. "
        f"{most if long else 'None is far longer.'}"
    )
    colors = {"work": _palette.color("forward"), "gap to the next": _palette.color("input")}
    if long:
        colors["far longer than the median (▼)"] = _palette.color("sync")
    return _figure(
        f"iterations-{device}", _charts.iterations(rows, legend=False), told, legend(colors)
    )


def _timeline(shown: Timeline) -> Figure:
    chart = _charts.timeline(shown, legend=False)
    scale = chart.to_dict()["encoding"]["color"]["scale"]
    colors = dict(zip(scale["domain"], scale["range"], strict=True))
    merged = (
        f" {shown.events:,} events are drawn as {len(shown.rows):,} rectangles, short neighbours "
        "as one: tracelens export RUN --perfetto FILE has each."
        if shown.events > len(shown.rows)
        else ""
    )
    ahead = (
        f" The host began this iteration {words.ms(shown.ahead_ms)} ms before: what it does here "
        "is for later ones."
        if shown.ahead_ms
        else ""
    )
    told = (
        f"GPU {shown.device}, {words.ms(shown.length_ms)} ms: the host's ranges and calls above, "
        f"the GPU's phases, streams and idle time below.{ahead}{merged}"
    )
    return _figure("timeline", chart, told, [_tools(), legend(colors)], is_zoomed=True)


def _tools() -> Markup:
    """Zooming without a mouse; the picture takes the same keys when it has the focus."""
    buttons = {
        "in": "Zoom in (+)", "out": "Zoom out (-)", "left": "Left (←)", "right": "Right (→)",
        "all": "All (0)",
    }  # fmt: skip
    made = [tag("button", text, type="button", data_zoom=key) for key, text in buttons.items()]
    hint = tag("span", "Drag to move, Ctrl and wheel to zoom.", class_="hint")
    return tag("div", made, hint, class_="tools")


def _idle(device: int, rows: Sequence[Mapping[str, Any]], devices: int) -> Figure:
    total: dict[str, float] = {}
    for row in rows:
        cause = row["cause"] or "unknown"
        total[cause] = total.get(cause, 0.0) + row["ms"]
    ordered = sorted(total, key=lambda cause: -total[cause])
    colors = {words.cause_name(c): _palette.color(c) for c in ordered}
    sums = {words.cause_name(c): f"{words.ms(total[c])} ms" for c in ordered}
    gpu = f"GPU {device}: i" if devices > 1 else "I"
    told = f"{gpu}dle time of each iteration. Over all of them:"
    chart = _charts.gaps(rows, legend=False)
    return _figure(f"idle-{device}", chart, told, legend(colors, sums))


def _flame(root: _tree.Node, what: str) -> Figure:
    told = (
        f"Each bar is a range, those it holds below it; its width is {what} time, summed over the "
        "run. Numbers in names are folded."
    )
    return _figure("tree", _charts.tree(root, what), told)


def _figure(
    name: str,
    chart: Any,
    told: str,
    beside: Content = None,
    is_zoomed: bool = False,
    is_told: bool = True,
) -> Figure:
    place = tag(
        "div", class_="chart", id=f"chart-{name}", role="img", aria_label=told,
        tabindex=0 if is_zoomed else None, data_zoomed=is_zoomed,
    )  # fmt: skip
    caption = tag("figcaption", told) if is_told else None
    spec = chart.properties(width="container").to_dict()
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec["background"] = None
    return Figure(spec, tag("figure", place, caption, beside))
