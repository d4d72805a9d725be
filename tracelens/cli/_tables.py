"""Tables of an answer, as wide as what they hold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

_LONGEST = 80
_WHOLE_FROM = 1e6


def table(
    heads: Sequence[str], rows: Sequence[Sequence[Any]], right: Collection[str] = ()
) -> list[str]:
    """Lines of a table: numbers to the right and whole, names of 80 characters at most.

    ``right`` names columns of numbers that are text already.
    """
    shown = [[_shown(value) for value in row] for row in rows]
    names = [_shown(head) for head in heads]
    widths = [max(map(len, column)) for column in zip(names, *shown, strict=True)]
    is_number = [
        head in right or any(isinstance(v, int | float) for v in column)
        for head, column in zip(
            heads, zip(*rows, strict=True) if rows else ([] for _ in heads), strict=True
        )
    ]
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_number, strict=True)
        ).rstrip()
        for row in (names, *shown)
    ]


def _shown(value: object) -> str:
    from tracelens.reports._words import clean

    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= _WHOLE_FROM else f"{value:.6g}"
    text = clean(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
