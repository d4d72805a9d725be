"""The words and tables of the HTML report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tracelens.details import Details
from tracelens.report import Report
from tracelens.reports import _charts, _palette, _tree
from tracelens.reports import _words as words
from tracelens.reports._html import Content, Markup, join, swatch, table, tag

_SHOWN_KERNELS, _MORE_KERNELS = 20, 300
_SHOWN_RANGES = 200
_SHOWN_RANKS = 512
_SHOWN_PARTS = 12
_SHORT_NAME, _LONG_NAME, _LONG_RANGE = 90, 900, 200


def findings(report: Report) -> Markup:
    """One card a finding, what costs time first."""
    if not report["diagnoses"]:
        return tag("p", "No finding: none of what was checked is wrong with this run.")
    return join(_card(d) for d in report["diagnoses"])


def _card(d: Mapping[str, Any]) -> Markup:
    worth = words.worth_and_share(d) or "costs nothing: worth knowing"
    rows = [(_spaced(e["name"]), _valued(e)) for e in d["evidence"]]
    said = (
        tag("p", d["explanation"]) if d["explanation"] else None,
        tag("p", tag("b", "Likely: "), d["hypothesis"]) if d["hypothesis"] else None,
        _list("Next", d["next_steps"], "ol"),
        tag("p", tag("b", "Where: "), _where(d["where"]), class_="where") if d["where"] else None,
        _list("It could be wrong where", d["caveats"], "ul"),
    )
    evidence = table(f"Evidence of {d['id']}", ("evidence", "value"), rows, texts=2)
    body = tag("div", tag("div", said), evidence, class_="body")
    head = tag("h3", tag("span", d["severity"], class_=f"badge {d['severity']}"), " ", d["title"])
    under = tag("p", tag("code", d["id"]), f" · {worth}", class_="worth")
    if d["severity"] in words.LOUD:
        return tag("article", head, under, body, class_=f"card {d['severity']}")
    if not join([join(said), evidence]):
        return tag("article", head, under, class_=f"card {d['severity']}")
    more = tag("details", tag("summary", "Evidence, next steps, caveats"), body)
    return tag("article", head, under, more, class_=f"card {d['severity']}")


def _list(title: str, items: list[str], kind: str) -> Markup | None:
    if not items:
        return None
    return join([tag("h4", title), tag(kind, [tag("li", item) for item in items])])


def _valued(evidence: Mapping[str, Any]) -> str:
    value, limit = evidence["value"], evidence["threshold"]
    unit = f" {evidence['unit']}" if evidence["unit"] else ""
    bound = "" if limit is None else f" (from {_number(limit)}{unit} on)"
    return f"{_number(value)}{unit}{bound}"


def _number(value: Any) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else words.clean(value)


def _spaced(name: str) -> str:
    return words.clean(name).replace("_", " ")


def _where(where: Mapping[str, Any]) -> str:
    """Places as words: device 0; iterations 1 to 7; ranges forward, loss."""
    return "; ".join(f"{_spaced(key)} {_place(key, value)}" for key, value in where.items())


def _place(key: str, value: Any) -> str:
    if isinstance(value, list):
        is_pair = len(value) == 2 and key in ("iterations", "span_ms")
        return (" to " if is_pair else ", ").join(_place("", v) for v in value[:12])
    if isinstance(value, Mapping):
        return words.clean(value.get("id") or ", ".join(map(_spaced, value)))
    return _number(value)


def baseline(report: Report) -> Markup:
    """What changed since an earlier report."""
    if not report["baseline"]:
        return Markup("")
    return tag("ul", [tag("li", line) for line in words.since_baseline(report)])


def budget(report: Report) -> Markup:
    """The parts of an ordinary iteration of each device."""
    if len(report["budget"]) > words.FEW_DEVICES:
        return _compared(report)
    made = [_device_budget(report, each) for each in report["budget"]]
    return tag("div", made, class_="row") if made else Markup("")


def _device_budget(report: Report, each: Mapping[str, Any]) -> Markup:
    gpu = f"GPU {each['device']}: " if len(report["budget"]) > 1 else ""
    if not each["iterations"]:
        return tag("p", gpu, ", ".join(words.part_name(p) for p in each["parts"]))
    rows = (
        (
            join([swatch(_palette.color(_charts.part_group(p))), " ", words.part_name(p)]),
            words.ms(p["ms"]),
            words.percent(words.share(p["ms"], each["total_ms"])),
        )
        for p in words.ordered_parts(each)
    )
    over = words.plural(each["iterations"], "iteration")
    return table(f"{gpu}mean of {over}, in milliseconds", ("part", "ms", "share"), rows)


def _compared(report: Report) -> Markup:
    """One row a device: the iteration's length, and the share of each part."""
    known = [b for b in report["budget"] if b["iterations"]]
    names = words.compared_parts(known, _SHOWN_PARTS)
    rows = (
        (words.device_name(report, b["device"]), words.ms(b["total_ms"]),
         *words.part_shares(b, names))
        for b in known[:_SHOWN_RANKS]
    )  # fmt: skip
    return table("Shares of an ordinary iteration", ("device", "ms", *names), rows)


def ranks(report: Report) -> Markup:
    """The ranks side by side, and how well their clocks are aligned."""
    keys = ("period_ms", "busy_ms", "compute_ms", "exposed_ms", "wait_ms", "lost_ms")
    rows = (
        (
            f"GPU {row['device']}" if row["rank"] is None else f"rank {row['rank']}",
            *(words.ms(row[key]) for key in keys),
            words.MISSING if row["last_pct"] is None else words.percent(row["last_pct"] / 100),
        )
        for row in report["ranks"][:_SHOWN_RANKS]
    )
    heads = ("rank", "period", "busy", "compute", "exposed", "waits", "costs", "last")
    shown = table("Medians in milliseconds", heads, rows)
    if not shown:
        return shown
    told = (
        "exposed: in collectives that no compute hides; waits: for other ranks; costs: what the "
        "run loses by its lateness, less what it waits itself; last: collectives it came last to. "
    )
    clocks = words.clocks(report["ranks"])
    return join([shown, tag("p", told, f"{clocks[:1].upper()}{clocks[1:]}.", class_="note")])


def iterations(report: Report) -> Markup:
    """Statistics of periods and gaps."""
    found = report["iterations"]
    keys = ("median", "min", "p10", "p90", "max", "stdev")
    rows = (
        (label, *(words.ms(found[key][k]) for k in keys), str(found[key]["n"]))
        for label, key in (("period", "period_ms"), ("gap to the next", "gap_ms"))
        if found[key]["n"]
    )
    return table("Steady iterations, in milliseconds", ("", *keys, "n"), rows)


def phases(report: Report) -> Markup:
    """Medians of each phase."""
    rows = (
        (
            join(
                [
                    swatch(_palette.color(words.clean(p["phase"]))),
                    " ",
                    words.clipped(p["phase"], _LONG_RANGE),
                ]
            ),
            p["verdict"] or words.MISSING,
            words.ms(p["gpu_span_ms"]["median"]),
            words.ms(p["gpu_busy_ms"]["median"]),
            words.ms(p["cpu_ms"]["median"]),
            words.count(p["kernels_per_instance"]),
            words.us(p["mean_kernel_us"]),
            words.count(p["instances"]),
        )
        for p in report["phases"][:_SHOWN_RANGES]
    )
    heads = ("phase", "verdict", "GPU ms", "busy ms", "CPU ms", "kernels", "mean µs", "times")
    return join([table("Medians of an instance", heads, rows, texts=2), *_phase_notes(report)])


def _phase_notes(report: Report) -> Iterator[Markup]:
    ratio, optimizer = report["ratios"]["backward_over_forward"], report["optimizer"]
    if ratio is not None:
        yield tag("p", f"Backward takes {ratio:.2f} times as long as forward.", class_="note")
    if optimizer:
        kernels = words.count(optimizer["kernels_per_iteration"])
        rate = words.ms(optimizer["kernels_per_ms"])
        text = f"Optimizer: {kernels} kernels an iteration, {rate} a millisecond."
        yield tag("p", text, class_="note")


def tree(details: Details | None) -> Markup:
    """The ranges as a table, indented by their depth."""
    if details is None or details.tree.is_empty():
        return Markup("")
    shown = details.tree.head(_SHOWN_RANGES).to_dicts()
    rows = (
        (
            tag(
                "span",
                words.clipped(_tree.title(row), _LONG_RANGE),
                style=f"padding-left:{min(row['depth'], 12)}em",
            ),
            words.count(row["instances"]),
            words.ms(row["cpu_ms"]),
            words.ms(row["gpu_span_ms"]) if row["operations"] else words.MISSING,
            words.ms(row["gpu_busy_ms"]) if row["operations"] else words.MISSING,
            words.count(row["operations"]),
        )
        for row in shown
    )
    heads = ("range", "ranges", "CPU ms", "GPU ms", "busy ms", "operations")
    made = table("Sums over the run", heads, rows)
    return tag("details", tag("summary", "The tree as a table"), made)


def _indented(name: str, depth: int) -> Markup:
    return tag("span", words.clipped(name, _LONG_RANGE), style=f"padding-left:{min(depth, 12)}em")


def kernels(report: Report, details: Details | None) -> Markup:
    """The names with the most GPU time, and in a fold the rest."""
    heads = ("name", "share", "total ms", "times", "mean µs")
    first = table("Names with the most GPU time", heads, map(_kernel, report["kernels"]))
    if details is None:
        return first
    told = {k["name"] for k in report["kernels"]}
    names = details.kernels.sort("total_ms", descending=True, nulls_last=True)
    rest = [row for row in names.to_dicts() if row["name"] not in told]
    shown = rest[:_MORE_KERNELS]
    if not shown:
        return first
    left = f", of {len(rest):,}" if len(rest) > len(shown) else ""
    more = table("Other names", heads, map(_kernel, shown))
    summary = tag("summary", f"{len(shown):,} more names{left}")
    return join([first, tag("details", summary, more)])


def _kernel(row: Mapping[str, Any]) -> tuple[Content, ...]:
    share = None if row["share_pct"] is None else row["share_pct"] / 100
    return (
        _name(words.clean(row["name"] or row["short_name"] or row["kind"])),
        words.percent(share), words.ms(row["total_ms"]), words.count(row["instances"]),
        words.us(row["mean_us"]),
    )  # fmt: skip


def _name(name: str) -> Content:
    """A name, or where it is long its beginning with the whole in a fold."""
    if len(name) <= _SHORT_NAME:
        return name
    beginning = tag("summary", words.clipped(name, _SHORT_NAME))
    return tag("details", beginning, words.clipped(name, _LONG_NAME))


def operators(report: Report) -> Markup:
    """The framework's operators."""
    keys = ("self_gpu_ms", "gpu_ms", "self_cpu_ms", "cpu_ms")
    rows = (
        (row["name"], *(words.ms(row[k]) for k in keys), words.count(row["calls"]))
        for row in report["operators"]
    )
    heads = ("operator", "own GPU ms", "GPU ms", "own CPU ms", "CPU ms", "calls")
    return table("Operators with the most GPU time of their own", heads, rows)


def memory(report: Report) -> Markup:
    """What allocations of device memory came to, where they were recorded."""
    keys = ("peak_mb", "allocations_per_iteration", "allocated_mb_per_iteration",
            "growth_mb_per_iteration")  # fmt: skip
    rows = (
        (f"GPU {row['device']}", *(words.ms(row[key]) for key in keys)) for row in report["memory"]
    )
    heads = ("device", "peak MB", "allocations", "allocated MB", "growth MB")
    return table("An iteration, but for the peak", heads, rows)


def coverage(report: Report) -> Markup:
    """How operations were given to phases, and what bends the numbers."""
    attribution = report["coverage"]["attribution"]
    total = sum(attribution.values())
    rows = (
        ("to no phase" if m == "none" else _spaced(m), words.count(n), words.percent(n / total))
        for m, n in attribution.items()
        if n
    )
    warnings = [
        tag("li", tag("code", w["code"]), f" {words.clean(w['message'])} ",
            tag("span", w["advice"], class_="note"))
        for w in report["coverage"]["warnings"]
    ]  # fmt: skip
    unlinked = report["coverage"]["unlinked"]
    return join(
        [
            tag("ul", warnings) if warnings else tag("p", "No warning: the recording is whole."),
            table("GPU operations given to phases", ("how", "operations", "share"), rows),
            tag("p", f"{words.plural(unlinked, 'operation')} without a launch.", class_="note")
            if unlinked
            else None,
        ]
    )


def not_checked(report: Report) -> Markup:
    """What could not be judged, and why."""
    if not report["not_checked"]:
        return Markup("")
    return tag(
        "ul",
        [
            tag("li", tag("code", missed["id"]), f" {words.clean(missed['reason'])}")
            for missed in report["not_checked"]
        ],
    )
