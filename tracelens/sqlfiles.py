"""Find the SQL modules and read what each declares about itself.

A module is one file with one ``SELECT`` that makes one relation, named as the file is. Its header
comment says what the relation is, what it reads, what one row is, and each column with its type.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_COLUMN = re.compile(
    r"^-- (?P<name>[a-z][a-z0-9_]*) {2,}(?P<type>[A-Z][A-Z0-9_()\[\]', ]*?) {2,}(?P<text>\S.*)$"
)


@dataclass(frozen=True)
class Column:
    """A declared column: its name, its DuckDB type, and what it holds."""

    name: str
    type: str
    text: str


@dataclass(frozen=True)
class SqlModule:
    """One SQL file: the relation it makes and what its header says of it."""

    name: str
    layer: str
    path: Path
    summary: str
    row: str
    reads: tuple[str, ...]
    is_view: bool
    columns: tuple[Column, ...]

    @property
    def query(self) -> str:
        """The module's SELECT, comments included."""
        return self.path.read_text(encoding="utf-8")


def sql_root() -> Path:
    """The folder of SQL modules: inside the package when installed, beside it in a checkout."""
    shipped = _PACKAGE / "sql"
    return shipped if shipped.is_dir() else _PACKAGE.parent / "sql"


def parse(path: Path, layer: str) -> SqlModule:
    """Read one module's header."""
    summary: list[str] = []
    declared: dict[str, str] = {}
    columns: list[Column] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("--"):
            break
        if column := _COLUMN.match(line):
            columns.append(Column(**column.groupdict()))
        elif key := re.match(r"^-- (reads|row|store): +(.*)$", line):
            declared[key[1]] = key[2].strip()
        elif "row" not in declared and line.strip("- "):
            summary.append(line.removeprefix("--").strip())
    reads = tuple(filter(None, (r.strip() for r in declared.get("reads", "").split(","))))
    return SqlModule(
        name=path.stem,
        layer=layer,
        path=path,
        summary=" ".join(summary),
        row=declared.get("row", ""),
        reads=reads,
        is_view=declared.get("store") == "view",
        columns=tuple(columns),
    )


@cache
def staging(kind: str) -> dict[str, SqlModule]:
    """The staging modules of one format ("nsys" or "kineto"), by relation name."""
    return {
        p.stem: parse(p, f"staging/{kind}")
        for p in sorted((sql_root() / "staging" / kind).glob("*.sql"))
    }


@cache
def modules() -> dict[str, SqlModule]:
    """The modules that no format knows of (core, metrics, views for people), by relation name."""
    return {
        p.stem: parse(p, layer)
        for layer in ("core", "metrics", "views")
        for p in sorted((sql_root() / layer).glob("*.sql"))
    }
