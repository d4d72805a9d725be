"""The pictures, as Altair charts made from plain data: for notebooks and for the HTML report.

Each function takes rows or a part of the report and gives a chart; ``legend=False`` leaves the
legend to the page around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from tracelens.details import Timeline
from tracelens.errors import TracelensError
from tracelens.reports import _palette as palette
from tracelens.reports import _tree
from tracelens.reports import _words as words
from tracelens.reports._tree import Node

Rows = list[dict[str, Any]]
Chart = Any
"""An altair.Chart or LayerChart: altair is imported when a picture is asked for, not before."""

LONG_FACTOR = 1.3
"""Iterations longer than this many medians are marked, as irregular-iterations counts them."""
_WIDTH = 720
_NAME = 120
"""Letters of a name in a picture: the tables have more."""
_BARS = 500
"""Iterations drawn one by one; beyond, the longest of each few."""
_LANE_HEIGHT = 22
_FLAME_LEVELS = 24
_LABELLED = 0.03
"""Narrower ones have no room for a letter on a phone."""
_THINNEST = 1 / 800
"""Ranges narrower than this share of the picture could not be pointed at."""


def library() -> Any:
    """The module altair. Raises TracelensError where the extra ``report`` is not installed."""
    try:
        import altair
        import vl_convert  # noqa: F401  (altair saves and embeds through it)
    except ImportError as error:
        raise TracelensError(
            f"pictures need the package {error.name}",
            hint='pip install "tracelens-gpu[report]"',
        ) from None
    return altair


@cache
def script() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, which sets ``vegaEmbed``."""
    library()
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    # in a function, as its names must not clash with those of a second picture on the page
    return "(() => {" + bundle.replace("</script", "<\\/script") + "\n})();"


def budget(
    budgets: Sequence[Mapping[str, Any]],
    legend: bool = True,
    names: Mapping[int, str] | None = None,
) -> Chart:
    """The parts of an ordinary iteration, one bar a device; ``names`` of devices, where known."""
    alt = library()
    rows = []
    for each in budgets:
        for place, part in enumerate(words.ordered_parts(each)):
            share = words.share(part["ms"], each["total_ms"])
            rows.append(
                {
                    "device": (names or {}).get(each["device"]) or f"GPU {each['device']}",
                    "part": words.part_name(part),
                    "group": part_group(part), "ms": round(part["ms"], 4),
                    "share": words.percent(share), "place": place,
                }
            )  # fmt: skip
    colors = {row["part"]: palette.color(row["group"]) for row in rows}
    return (
        alt.Chart(_data(rows), width=_WIDTH, height=38 * len(budgets))
        .mark_bar(stroke="#00000055", strokeWidth=0.5)
        .encode(
            x=alt.X("sum(ms):Q", title="milliseconds of an iteration", scale=alt.Scale(nice=False)),
            y=alt.Y("device:N", title=None, sort=None),
            color=_color("part", colors, legend),
            order="place:Q",
            tooltip=["device:N", "part:N", alt.Tooltip("ms:Q", format=",.3f"), "share:N"],
        )
    )


def part_group(part: Mapping[str, Any]) -> str:
    """What a part of the budget is coloured by: its phase, its cause, or its kind."""
    of_kind = {"compute": part.get("role") or "other compute", "idle": part.get("cause")}
    return words.clean(of_kind.get(part["part"], part["part"]) or "unknown")


def iterations(rows: Sequence[Mapping[str, Any]], legend: bool = True) -> Chart:
    """Periods of one device over time: work, the gap behind it, and which are far too long."""
    alt = library()
    drawn, group = _iteration_rows(rows)
    highest = max((row["to_ms"] for row in drawn), default=1.0)
    names = {"work": palette.color("forward"), "gap to the next": palette.color("input")}
    base = alt.Chart(_data(drawn), width=_WIDTH, height=220)
    title = "period (ms)" if group == 1 else f"period (ms), the longest of each {group}"
    tip = [
        "name:N",
        alt.Tooltip("period_ms:Q", title="period (ms)", format=",.3f"),
        alt.Tooltip("gap_ms:Q", title="gap behind it (ms)", format=",.3f"),
    ]
    bars = base.mark_bar(stroke="#ffffff", strokeWidth=0.4).encode(
        x=alt.X("start_s:Q", title="seconds since the first", scale=alt.Scale(nice=False)),
        x2="end_s:Q",
        # room above the longest for the mark on it
        y=alt.Y("from_ms:Q", title=title, scale=alt.Scale(domain=[0, 1.1 * highest], nice=False)),
        y2="to_ms:Q",
        color=_color("part", names, legend),
        tooltip=[*tip, "state:N"],
    )
    marks = (
        alt.Chart(_data([r for r in drawn if r["is_long"] and r["part"] == "work"]))
        .mark_point(
            shape="triangle-down", filled=True, size=70, color=palette.color("sync"), yOffset=-9
        )
        .encode(
            x="middle_s:Q",
            y="period_ms:Q",
            color=alt.value(palette.color("sync")),
            tooltip=[*tip, "state:N"],
        )
    )
    line = (
        alt.Chart(_data([{"median_ms": _median_period(rows)}]))
        .mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color="#000000")
        .encode(y="median_ms:Q")
    )
    return alt.layer(bars, line, marks) if any(r["is_long"] for r in drawn) else bars + line


def _median_period(rows: Sequence[Mapping[str, Any]]) -> float:
    known = sorted(r["period_ms"] for r in rows if r["period_ms"] and r["is_steady"])
    known = known or sorted(r["period_ms"] for r in rows if r["period_ms"])
    return float(known[(len(known) - 1) // 2]) if known else 0.0


def outliers(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Iterations far longer than the median of their device."""
    bound = LONG_FACTOR * _median_period(rows)
    return [row for row in rows if row["period_ms"] and row["period_ms"] > bound]


def _iteration_rows(rows: Sequence[Mapping[str, Any]]) -> tuple[Rows, int]:
    """Two rectangles an iteration, work and gap, in seconds and milliseconds."""
    known = [row for row in rows if row["period_ms"]]
    group = -(-len(known) // _BARS) or 1
    groups = (known[i : i + group] for i in range(0, len(known), group))
    first = known[0]["start_ms"] if known else 0.0
    bound = LONG_FACTOR * _median_period(rows)
    drawn: Rows = []
    for each in groups:
        worst = max(each, key=lambda row: row["period_ms"])
        start = (each[0]["start_ms"] - first) / 1e3
        end = (each[-1]["start_ms"] + each[-1]["period_ms"] - first) / 1e3
        drawn += _two_parts(worst, start, end, bound)
    return drawn, group


def _two_parts(row: Mapping[str, Any], start: float, end: float, bound: float) -> Rows:
    period, gap = row["period_ms"], row["gap_ms"] or 0.0
    is_long = period > bound
    shared = {
        "name": words.clipped(row["name"], _NAME) or f"iteration {row['index']}",
        "start_s": round(start, 6), "end_s": round(end, 6), "middle_s": round((start + end) / 2, 6),
        "period_ms": round(period, 4), "gap_ms": round(gap, 4), "is_long": is_long,
        "state": "far longer than the rest" if is_long else
        "steady" if row["is_steady"] else "warm-up, not counted",
    }  # fmt: skip
    return [
        {**shared, "part": "work", "from_ms": 0.0, "to_ms": round(period - gap, 4)},
        {**shared, "part": "gap to the next", "from_ms": round(period - gap, 4), "to_ms": period},
    ]


def timeline(shown: Timeline, legend: bool = True) -> Chart:
    """Host ranges above, GPU work by phase below, idle by cause: zooms with Ctrl and the wheel."""
    alt = library()
    rows = [_timeline_row(row) for row in shown.rows]
    names = {row["what"]: row["color"] for row in rows}
    zoom = alt.selection_interval(
        bind="scales", encodings=["x"], name="view", zoom="wheel![event.ctrlKey || event.metaKey]"
    )
    lanes = [words.clean(lane) for lane in shown.lanes]
    kept = [{k: v for k, v in row.items() if k != "color"} for row in rows]
    return (
        alt.Chart(_data(kept), width=_WIDTH, height=_LANE_HEIGHT * len(lanes))
        .mark_rect(clip=True)
        .encode(
            x=alt.X(
                "start_ms:Q", title="milliseconds",
                scale=alt.Scale(domain=[0, shown.length_ms], nice=False),
            ),
            x2="end_ms:Q",
            y=alt.Y(
                "lane:N", title=None, sort=lanes,
                axis=alt.Axis(labelLimit=130, labelPadding=6, domain=False, ticks=False),
                scale=alt.Scale(domain=lanes, paddingInner=0.12),
            ),
            color=_color("what", names, legend),
            tooltip=[
                "name:N",
                alt.Tooltip("what:N", title="kind"),
                alt.Tooltip("start_ms:Q", title="start (ms)", format=",.4f"),
                alt.Tooltip("length_us:Q", title="length (µs)", format=",.1f"),
                alt.Tooltip("count:Q", title="events", format=","),
            ],
        )
        .add_params(zoom)
    )  # fmt: skip


def _timeline_row(row: Mapping[str, Any]) -> dict[str, Any]:
    group = words.clean(row["group"])
    what = words.cause_name(group) if row["kind"] == "idle" else _CALLS.get(group, group)
    name = words.clipped(row["name"], _NAME) or what
    return {
        "lane": words.clean(row["lane"]), "what": what, "color": palette.color(group),
        "name": name if row["count"] == 1 else f"{row['count']:,} short ones, such as {name}",
        "start_ms": round(row["start_ms"], 6), "end_ms": round(row["end_ms"], 6),
        "length_us": round((row["end_ms"] - row["start_ms"]) * 1e3, 3), "count": row["count"],
    }  # fmt: skip


_CALLS = {
    "call": "CUDA call", "sync": "synchronising call", "alloc": "allocating call",
    "free": "freeing call", "range": "other range",
}  # fmt: skip


def gaps(rows: Iterable[Mapping[str, Any]], legend: bool = True) -> Chart:
    """Idle time of each iteration of one device by cause: rows of the view ``budget_parts``."""
    alt = library()
    idle = [
        {
            "iteration": row["iteration_index"], "ms": round(row["ms"], 4),
            "cause": words.cause_name(row["cause"]), "group": row["cause"] or "unknown",
        }
        for row in rows
        if row["part"] == "idle"
    ]  # fmt: skip
    names = {row["cause"]: palette.color(row["group"]) for row in idle}
    drawn = [{k: v for k, v in row.items() if k != "group"} for row in _longest_groups(idle)]
    return (
        alt.Chart(_data(drawn), width=_WIDTH, height=180)
        .mark_bar()
        .encode(
            x=alt.X(
                "iteration:O", title="iteration", axis=alt.Axis(labelOverlap=True, labelAngle=0)
            ),
            y=alt.Y("sum(ms):Q", title="idle (ms)"),
            color=_color("cause", names, legend),
            tooltip=["iteration:O", "cause:N", alt.Tooltip("ms:Q", format=",.3f")],
        )
    )


def _longest_groups(idle: Rows) -> Rows:
    """All iterations, or of each few the one with the most idle time where they are many."""
    total: dict[int, float] = {}
    for row in idle:
        total[row["iteration"]] = total.get(row["iteration"], 0.0) + row["ms"]
    order = sorted(total)
    group = -(-len(order) // _BARS) or 1
    kept = {max(order[i : i + group], key=total.__getitem__) for i in range(0, len(order), group)}
    return [row for row in idle if row["iteration"] in kept]


def tree(root: Node, what: str = "GPU busy") -> Chart:
    """The tree as a flame graph, the outermost ranges on top; ``root`` as ``_tree.flame`` gives.

    ``what`` says of which time its values are.
    """
    alt = library()
    rows = _flame_rows(root)
    levels = 1 + max((row["level"] for row in rows), default=0)
    names = {row["name"]: row["color"] for row in rows}
    x = alt.X("from:Q", title=f"{what} time over the run (ms)", scale=alt.Scale(nice=False))
    base = alt.Chart(_data(rows), width=_WIDTH, height=_LANE_HEIGHT * levels).encode(
        x=x,
        y=alt.Y("level:O", axis=None, scale=alt.Scale(paddingInner=0.06)),
        tooltip=["name:N", alt.Tooltip("ms:Q", format=",.3f"), "share:N"],
    )
    bars = base.mark_rect(cornerRadius=1).encode(x2="to:Q", color=_color("name", names, False))
    whole = max(root["value"], 1e-9)
    room = alt.ExprRef(f"max(1, (datum.to - datum.from) / {whole} * width - 8)")
    text = base.mark_text(align="left", dx=4, color="#000000", fontSize=11, limit=room).encode(
        text="name:N"
    )
    wide = f"datum.to - datum.from > {_LABELLED * whole}"
    return alt.layer(bars, text.transform_filter(wide))


def flame(processes: list[Node]) -> tuple[Node, str]:
    """The tree by GPU time, or by CPU time where the GPU did nothing in any range."""
    root = _tree.flame(processes)
    if root["value"] > 0:
        return root, "GPU busy"
    return _tree.flame(processes, "cpu_ms"), "CPU"


def _flame_rows(root: Node) -> Rows:
    """Nodes wide enough to be seen, with their places; the tree's own root is left out."""
    rows: Rows = []
    whole = root["value"] or 1e-9
    pending = [(root, -1, 0.0)]
    while pending:
        node, level, start = pending.pop()
        if level >= 0:
            rows.append(_flame_row(node, level, start, whole))
        for child in node["children"]:
            if child["value"] / whole >= _THINNEST and level < _FLAME_LEVELS:
                pending.append((child, level + 1, start))
            start += child["value"]
    return rows


def _flame_row(node: Node, level: int, start: float, whole: float) -> dict[str, Any]:
    return {
        "name": words.clipped(node["name"], _NAME), "level": level,
        "color": palette.color(node["name"]),
        "from": round(start, 6), "to": round(start + node["value"], 6),
        "ms": round(node["value"], 4), "share": words.percent(node["value"] / whole),
    }  # fmt: skip


def _data(rows: Rows) -> Any:
    return library().Data(values=rows)


def _color(name: str, colors: Mapping[str, str], legend: bool) -> Any:
    alt = library()
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    shown = alt.Legend(title=None, orient="bottom", columns=4) if legend else None
    return alt.Color(f"{name}:N", scale=scale, legend=shown)
