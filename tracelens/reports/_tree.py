"""The tree of ranges: nested, as text, and as a flame view."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from io import StringIO
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tracelens.reports import _words as words

if TYPE_CHECKING:
    import polars as pl

Node = dict[str, Any]
"""One path: what the view ``tree`` says of it, and ``children``."""

_MEASURES = (
    "instances",
    "open_instances",
    "cpu_ms",
    "self_cpu_ms",
    "gpu_span_ms",
    "gpu_busy_ms",
    "operations",
    "self_operations",
)
_HEADS = ("ranges", "CPU ms", "self", "GPU ms", "busy", "ops")


def nested(
    frame: pl.DataFrame, depth: int | None = None, domains: Collection[str] = ()
) -> list[Node]:
    """The view ``tree`` as one node a process, those without GPU work last.

    ``depth`` is the number of levels kept. With ``domains``, ranges of other domains are left out,
    and what lies in them moves up. ``children`` are in the order of their first opening.
    """
    processes: dict[int, Node] = {}
    nodes: dict[int, tuple[Node, int]] = {}
    for row in frame.iter_rows(named=True):
        process = processes.setdefault(
            row["process_index"],
            {"process": row["process_index"], "is_main": row["is_main"], "children": []},
        )
        above, level = nodes.get(row["parent_path_id"], (process, 0))
        if domains and row["domain"] not in domains:
            nodes[row["path_id"]] = (above, level)
            continue
        node = {"name": row["name"], "domain": row["domain"], "is_library": row["is_library"]}
        node |= {measure: row[measure] for measure in _MEASURES} | {"children": []}
        nodes[row["path_id"]] = (node, level + 1)
        if depth is None or level < depth:
            above["children"].append(node)
    kept = [p for p in processes.values() if p["children"]]
    return sorted(kept, key=lambda process: not process["is_main"])


def flame(processes: list[Node], measure: str = "gpu_busy_ms") -> Node:
    """Nodes of ``name, value, children``, as flame graphs take them; ``value`` is the measure.

    A node is at least as wide as its children: streams may overlap, and helpers of a phase may
    outlast it.
    """
    tops = [_flame(process, measure) for process in processes]
    return {"name": "run", "value": sum(top["value"] for top in tops), "children": tops}


def _flame(node: Node, measure: str) -> Node:
    # an explicit stack, since nests of a thousand levels are deeper than Python's
    made: dict[int, Node] = {}
    for each in reversed(list(_walk(node))):
        children = [made.pop(id(child)) for child in each["children"]]
        inside = sum(child["value"] for child in children)
        value = max(each.get(measure, 0), inside)
        made[id(each)] = {"name": title(each), "value": value, "children": children}
    return made[id(node)]


def _walk(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        each = pending.pop()
        yield each
        pending += reversed(each["children"])


def to_json(node: Node) -> str:
    """A node and all below it as JSON, however deep: the standard writer gives up at 500 levels."""
    parts: list[str] = []
    pending: list[Node | str] = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            parts.append(each)
            continue
        own = json.dumps({key: value for key, value in each.items() if key != "children"})
        parts.append(f'{own[:-1]}, "children": [')
        pending.append("]}")
        for place, child in reversed(list(enumerate(each["children"]))):
            pending += [child, ", "] if place else [child]
    return "".join(parts)


def title(node: Node) -> str:
    """What a node is called: domain and name, or its process."""
    if "process" in node:
        return f"process {node['process']}"
    name = words.clean(node["name"]) or "(unnamed)"
    return f"{words.clean(node['domain'])}:{name}" if node["domain"] else name


def render(processes: list[Node], *, width: int = 80, color: bool = False) -> str:
    """The tree as text of at most ``width`` columns: sums over the run, times in milliseconds."""
    out = StringIO()
    console = Console(
        file=out, width=width, force_terminal=color, no_color=not color, highlight=False,
        emoji=False, markup=False, legacy_windows=False,
    )  # fmt: skip
    for place, process in enumerate(processes):
        if place:
            console.print()
        if len(processes) > 1 or not process["is_main"]:
            aside = "" if process["is_main"] else ", no GPU work"
            console.print(Text(f"{title(process)}{aside}", style="bold"))
        console.print(_table(process))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _table(process: Node) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("range", no_wrap=True, overflow="ellipsis", ratio=1)
    for head in _HEADS:
        table.add_column(head, justify="right", no_wrap=True)
    for guide, node in _lines(process):
        name = Text.assemble((guide, "dim"), (title(node), "dim" if node["is_library"] else ""))
        table.add_row(name, *_cells(node))
    table.expand = True
    return table


def _cells(node: Node) -> Iterator[str]:
    is_open = " open" if node["open_instances"] else ""
    yield f"{words.count(node['instances'])}{is_open}"
    yield words.ms(node["cpu_ms"])
    yield words.ms(node["self_cpu_ms"])
    has_work = node["operations"] > 0
    yield words.ms(node["gpu_span_ms"]) if has_work else words.MISSING
    yield words.ms(node["gpu_busy_ms"]) if has_work else words.MISSING
    yield words.count(node["operations"])


def _lines(process: Node) -> Iterator[tuple[str, Node]]:
    """Each node with the lines that lead to it, from the top down."""
    pending = [("", "", node) for node in reversed(process["children"])]
    while pending:
        lead, branch, node = pending.pop()
        yield lead + branch, node
        below = lead + {"├─ ": "│  ", "└─ ": "   "}.get(branch, "")
        last = len(node["children"]) - 1
        pending += [
            (below, "└─ " if place == last else "├─ ", child)
            for place, child in reversed(list(enumerate(node["children"])))
        ]
