"""Usual latencies of a recording, by kind of operation and call: medians of the cases that show
each alone."""

from __future__ import annotations

import polars as pl

from tracelens.settings import Settings

_LATENCY_NS = 2_000
_GAP_NS = 1_000
"""Typical of the GPUs measured; used only where a recording shows no case of its own."""


def with_latencies(units: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Add latency_ns, from_start, gap_ns, after (a unit_id), after_ns to units.

    ``units``: one row a unit in host order, with unit_id, kind, copy_kind, is_pageable, bytes,
    stream, waits_own, is_linked, call_start_ns, call_end_ns, unit_start_ns, unit_end_ns, before_ns
    and before_kind (the end and kind of the unit before on its stream).
    """
    is_big = pl.col("bytes").fill_null(0) > settings.staged_copy_bytes
    units = units.with_columns(
        sort_of=pl.concat_str(
            "kind",
            pl.col("copy_kind").fill_null(""),
            pl.col("is_pageable").fill_null(False),
            (pl.col("kind") == "memcpy") & is_big,
            "waits_own",
            separator=" ",
        )
    )
    units = _with_latency(units)
    units = _with_gap(units)
    units = _with_edges(units, settings)
    return _with_delay(units, settings)


def _with_latency(units: pl.DataFrame) -> pl.DataFrame:
    """From the launch to the start, where all that was launched before was over by then."""
    all_over = (pl.col("unit_end_ns").cum_max().shift(1) <= pl.col("call_start_ns")).fill_null(True)
    own_over = pl.col("before_ns") <= pl.col("call_start_ns")
    free = units.with_columns(
        of_end=pl.col("unit_start_ns") - pl.col("call_end_ns"),
        of_start=pl.col("unit_start_ns") - pl.col("call_start_ns"),
        all_over=all_over,
    ).filter(pl.col("is_linked") & own_over)
    alone = free.filter("all_over")
    spread = [pl.col(c).quantile(0.75) - pl.col(c).quantile(0.25) for c in ("of_start", "of_end")]
    usual = alone.group_by("sort_of").agg(
        pl.col("of_end", "of_start").median(), steadier=spread[0] < spread[1]
    )
    # Beside other streams some of these waited for an event: the quicker ones did not.
    beside = free.group_by("sort_of").agg(beside=pl.col("of_end").quantile(0.25))
    of_kind = free.group_by("kind").agg(of_kind=pl.col("of_end").quantile(0.25))
    for frame, key in ((usual, "sort_of"), (beside, "sort_of"), (of_kind, "kind")):
        units = units.join(frame, on=key, how="left", maintain_order="left")
    from_start = pl.col("of_start").is_not_null() & (
        pl.col("waits_own") | ((pl.col("kind") == "memcpy") & pl.col("steadier"))
    )
    return units.with_columns(from_start=from_start).with_columns(
        latency_ns=pl.when("from_start")
        .then(pl.col("of_start"))
        .otherwise(pl.coalesce("of_end", "beside", "of_kind", pl.lit(_LATENCY_NS)))
        .cast(pl.Int64),
    )


def _with_gap(units: pl.DataFrame) -> pl.DataFrame:
    """From one unit's end to the next's start on a stream, where the next was long launched.

    What has no launch keeps its own gap: nothing else is known of it.
    """
    called = pl.when("from_start").then("call_start_ns").otherwise("call_end_ns")
    units = units.with_columns(
        ready_ns=called + pl.col("latency_ns"), own=pl.col("unit_start_ns") - pl.col("before_ns")
    )
    queued = units.filter(pl.col("is_linked") & (pl.col("ready_ns") <= pl.col("before_ns")))
    keys = ["before_kind", "sort_of"]
    usual = queued.group_by(keys).agg(pair=pl.col("own").median())
    of_kind = queued.group_by("kind").agg(single=pl.col("own").median())
    return (
        units.join(usual, on=keys, how="left", maintain_order="left", nulls_equal=True)
        .join(of_kind, on="kind", how="left", maintain_order="left")
        .with_columns(
            gap_ns=pl.when("is_linked")
            .then(pl.coalesce("pair", "single", pl.lit(_GAP_NS)))
            .otherwise("own")
            .cast(pl.Int64)
        )
    )


def _with_edges(units: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Waits for another stream: an operation that starts late, just after one elsewhere ended.

    Exports name only some of the events that streams wait for; this needs none.
    """
    due = pl.max_horizontal("ready_ns", pl.col("before_ns") + pl.col("gap_ns"))
    late = units.filter(
        pl.col("is_linked") & (pl.col("unit_start_ns") - due > settings.edge_late_ns)
    ).sort("unit_start_ns")
    found = [pl.DataFrame(schema={"unit_id": pl.Int64, "after": pl.Int64, "after_ns": pl.Int64})]
    for (stream,), others in units.group_by("stream"):
        mine = late.filter(pl.col("stream") != stream)
        found += [_just_ended(mine, others, settings), _launched_last(mine, others, settings)]
    edges = pl.concat(found).sort("after_ns").unique("unit_id", keep="first", maintain_order=True)
    usual = edges["after_ns"].median()
    edges = edges.with_columns(after_ns=pl.lit(usual, pl.Float64).cast(pl.Int64))
    return units.join(edges, on="unit_id", how="left", maintain_order="left")


def _with_delay(units: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Add to the collectives of a stream what they usually start late by with nothing to wait for:
    kernels beside them leave them no room on the device."""
    late_ns = pl.col("unit_start_ns") - pl.max_horizontal(
        "ready_ns", pl.col("before_ns") + pl.col("gap_ns")
    )
    is_own = (
        (pl.col("op_class") == "communication")
        & pl.col("is_linked")
        & pl.col("after").is_null()
        & (late_ns < settings.no_room_ns)
    )
    unexplained = pl.when(late_ns > settings.edge_late_ns).then(late_ns).otherwise(0)
    usual = unexplained.filter(is_own).mean().over("stream").fill_null(0)
    delay_ns = pl.when(is_own).then(usual).otherwise(0).cast(pl.Int64)
    return units.with_columns(pl.col("latency_ns") + delay_ns, pl.col("gap_ns") + delay_ns)


def _just_ended(late: pl.DataFrame, others: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """The unit of another stream that ended last before each late one, if launched earlier."""
    ends = others.select(after="unit_id", ended_ns="unit_end_ns", other_ns="order_ns")
    found = late.sort("unit_start_ns").join_asof(
        ends.sort("ended_ns"),
        left_on="unit_start_ns",
        right_on="ended_ns",
        check_sortedness=False,
    )
    return _edges(found, settings)


def _launched_last(late: pl.DataFrame, others: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """The unit of another stream launched last before each late one, if it had ended: what was
    launched later may have ended since, and not be what was waited for."""
    ends = others.select(after="unit_id", ended_ns="unit_end_ns", other_ns="order_ns")
    found = late.sort("order_ns").join_asof(
        ends.sort("other_ns"),
        left_on="order_ns",
        right_on="other_ns",
        allow_exact_matches=False,
        check_sortedness=False,
        coalesce=False,
    )
    return _edges(found, settings)


def _edges(found: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    since_ns = pl.col("unit_start_ns") - pl.col("ended_ns")
    return found.filter(
        (pl.col("other_ns") < pl.col("order_ns")) & since_ns.is_between(0, settings.edge_window_ns)
    ).select("unit_id", "after", after_ns=since_ns)
