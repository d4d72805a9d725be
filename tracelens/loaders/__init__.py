"""Tell a file's format by its content, and open it with the loader of that format."""

from __future__ import annotations

from pathlib import Path

from tracelens.loaders import files
from tracelens.loaders.base import Source, SourceInfo

__all__ = ["Source", "SourceInfo", "open_source"]


def open_source(path: str | Path) -> Source:
    """Open one recording, whatever its format. Raises TracelensError where that can't be done."""
    path = Path(path)
    if files.is_parquet_export(path):
        from tracelens.loaders import nsys_parquet

        return nsys_parquet.NsysParquet(path)
    head = files.head(path)
    from tracelens.loaders import nsys_sqlite

    if head.startswith(nsys_sqlite.HEADER):
        return nsys_sqlite.NsysSqlite(path)
    from tracelens.loaders import kineto

    if kineto.is_json(path, head):
        return kineto.Kineto(path)
    raise files.unknown_format(path, head)
