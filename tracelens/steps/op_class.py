"""Whether an operation computes, communicates or copies, told by its name.

One row is one name of an operation: ``name_id, op_class`` (compute, communication or copy).
Memsets compute: like kernels, they write device memory in stream order.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tracelens import data
from tracelens.options import Options
from tracelens.settings import Settings

READS = ("op_name",)


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """Match every name against the table of communication kernels, a user's rows included."""
    rows = [
        *data.shipped("communication")["communication"],
        *data.of_user(options.phases).get("communication", []),
    ]
    communicates = pl.any_horizontal(
        pl.col(column).str.contains(row["pattern"])
        for row in rows
        for column in ("name", "short_name")
    )
    return frames["op_name"].select(
        "name_id",
        pl.when(pl.col("name").str.starts_with("Memcpy"))
        .then(pl.lit("copy"))
        .when(communicates)
        .then(pl.lit("communication"))
        .otherwise(pl.lit("compute"))
        .alias("op_class"),
    )
