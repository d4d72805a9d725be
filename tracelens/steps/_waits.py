"""What each synchronising call of a recording waited for, and how long it takes to return."""

from __future__ import annotations

import polars as pl

from tracelens.settings import Settings

_RETURN_NS = 10_000
"""Typical of the hosts measured; used only where a recording shows no case of its own."""
_JITTER_NS = 3_000
"""A call that returns this little before an operation's recorded end may have waited for it."""
_LONG_NS = 1_000_000
"""A host that waited longer than this sleeps, and takes longer to wake."""


def of_calls(
    calls: pl.DataFrame, units: pl.DataFrame, flight: pl.DataFrame, settings: Settings
) -> pl.DataFrame:
    """What calls that launch nothing wait for: one row a call.

    Columns: call_id, waits_for (streams), waits_unit (one unit's id, for events), return_ns,
    call_ns. ``calls`` are in host order, with name, call_kind, start_ns, end_ns, thread_id,
    stream_id, awaited_stream, waits, unit_id; ``flight`` has each launch's stream, call_start_ns
    and done_ns.
    """
    calls = calls.with_columns(
        awaited=pl.coalesce("awaited_stream", pl.col("stream_id").forward_fill().over("thread_id"))
    ).filter(pl.col("waits") & pl.col("unit_id").is_null())
    is_event = pl.col("name").str.contains("Event")
    is_stream = pl.col("name").str.contains("Stream") & (pl.col("call_kind") == "sync")
    calls = calls.with_columns(is_event=is_event, is_stream=is_stream)
    streams = _awaited_streams(calls, flight)
    events = _awaited_units(calls, units, settings)
    calls = (
        calls.join(streams, on="call_id", how="left")
        .join(events, on="call_id", how="left")
        .with_columns(until_ns=pl.coalesce("unit_until_ns", "streams_until_ns"))
    )
    return _with_usual(calls).select(
        "call_id",
        "waits_for",
        "waits_unit",
        pl.col("return_ns").cast(pl.Int64),
        pl.col("call_ns").cast(pl.Int64),
    )


def _awaited_streams(calls: pl.DataFrame, flight: pl.DataFrame) -> pl.DataFrame:
    """The streams that each call waits for, and when they were done: those in the call's reach
    whose work until then was done when it returned."""
    found = [pl.DataFrame(schema={"call_id": pl.Int64, "stream": pl.Int64, "done_ns": pl.Int64})]
    reach = pl.col("is_stream").not_() | pl.col("awaited").is_null()
    for (stream,), launches in flight.group_by("stream"):
        stream_id = launches["stream_id"][0]
        found.append(
            calls.filter(~pl.col("is_event") & (reach | (pl.col("awaited") == stream_id)))
            .sort("start_ns")
            .join_asof(
                launches.select("call_start_ns", "done_ns"),
                left_on="start_ns",
                right_on="call_start_ns",
                allow_exact_matches=False,
                check_sortedness=False,
            )
            .filter(pl.col("done_ns") <= pl.col("end_ns") + _JITTER_NS)
            .select("call_id", "done_ns", stream=pl.lit(stream, pl.Int64))
        )
    return (
        pl.concat(found, how="diagonal")
        .group_by("call_id")
        .agg(waits_for=pl.col("stream").sort(), streams_until_ns=pl.col("done_ns").max())
    )


def _awaited_units(calls: pl.DataFrame, units: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """The unit at whose end a wait for an event returned."""
    ends = units.select(
        waits_unit="unit_id", unit_until_ns="unit_end_ns", launched_ns="order_ns"
    ).sort("unit_until_ns")
    return (
        calls.filter("is_event")
        .with_columns(latest_ns=pl.col("end_ns") + _JITTER_NS)
        .sort("latest_ns")
        .join_asof(
            ends,
            left_on="latest_ns",
            right_on="unit_until_ns",
            tolerance=settings.edge_window_ns,
            check_sortedness=False,
        )
        .filter(
            (pl.col("unit_until_ns") > pl.col("start_ns"))
            & (pl.col("launched_ns") < pl.col("start_ns"))
        )
        .select("call_id", "waits_unit", "unit_until_ns")
    )


def _with_usual(calls: pl.DataFrame) -> pl.DataFrame:
    """Add the usual time to return after the wait, and the usual time without one, by API."""
    waited_ns = pl.col("until_ns") - pl.col("start_ns")
    calls = calls.with_columns(
        waited=(waited_ns > 0).fill_null(False), is_long=(waited_ns > _LONG_NS).fill_null(False)
    )
    late = (pl.col("end_ns") - pl.col("until_ns")).clip(0)
    waited = calls.filter("waited")
    keys = ["name", "is_long"]
    by_length = waited.group_by(keys).agg(length_return=late.median())
    by_name = waited.group_by("name").agg(name_return=late.median())
    took = (pl.col("end_ns") - pl.col("start_ns")).median()
    idle = calls.filter(~pl.col("waited")).group_by("name").agg(usual_call=took)
    return (
        calls.drop("call_ns")
        .join(by_length, on=keys, how="left")
        .join(by_name, on="name", how="left")
        .join(idle, on="name", how="left")
        .with_columns(
            return_ns=pl.coalesce("length_return", "name_return", pl.lit(_RETURN_NS)),
            call_ns=pl.coalesce("usual_call", "name_return", pl.lit(_RETURN_NS)),
        )
    )
