"""The steps of a replay, from a recording: what calls did on the host, and what they launched."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tracelens.settings import Settings
from tracelens.steps import _waits
from tracelens.steps._host import feeding_threads, op_roles
from tracelens.steps._latency import with_latencies
from tracelens.steps._replay import LAUNCH, STEP, UNLINKED, WAIT, State

_NEARLY = 0.9
"""Pending launches fluctuate by this much where the queue is full: it empties in batches."""
_HELD_UP = 3.0
"""How many times more often calls must be slow on a deep queue for its depth to be the reason."""


def with_streams(ops: pl.DataFrame) -> pl.DataFrame:
    """Add ``stream``: an index of each context's streams, from 0. Operations that a skewed clock
    puts before their launch lose it."""
    skewed = pl.col("call_start_ns") > pl.col("start_ns")
    key = pl.struct("context_id", "stream_id").rank("dense").cast(pl.Int64) - 1
    return ops.with_columns(
        pl.when(~skewed).then(pl.col(c)).alias(c)
        for c in ("call_id", "thread_id", "call_start_ns", "call_end_ns")
    ).with_columns(stream=key)


def units(frames: Mapping[str, pl.DataFrame], ops: pl.DataFrame) -> pl.DataFrame:
    """What calls launched, the operations of one call as one: one row a unit."""
    classes = frames["op_class"].select("name_id", "op_class").unique("name_id")
    named = (
        ops.join(classes, on="name_id", how="left")
        .join(op_roles(frames), on="op_id", how="left")
        .with_columns(
            unit_id=pl.coalesce("call_id", -1 - pl.col("op_id")),
            op_class=pl.col("op_class").fill_null("compute"),
        )
        .sort("start_ns", "op_id")
    )
    first = pl.first(
        "op_id", "call_id", "thread_id", "stream", "stream_id", "kind", "copy_kind", "is_pageable",
        "bytes", "op_class", "role",
    )  # fmt: skip
    return (
        named.group_by("unit_id", maintain_order=True)
        .agg(
            first,
            pl.col("start_ns").min().alias("unit_start_ns"),
            pl.col("end_ns").max().alias("unit_end_ns"),
            pl.first("call_start_ns", "call_end_ns"),
            also_on=pl.col("stream").unique(),
        )
        .with_columns(
            # one stream is its own: the replay need not look at the list
            also_on=pl.when(pl.col("also_on").list.len() > 1).then("also_on")
        )
    )


def calls(
    frames: Mapping[str, pl.DataFrame], ops: pl.DataFrame, units: pl.DataFrame
) -> pl.DataFrame:
    """Calls of the feeding threads that launch a unit or wait, in order: one row a call."""
    begin_ns = units["call_start_ns"].min()
    until_ns = units["call_start_ns"].max()
    threads = feeding_threads(ops)
    pauses = frames["host_pause"].filter(
        (pl.col("device_id") == ops["device_id"][0]) & pl.col("call_id").is_not_null()
    )
    waited = frames["stream_wait"].filter(~pl.col("is_record"))
    waited = waited.select("process_id", "correlation_id", awaited_stream="stream_id")
    return (
        frames["examined_call"]
        .filter(
            pl.col("thread_id").is_in(threads.implode()),
            pl.col("start_ns").is_between(begin_ns, until_ns),
        )
        .join(frames["api_kind"].select("name_id", "name", call_kind="kind"), on="name_id")
        .join(pauses.select("call_id", "cause", "finding"), on="call_id", how="left")
        .join(units.select("call_id", "unit_id", "stream", "stream_id"), on="call_id", how="left")
        .join(
            waited.unique(["process_id", "correlation_id"]),
            on=["process_id", "correlation_id"],
            how="left",
        )
        .with_columns(
            waits=(pl.col("cause") == "sync").fill_null(False)
            | ((pl.col("cause") == "allocator") & (pl.col("call_kind") == "free")).fill_null(False)
        )
        .filter(pl.col("unit_id").is_not_null() | pl.col("waits"))
        .sort("start_ns", "end_ns")
        .with_columns(since_ns=pl.col("end_ns").cum_max().shift(1).fill_null(pl.col("start_ns")))
        .with_columns(
            think_ns=(pl.col("start_ns") - pl.col("since_ns")).clip(0),
            call_ns=(pl.col("end_ns") - pl.max_horizontal("start_ns", "since_ns")).clip(0),
        )
    )


def in_flight(ops: pl.DataFrame, begin_ns: int) -> pl.DataFrame:
    """Launches not finished when the first step begins, or made later: one row a call, by stream
    and launch, with the latest end so far on its stream."""
    return (
        ops.filter(pl.col("call_id").is_not_null() & (pl.col("end_ns") > begin_ns))
        .group_by("call_id")
        .agg(pl.first("stream", "stream_id", "call_start_ns"), pl.col("end_ns").max())
        .sort("stream", "call_start_ns")
        .with_columns(done_ns=pl.col("end_ns").cum_max().over("stream"))
    )


def without_backpressure(
    calls: pl.DataFrame, flight: pl.DataFrame, settings: Settings
) -> tuple[pl.DataFrame, int]:
    """Take out of launch calls what they waited for room in a full queue, and tell its depth."""
    launched = flight.select("stream", time="call_start_ns", change=pl.lit(1))
    ended = flight.select("stream", time="end_ns", change=pl.lit(-1))
    level = (
        pl.concat([launched, ended])
        .sort("stream", "time", "change")
        .with_columns(pending=pl.col("change").cum_sum().over("stream"))
        .sort("time")
    )
    calls = calls.join_asof(
        level.select("stream", "time", "pending"),
        left_on="start_ns",
        right_on="time",
        by="stream",
        check_sortedness=False,
    ).with_columns(usual_ns=pl.col("call_ns").median().over("name"))
    slow = pl.col("call_ns") > pl.col("usual_ns") * settings.backpressure_factor
    calls = calls.with_columns(slow=slow & ~pl.col("waits"))
    # A queue that fills up holds up many of the calls that find it full, and hardly any others.
    deepest = max((p for p in calls["pending"] if p is not None), default=0)
    is_deep = (pl.col("pending") >= _NEARLY * deepest).fill_null(False)
    among_deep, elsewhere = (
        int(calls.filter(where)["slow"].sum()) / max(calls.filter(where).height, 1)
        for where in (is_deep, ~is_deep)
    )
    if deepest < settings.queue_depth // 2 or among_deep <= _HELD_UP * elsewhere:
        return calls, settings.queue_depth
    call_ns = pl.when(is_deep & pl.col("slow")).then(pl.col("usual_ns").cast(pl.Int64))
    return calls.with_columns(call_ns=call_ns.otherwise("call_ns")), deepest


def state(
    ops: pl.DataFrame, lead_ns: int, flight: pl.DataFrame, begin_ns: int, depth: int
) -> State:
    """The streams and the queue when the first step begins."""
    streams = range(1 + max(ops["stream"]))
    before = ops.filter(pl.col("start_ns") < lead_ns)
    ends = dict(before.group_by("stream").agg(pl.col("end_ns").max()).iter_rows())
    queued = flight.filter(pl.col("call_start_ns") < begin_ns)
    pending = dict(queued.group_by("stream").agg(pl.col("end_ns").sort()).iter_rows())
    return State(
        host_ns=begin_ns,
        stream_ends=tuple(ends.get(s, lead_ns) for s in streams),
        pending_ends=tuple(tuple(pending.get(s, ())) for s in streams),
        queue_depth=max(depth, 1),
    )


def ordered(units: pl.DataFrame, calls: pl.DataFrame, state: State) -> pl.DataFrame:
    """Units in the order of the host, each with the end of the one before it on its stream.

    Units whose call is none of the steps (not recorded, or of a thread that runs beside) follow
    the unit before them on their stream.
    """
    history = pl.DataFrame(
        {"stream": range(len(state.stream_ends)), "history_ns": state.stream_ends},
        schema={"stream": pl.Int64, "history_ns": pl.Int64},
    )
    is_linked = pl.col("unit_id").is_in(calls["unit_id"].drop_nulls().implode())
    order = pl.when(is_linked).then(pl.col("call_start_ns"))
    return (
        units.sort("stream", "unit_start_ns")
        .with_columns(is_linked=is_linked, order_ns=order)
        .with_columns(pl.col("order_ns").forward_fill().over("stream").fill_null(state.host_ns - 1))
        .join(calls.filter("waits").select("unit_id", waits_own="waits"), on="unit_id", how="left")
        .with_columns(pl.col("waits_own").fill_null(False))
        .sort("order_ns", pl.col("is_linked").not_(), "unit_start_ns")
        .with_columns(
            before_ns=pl.col("unit_end_ns").cum_max().shift(1).over("stream"),
            before_kind=pl.col("kind").shift(1).over("stream"),
        )
        .join(history, on="stream", how="left", maintain_order="left")
        .with_columns(before_ns=pl.coalesce("before_ns", "history_ns"))
    )


def steps(
    units: pl.DataFrame, calls: pl.DataFrame, flight: pl.DataFrame, settings: Settings
) -> pl.DataFrame:
    """Calls and units as one frame of steps in host order (see Timeline.steps)."""
    units = with_latencies(units, settings).with_columns(
        unit_ns=pl.col("unit_end_ns") - pl.col("unit_start_ns")
    )
    unlinked = units.filter(~pl.col("is_linked")).with_columns(
        kind=pl.lit(UNLINKED), start_ns="order_ns", end_ns="order_ns", since_ns="order_ns"
    )
    steps = (
        pl.concat([_linked(units, calls, flight, settings), unlinked], how="diagonal_relaxed")
        .sort("start_ns", pl.col("kind") == UNLINKED, "end_ns", "unit_start_ns")
        .with_row_index("step")
        .with_columns(pl.col("step").cast(pl.Int64), pl.col("role").fill_null(strategy="backward"))
    )
    return _with_places(steps).with_columns(
        pl.col(name).cast(kind) if kind.is_nested() else pl.col(name).fill_null(0).cast(kind)
        for name, kind in STEP.items()
    )


def _linked(
    units: pl.DataFrame, calls: pl.DataFrame, flight: pl.DataFrame, settings: Settings
) -> pl.DataFrame:
    """Calls with what each launches and waits for, and the time that it takes by itself."""
    waits = _waits.of_calls(calls, units, flight, settings)
    linked = (
        calls.drop("stream", "stream_id")
        .join(units.drop("call_id", "thread_id"), on="unit_id", how="left")
        .join(
            waits.rename({"return_ns": "wait_return", "call_ns": "wait_call"}),
            on="call_id",
            how="left",
        )
        .with_columns(kind=pl.when(pl.col("unit_id").is_null()).then(WAIT).otherwise(LAUNCH))
    )
    own_return = (pl.col("end_ns") - pl.col("unit_end_ns")).median().over("sort_of")
    return linked.with_columns(
        call_ns=pl.when(pl.col("kind") == WAIT)
        .then("wait_call")
        .when("waits_own")
        .then(0)
        .otherwise("call_ns"),
        return_ns=pl.when(pl.col("waits_own"))
        .then(own_return)
        .otherwise(pl.col("wait_return"))
        .cast(pl.Int64),
    )


def _with_places(steps: pl.DataFrame) -> pl.DataFrame:
    """Steps with the units that they wait for told as earlier steps."""
    places = steps.filter(pl.col("unit_id").is_not_null()).select("unit_id", place="step")
    for column, other in (("after", "after_step"), ("waits_unit", "waits_step")):
        steps = steps.join(
            places.rename({"unit_id": column, "place": other}),
            on=column,
            how="left",
            maintain_order="left",
        )
    earlier = pl.col("after_step") < pl.col("step")
    return steps.with_columns(
        after=pl.when(earlier).then("after_step").otherwise(-1),
        waits_step=pl.when(pl.col("waits_step") < pl.col("step")).then("waits_step").otherwise(-1),
        waits_own=pl.col("waits_own").fill_null(False),
        from_start=pl.col("from_start").fill_null(False),
        stream=pl.col("stream").fill_null(0),
    )
