"""The path of each push/pop range: the families of names from the top of its process down to it.

One row is one range: ``range_id, path_id, parent_path_id (NULL at the top), path_depth``. A path
has the number of the first range on it.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings

READS = ("range_parent",)

_SCHEMA = {
    "range_id": pl.Int64,
    "path_id": pl.Int64,
    "parent_path_id": pl.Int64,
    "path_depth": pl.Int64,
}


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """Walk the ranges from the outside in, and give alike children of one path one path."""
    ranges = (
        frames["range_parent"]
        .sort("start_ns", "depth", "range_id")
        .select(
            "range_id",
            "parent_id",
            pl.struct("process_id", "domain", "family").rank("dense").alias("name"),
        )
    )
    known: dict[tuple[int | None, int], int] = {}
    placed: dict[int, tuple[int, int | None, int]] = {}
    for range_id, parent_id, name in ranges.iter_rows():
        above, _, depth = placed.get(parent_id, (None, None, -1))
        path = known.setdefault((above, name), range_id)
        placed[range_id] = (path, above, depth + 1)
    rows = [(range_id, *place) for range_id, place in placed.items()]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")
