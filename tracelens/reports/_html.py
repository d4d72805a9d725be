"""Pieces of HTML, every text in them escaped: what a recording says never becomes markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from tracelens.reports import _words as words


class Markup(str):
    """HTML made here, which goes into other HTML as it is."""

    __slots__ = ()


Content = str | Iterable["Content"] | None


def tag(name: str, *content: Content, **attributes: str | int | bool | None) -> Markup:
    """An element; text in it is escaped. ``class_`` is class, ``aria_label`` aria-label."""
    shown = "".join(
        f" {key.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{escape(words.clean(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Markup(f"<{name}{shown}>{join(content)}</{name}>")


def join(content: Content) -> Markup:
    """Pieces one after the other: markup as it is, other text escaped, None as nothing."""
    if content is None:
        return Markup("")
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return Markup(escape(words.one_line(content)))
    return Markup("".join(join(piece) for piece in content))


def section(name: str, title: str, *content: Content) -> Markup:
    """A section with its heading, or nothing where it would be empty."""
    body = join(content)
    if not body:
        return body
    heading = tag("h2", title, id=f"{name}-title")
    return tag("section", heading, body, id=name, aria_labelledby=f"{name}-title")


def table(
    caption: str, heads: Sequence[str], rows: Iterable[Sequence[Content]], texts: int = 1
) -> Markup:
    """A table whose first ``texts`` columns are words and the others numbers; the first is the
    row's heading. It scrolls by itself where the screen is too narrow."""
    sides = ["text" if place < texts else "number" for place in range(len(heads))]
    body = [
        tag("tr", tag("th", row[0], scope="row", class_=sides[0]),
            [tag("td", cell, class_=side) for cell, side in zip(row[1:], sides[1:], strict=True)])
        for row in rows
    ]  # fmt: skip
    if not body:
        return Markup("")
    head = tag(
        "tr", [tag("th", h, scope="col", class_=s) for h, s in zip(heads, sides, strict=True)]
    )
    whole = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", body))
    return tag("div", whole, class_="scroll", tabindex=0, role="group", aria_label=caption)


def legend(colors: Mapping[str, str], values: Mapping[str, str] | None = None) -> Markup:
    """Names beside their colours, and what each comes to where ``values`` says."""
    return tag(
        "ul",
        [
            tag("li", swatch(color), " ", tag("span", name),
                tag("b", f" {values[name]}") if values else None)
            for name, color in colors.items()
        ],
        class_="legend",
    )  # fmt: skip


def swatch(color: str, style: str = "") -> Markup:
    """A little square of a colour; ``style`` where no sheet gives it its size."""
    return tag("i", class_="swatch", style=f"{style}background:{color}", aria_hidden="true")
