"""What each name of a range says: a library's, an operator's, or the role of a phase.

One row is one label in one domain: ``domain, label, role (NULL where unknown), is_library,
is_operator``.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tracelens import data
from tracelens.errors import TracelensError
from tracelens.options import Options
from tracelens.settings import Settings

READS = ("range_name",)


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """Match every distinct name against the shipped patterns, a user's own first."""
    shipped, own = data.shipped("roles"), data.of_user(options.phases)
    libraries = "|".join(f"(?:{row['pattern']})" for row in data.shipped("libraries")["library"])
    roles = [*own.get("role", []), *shipped["role"]]
    label = pl.col("label")
    try:
        return frames["range_name"].select(
            "domain",
            "label",
            _first_match(label, roles).alias("role"),
            pl.col("domain").str.contains(f"(?i){libraries}").alias("is_library"),
            (pl.col("is_emitted") | label.str.contains(shipped["operator"]["pattern"])).alias(
                "is_operator"
            ),
        )
    except (pl.exceptions.ComputeError, KeyError, TypeError) as error:
        raise TracelensError(
            f"{options.phases} has a role without a usable pattern ({error})",
            hint='each [[role]] needs role = "…" and pattern = "regular expression"',
        ) from None


def _first_match(label: pl.Expr, roles: list[dict[str, str]]) -> pl.Expr:
    matches = [
        pl.when(label.str.contains(f"(?i){row['pattern']}")).then(pl.lit(row["role"]))
        for row in roles
    ]
    first = pl.coalesce(matches)
    return pl.when(first != "").then(first)
