"""Gaps cut into pieces, and which of them are the aftermath of an earlier pause of the host."""

from __future__ import annotations

import polars as pl

from tracelens.settings import Settings
from tracelens.steps import _intervals


def stretches(gaps: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Gaps cut where the launch returns, each part with its cause where that needs no look at the
    host.

    Columns gap_id, start_ns, end_ns, given (a cause, or NULL: look at the host).
    """
    launched = pl.col("call_end_ns").clip(pl.col("start_ns"), pl.col("end_ns"))
    # What an operation needs at most to start once launched goes with the launch.
    ready = pl.min_horizontal("end_ns", launched + settings.launch_latency_ns)
    skewed = pl.col("call_start_ns").is_null() | (pl.col("call_start_ns") > pl.col("end_ns"))
    given = (
        pl.when(skewed)
        .then(pl.lit("unknown"))
        .when(pl.col("call_end_ns") <= pl.col("start_ns"))
        .then(pl.lit("dependency"))
    )
    gaps = gaps.with_columns(launched=launched, ready=ready, given=given)
    looked = gaps.filter(pl.col("given").is_null())
    return (
        pl.concat(
            [
                gaps.filter(pl.col("given").is_not_null()).select(
                    "gap_id", "start_ns", "end_ns", "given"
                ),
                looked.select("gap_id", "start_ns", end_ns="launched", given="given"),
                looked.select(
                    "gap_id", start_ns="launched", end_ns="ready", given=pl.lit("launch")
                ),
                looked.select(
                    "gap_id", start_ns="ready", end_ns="end_ns", given=pl.lit("dependency")
                ),
            ]
        )
        .filter(pl.col("end_ns") > pl.col("start_ns"))
        .sort("start_ns")
    )


def pieces(
    stretches: pl.DataFrame, pauses: pl.DataFrame, overhead: pl.DataFrame, windows: pl.DataFrame
) -> pl.DataFrame:
    """Stretches cut at the borders of pauses, profiler overhead and windows: what each piece lies
    in.

    Columns start_ns, end_ns, gap_id, given, pause (NULL outside pauses), profiled, iteration_index.
    """
    borders = [
        frame[column]
        for frame in (stretches, pauses, overhead, windows)
        for column in ("start_ns", "end_ns")
    ]
    times = pl.concat(borders).unique().sort()
    pieces = pl.DataFrame({"start_ns": times}).with_columns(end_ns=pl.col("start_ns").shift(-1))
    pieces = pieces.filter(pl.col("end_ns").is_not_null()).set_sorted("start_ns")
    pieces = _lies_in(pieces, stretches, ["gap_id", "given"]).filter(pl.col("gap_id").is_not_null())
    pieces = _lies_in(pieces, windows, ["iteration_index"])
    pieces = _lies_in(pieces, pauses, ["pause"])
    pieces = _lies_in(pieces, overhead.with_columns(profiled=pl.lit(True)), ["profiled"])
    # Only what the host was looked at for can lie in a pause.
    walked = pl.col("given").is_null()
    return pieces.with_columns(
        pause=pl.when(walked).then(pl.col("pause")),
        profiled=walked & pl.col("profiled").fill_null(False),
    )


def _lies_in(pieces: pl.DataFrame, intervals: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """Add columns of the one of the disjoint intervals that holds each piece, NULL where none
    does."""
    holders = intervals.select("start_ns", *columns, holder_end="end_ns").sort("start_ns")
    joined = pieces.join_asof(holders, on="start_ns", strategy="backward", check_sortedness=False)
    held = pl.col("start_ns") < pl.col("holder_end")
    return joined.with_columns(pl.when(held).then(pl.col(c)).alias(c) for c in columns).drop(
        "holder_end"
    )


def with_credit(pieces: pl.DataFrame, pauses: pl.DataFrame, gaps: pl.DataFrame) -> pl.DataFrame:
    """Split dispatch into the aftermath of a pause and its own: adds ``aftermath_ns`` and
    ``blamed`` (a pause).

    Credit before a dispatch piece is max(credit, W) over the pauses since, less the dispatch since.
    With D the running sum of idle dispatch and X = max(credit + D), that is a running maximum: of D
    + W at pauses, of D at dispatch.
    """
    is_dispatch = (
        pl.col("pause").is_null()
        & ~pl.col("profiled")
        & pl.col("given").fill_null("launch").eq("launch")
    )
    pieces = pieces.with_row_index("piece").with_columns(
        dispatch_ns=pl.when(is_dispatch).then(pl.col("end_ns") - pl.col("start_ns")).otherwise(0)
    )
    idle_ns = _intervals.covered_before(pauses["end_ns"], gaps) - _intervals.covered_before(
        pauses["start_ns"], gaps
    )
    lost = pauses.select(
        "pause",
        time="end_ns",
        lead_ns=pl.col("end_ns") - pl.col("start_ns") - idle_ns,
        dispatch_ns=pl.lit(0, pl.Int64),
    )
    events = pl.concat(
        [lost, pieces.select("piece", "dispatch_ns", time="start_ns", lead_ns=pl.lit(0, pl.Int64))],
        how="diagonal",
    ).sort("time", maintain_order=True)
    events = events.with_columns(spent=pl.col("dispatch_ns").cum_sum()).with_columns(
        reach=(pl.col("spent") + pl.col("lead_ns")).cum_max()
    )
    before = pl.col("reach").shift(1).fill_null(0)
    raised = (pl.col("lead_ns") > 0) & (pl.col("reach") > before)
    events = events.with_columns(
        credit=before - (pl.col("spent") - pl.col("dispatch_ns")),
        blamed=pl.when(raised).then(pl.col("pause")).forward_fill(),
    ).filter(pl.col("piece").is_not_null())
    return pieces.join(
        events.select("piece", "blamed", aftermath_ns=pl.min_horizontal("dispatch_ns", "credit")),
        on="piece",
        how="left",
    )
