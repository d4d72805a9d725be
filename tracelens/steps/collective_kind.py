"""What kind of collective a kernel of communication is, told by its name.

One row is one name that communicates: ``name_id, collective`` (all_reduce, all_gather …, or
"unknown": a kernel that NCCL uses for several kinds says none).
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tracelens import data
from tracelens.options import Options
from tracelens.settings import Settings

READS = ("op_name", "op_class")


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """Match the names of communication against the table of kinds, a user's rows first."""
    rows = [
        *data.of_user(options.phases).get("collective", []),
        *data.shipped("communication")["collective"],
    ]
    kinds = [
        pl.when(pl.col("name").str.contains(row["pattern"])).then(pl.lit(row["kind"]))
        for row in rows
    ]
    communicates = frames["op_class"].filter(pl.col("op_class") == "communication")
    return (
        frames["op_name"]
        .join(communicates, on="name_id", how="semi")
        .select("name_id", pl.coalesce(*kinds, pl.lit("unknown")).alias("collective"))
    )
