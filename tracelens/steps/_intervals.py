"""Interval arithmetic on frames with the columns start_ns and end_ns: integer nanoseconds, half
open."""

from __future__ import annotations

import polars as pl


def union(intervals: pl.DataFrame) -> pl.DataFrame:
    """The disjoint union of intervals, sorted: columns start_ns, end_ns. Empty intervals vanish."""
    ordered = (
        intervals.select("start_ns", "end_ns")
        .filter(pl.col("end_ns") > pl.col("start_ns"))
        .sort("start_ns", "end_ns")
    )
    reached = pl.col("end_ns").cum_max().shift(1)
    return (
        ordered.with_columns(island=(pl.col("start_ns") > reached).fill_null(True).cum_sum())
        .group_by("island", maintain_order=True)
        .agg(pl.col("start_ns").min(), pl.col("end_ns").max())
        .drop("island")
    )


def inside(times: pl.Series, intervals: pl.DataFrame) -> pl.Series:
    """For each time, whether any of the intervals covers it: booleans in the order of ``times``."""
    covered = union(intervals)
    place = covered["start_ns"].search_sorted(times, side="right").cast(pl.Int64) - 1
    if covered.is_empty():
        return pl.Series([False] * len(times), dtype=pl.Boolean)
    ends = covered["end_ns"].gather(place.clip(0))
    return (place >= 0) & (times < ends)


def covered_before(times: pl.Series, intervals: pl.DataFrame) -> pl.Series:
    """For each time, the nanoseconds before it that the intervals cover."""
    covered = union(intervals)
    if covered.is_empty():
        return pl.Series([0] * len(times), dtype=pl.Int64)
    lengths = covered["end_ns"] - covered["start_ns"]
    before = lengths.cum_sum() - lengths
    place = covered["start_ns"].search_sorted(times, side="right").cast(pl.Int64) - 1
    index = place.clip(0)
    within = (times - covered["start_ns"].gather(index)).clip(0)
    part = pl.DataFrame({"within": within, "length": lengths.gather(index)}).select(
        pl.min_horizontal("within", "length")
    )
    total = before.gather(index) + part.to_series()
    return total.zip_with(place >= 0, pl.Series([0] * len(times), dtype=pl.Int64))


def exposed(intervals: pl.DataFrame, hidden_by: pl.DataFrame) -> pl.DataFrame:
    """The stretches that ``intervals`` cover and ``hidden_by`` does not: columns start_ns, end_ns,
    sorted."""
    mine, theirs = union(intervals), union(hidden_by)
    events = pl.concat(
        [
            mine.select(time="start_ns", mine=pl.lit(1), theirs=pl.lit(0)),
            mine.select(time="end_ns", mine=pl.lit(-1), theirs=pl.lit(0)),
            theirs.select(time="start_ns", mine=pl.lit(0), theirs=pl.lit(1)),
            theirs.select(time="end_ns", mine=pl.lit(0), theirs=pl.lit(-1)),
        ]
    ).sort("time")
    return (
        events.with_columns(
            pl.col("mine").cum_sum(), pl.col("theirs").cum_sum(), end_ns=pl.col("time").shift(-1)
        )
        .filter(
            (pl.col("mine") > 0) & (pl.col("theirs") == 0) & (pl.col("end_ns") > pl.col("time"))
        )
        .select(start_ns="time", end_ns="end_ns")
    )
