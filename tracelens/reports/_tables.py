"""A frame as a file of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import polars as pl


def write(frame: pl.DataFrame, path: Path, form: Literal["csv", "parquet"]) -> None:
    """Write it. CSV has no lists: theirs become one text, with ``; `` between the items."""
    import polars as pl

    if form == "parquet":
        frame.write_parquet(path)
        return
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    joined = (pl.col(name).cast(pl.List(pl.String)).list.join("; ") for name in lists)
    frame.with_columns(joined).write_csv(path)
