"""docs/batch.md prints the tables as the code has them."""

from __future__ import annotations

from pathlib import Path

from tracelens.batch._schema import TABLES

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "batch.md").read_text(encoding="utf-8")


def test_every_table_and_column_is_documented() -> None:
    for name, table in TABLES.items():
        section = TEXT.partition(f"### `{name}`: {table.row}\n")[2].partition("\n### ")[0]
        rows = [line for line in section.splitlines() if line.startswith("| `")]
        told = [row.split("|")[1].strip().strip("`") for row in rows]
        assert told == table.schema.names
        assert all(column.text in section for column in table.all().values())
