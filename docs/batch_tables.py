"""Write the tables of docs/batch.md, or with --check say whether they are as the code has them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tracelens.batch._schema import TABLES

PAGE = Path(__file__).parent / "batch.md"
MARK = "## Tables\n"


def tables() -> Iterator[str]:
    """The lines of every table."""
    for name, table in TABLES.items():
        yield f"\n### `{name}`: {table.row}\n"
        yield "| column | type | what it is |"
        yield "|---|---|---|"
        for column, what in table.all().items():
            kind = str(what.type).replace("list<element: string>", "list of strings")
            yield f"| `{column}` | {kind} | {what.text} |"


def page() -> str:
    """The page with its tables as they are now."""
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    return head + MARK + "\n".join(tables()) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        is_same = page() == PAGE.read_text(encoding="utf-8")
        sys.exit(0 if is_same else "docs/batch.md is out of date: run docs/batch_tables.py")
    PAGE.write_text(page(), encoding="utf-8")
