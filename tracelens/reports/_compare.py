"""A comparison as text, Markdown and JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tracelens.diagnosis import MEDIUM_SHARE
from tracelens.reports import _words as words
from tracelens.reports.markdown import escaped, table

_NOTABLE_SHARE = 0.005
"""Parts that moved by less than this share of the period are left to the JSON."""
_SHOWN_KERNELS = 6
_LONGEST_NAME = 44
_WIDTH = 80
_COMPARABLE = {
    "full": "",
    "limited": "Comparable with reservations",
    "none": "Not comparable: read the differences as those of two different things",
}
Row = Mapping[str, Any]


def as_json(found: Row) -> str:
    """The comparison as one JSON object, raw values included."""
    return json.dumps(found, indent=2, allow_nan=False) + "\n"


def as_text(found: Row) -> str:
    """The comparison for a terminal; only tables with long names are wider than 80 columns."""
    said = [line for text in _sentences(found) for line in _wrapped(text)]
    held = [line for text in _reservations(found) for line in _wrapped(text)]
    blocks = [[_heading(found), ""], said, held]
    tables = (_measures(found), _parts(found), *_kernels(found))
    for title, heads, rows in tables:
        if rows:
            blocks.append(["", title, *(f"  {line}" for line in _columns(heads, rows))])
    blocks.append(["", *_wrapped(_method(found))])
    return "\n".join(line.rstrip() for block in blocks for line in block) + "\n"


def as_markdown(found: Row) -> str:
    """The comparison as GitHub-flavoured Markdown, for the summary of a CI job."""
    lines = [f"## {escaped(_heading(found))}", ""]
    lines += [f"**{escaped(line)}**\n" for line in _sentences(found)]
    lines += [f"- {escaped(line.strip())}" for line in _reservations(found)]
    for title, heads, rows in (_measures(found), _parts(found), *_kernels(found)):
        if rows:
            lines += ["", f"### {escaped(title)}", ""]
            lines += table(heads, [[escaped(cell) for cell in row] for row in rows])
    return "\n".join([*lines, escaped(_method(found))]).rstrip() + "\n"


def _heading(found: Row) -> str:
    base, new = (
        ", ".join(words.clean(Path(f).name) for f in found[side]["files"])
        for side in ("base", "new")
    )
    return f"{base} -> {new}"


def _sentences(found: Row) -> Iterator[str]:
    """What got faster or slower, in words."""
    said = [("an iteration", found["period"]["median"])]
    said += [(f"the {p['phase']} phase", p) for p in found["phases"] if "difference_ms" in p]
    told = [_sentence(name, row) for name, row in said if row["verdict"] != "no evidence"]
    median, mean = found["period"]["median"], found["period"]["mean"]
    if median["verdict"] == "no evidence" != mean["verdict"]:
        told.append(_sentence("the mean iteration, by rare ones", mean))
    yield from told or ["No evidence of any difference."]
    if mean["verdict"] == "no evidence" and _is_rare(median, mean):
        yield (
            f"The mean iteration differs by {_signed(mean['difference_ms'])} ms, the median one "
            "hardly: iterations too rare to be sure make it. Record more of them."
        )


def _is_rare(median: Row, mean: Row) -> bool:
    """Whether the means differ notably, and the medians by far less."""
    is_notable = abs(mean["change_share"] or 0.0) >= MEDIUM_SHARE
    return is_notable and bool(abs(mean["difference_ms"]) > 2 * abs(median["difference_ms"]))


def _sentence(name: str, row: Row) -> str:
    low, high = row["interval_ms"]
    name = words.clean(name)
    return (
        f"{name[0].upper()}{name[1:]} got {row['verdict']}: {words.ms(row['base_ms'])} -> "
        f"{words.ms(row['new_ms'])} ms ({_signed(row['difference_ms'])} ms; 95 % sure of "
        f"{_signed(low)} to {_signed(high)})."
    )


def _reservations(found: Row) -> Iterator[str]:
    comparable = found["comparability"]
    if comparable["reasons"]:
        yield _COMPARABLE[comparable["level"]] + ":"
    for reason in comparable["reasons"]:
        yield f"  {reason['code']}: {words.clean(reason['message'])}"


_Table = tuple[str, Sequence[str], list[list[str]]]


def _measures(found: Row) -> _Table:
    rows = [_measure("period", found["period"]["median"])]
    rows.append(_measure("period, mean", found["period"]["mean"]))
    rows += [_measure(p["phase"], p) for p in found["phases"]]
    return "Milliseconds an iteration (medians)", _HEADS, rows


_HEADS = ("", "base", "new", "difference", "95 % interval", "verdict")


def _measure(name: str, row: Row) -> list[str]:
    if "difference_ms" not in row:
        return [words.clean(name), "", "", "", "", row["verdict"]]
    low, high = row["interval_ms"]
    return [
        words.clean(name), words.ms(row["base_ms"]), words.ms(row["new_ms"]),
        _signed(row["difference_ms"]), f"{_signed(low)} to {_signed(high)}", row["verdict"],
    ]  # fmt: skip


def _parts(found: Row) -> _Table:
    budget = found["budget"]
    least = _NOTABLE_SHARE * max(budget["base_ms"], budget["new_ms"])
    rows = [
        [words.part_name(p), words.ms(p["base_ms"]), words.ms(p["new_ms"]),
         _signed(p["difference_ms"]), p["verdict"]]
        for p in budget["parts"]
        if abs(p["difference_ms"]) >= least
    ]  # fmt: skip
    title = f"What the budget moved ({words.ms(budget['base_ms'])} -> "
    title += f"{words.ms(budget['new_ms'])} ms, means)"
    return title, ("", "base", "new", "difference", "verdict"), rows


def _kernels(found: Row) -> Iterator[_Table]:
    for kind in ("vanished", "appeared"):
        rows = _by_short_name(found["kernels"][kind], ("instances", "ms"))
        shown = [
            [words.count(r["instances"]), words.ms(r["ms"]), r["name"]]
            for r in rows[:_SHOWN_KERNELS]
        ]
        yield f"Kernels that {kind}{_rest(rows)}, an iteration", ("times", "ms", "name"), shown
    rows = _by_short_name(found["kernels"]["changed"], ("base_ms", "new_ms", "difference_ms"))
    shown = [
        [words.ms(r["base_ms"]), words.ms(r["new_ms"]), _signed(r["difference_ms"]), r["name"]]
        for r in rows[:_SHOWN_KERNELS]
    ]
    heads = ("base", "new", "difference", "name")
    yield f"Kernels that changed{_rest(rows)}, ms an iteration", heads, shown


def _by_short_name(rows: Sequence[Row], summed: Sequence[str]) -> list[dict[str, Any]]:
    """Instances of one template together: their full names are for the JSON."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["short_name"] or row["name"], []).append(row)
    together = [
        {"name": _shortened(name, len(group)), **{k: sum(r[k] for r in group) for k in summed}}
        for name, group in groups.items()
    ]
    return sorted(together, key=lambda row: -abs(row[summed[-1]]))


def _rest(rows: Sequence[Row]) -> str:
    more = len(rows) - _SHOWN_KERNELS
    return f" ({_SHOWN_KERNELS} of {len(rows)})" if more > 0 else ""


def _shortened(name: str, kinds: int) -> str:
    name, half = words.clean(name), _LONGEST_NAME // 2
    shown = name if len(name) <= _LONGEST_NAME else f"{name[:half]}…{name[1 - half :]}"
    return shown if kinds == 1 else f"{shown} ({kinds} kinds)"


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'}{words.ms(abs(value))}"


def _method(found: Row) -> str:
    window = found["window"]
    return (
        f"The first {window['periods']} steady periods of each run; "
        f"{found['method']['resamples']:,} resamples of iterations, seed "
        f"{found['method']['seed']}. They show how iterations of these two recordings differ: "
        "what differs between recordings of one program shows only in several of each."
    )


def _wrapped(text: str) -> list[str]:
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(
        text.lstrip(), _WIDTH, initial_indent=indent, subsequent_indent=indent,
        break_on_hyphens=False,
    )  # fmt: skip


def _columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns as wide as their cells: words to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    figures = [all(_is_figure(c) for c in column) for column in zip(*rows, strict=True)]
    for row in (heads, *rows):
        yield "  ".join(
            cell.rjust(width) if figure else cell.ljust(width)
            for cell, width, figure in zip(row, widths, figures, strict=True)
        )


def _is_figure(cell: str) -> bool:
    return not cell or cell.lstrip("+-")[:1].isdigit()
