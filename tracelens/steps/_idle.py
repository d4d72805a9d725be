"""Gaps cut into pieces, and which of them are the aftermath of an earlier pause of the host."""

from __future__ import annotations

import polars as pl

from tracelens.settings import Settings
from tracelens.steps import _intervals


def pieces(
    gaps: pl.DataFrame,
    pauses: pl.DataFrame,
    overhead: pl.DataFrame,
    windows: pl.DataFrame,
    settings: Settings,
) -> pl.DataFrame:
    """One device's gaps, cut wherever their cause may change: one row a piece, by start.

    Columns: gap_id, start_ns, end_ns, iteration_index, given (a cause that needs no look at the
    host, or NULL), pause (NULL outside pauses), profiled. Most gaps are one piece: only those that
    a pause, the profiler or the border of a window touches are cut.
    """
    gaps = _with_ready(gaps, settings)
    touched = pl.concat([pauses.select("start_ns", "end_ns"), overhead])
    before, until = (_intervals.covered_before(gaps[c], touched) for c in ("start_ns", "launched"))
    borders = pl.concat([windows["start_ns"], windows["end_ns"]]).sort()
    inner = borders.search_sorted(gaps["end_ns"], side="left") > borders.search_sorted(
        gaps["start_ns"], side="right"
    )
    is_looked = gaps["given"].is_null()
    is_cut = (is_looked & ((until > before) | (gaps["ready"] < gaps["end_ns"]))) | inner
    whole = gaps.filter(~is_cut).select(
        "gap_id",
        "start_ns",
        "end_ns",
        pl.col("given").fill_null("launch"),
        pause=pl.lit(None, pl.Int64),
        profiled=pl.lit(False),
    )
    cut = _cut(_stretches(gaps.filter(is_cut)), pauses, overhead, windows)
    return pl.concat([_lies_in(whole, windows, ["iteration_index"]), cut], how="diagonal").sort(
        "start_ns"
    )


def _with_ready(gaps: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Add when the launch returned (``launched``), when the operation could start at the latest
    (``ready``), and the cause where no look at the host is needed (``given``)."""
    launched = pl.col("call_end_ns").clip(pl.col("start_ns"), pl.col("end_ns"))
    skewed = pl.col("call_start_ns").is_null() | (pl.col("call_start_ns") > pl.col("end_ns"))
    given = (
        pl.when(skewed)
        .then(pl.lit("unknown"))
        .when(pl.col("call_end_ns") <= pl.col("start_ns"))
        .then(pl.lit("dependency"))
    )
    return gaps.with_columns(
        launched=launched.fill_null(pl.col("end_ns")), given=given
    ).with_columns(
        # what an operation needs at most to start once launched goes with the launch
        ready=pl.min_horizontal("end_ns", pl.col("launched") + settings.launch_latency_ns)
    )


def _stretches(gaps: pl.DataFrame) -> pl.DataFrame:
    """Gaps cut where the launch returned and where the operation was ready to start: gap_id,
    start_ns, end_ns, given."""
    looked = gaps.filter(pl.col("given").is_null())
    told = gaps.filter(pl.col("given").is_not_null())
    launch, dependency = pl.lit("launch"), pl.lit("dependency")
    return (
        pl.concat(
            [
                told.select("gap_id", "start_ns", "end_ns", "given"),
                looked.select("gap_id", "start_ns", end_ns="launched", given="given"),
                looked.select("gap_id", start_ns="launched", end_ns="ready", given=launch),
                looked.select("gap_id", start_ns="ready", end_ns="end_ns", given=dependency),
            ]
        )
        .filter(pl.col("end_ns") > pl.col("start_ns"))
        .sort("start_ns")
    )


def _cut(
    stretches: pl.DataFrame, pauses: pl.DataFrame, overhead: pl.DataFrame, windows: pl.DataFrame
) -> pl.DataFrame:
    """Stretches cut at the borders of pauses, profiler overhead and windows, and what each piece
    lies in."""
    borders = [
        frame[column]
        for frame in (stretches, pauses, overhead, windows)
        for column in ("start_ns", "end_ns")
    ]
    times = pl.concat(borders).unique().sort()
    cut = pl.DataFrame({"start_ns": times}).with_columns(end_ns=pl.col("start_ns").shift(-1))
    cut = cut.filter(pl.col("end_ns").is_not_null())
    cut = _lies_in(cut, stretches, ["gap_id", "given"]).filter(pl.col("gap_id").is_not_null())
    cut = _lies_in(cut, windows, ["iteration_index"])
    cut = _lies_in(cut, pauses, ["pause"])
    cut = _lies_in(cut, overhead.with_columns(profiled=pl.lit(True)), ["profiled"])
    # only what the host was looked at for can lie in a pause
    walked = pl.col("given").is_null()
    return cut.with_columns(
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
    ends = pl.concat([pauses["end_ns"], pauses["start_ns"]])
    idle_before = _intervals.covered_before(ends, gaps)
    idle_ns = idle_before.head(pauses.height) - idle_before.tail(pauses.height)
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
    # events keep the order of the pieces
    return pieces.with_columns(
        events["blamed"],
        aftermath_ns=events.select(pl.min_horizontal("dispatch_ns", "credit")).to_series(),
    )
