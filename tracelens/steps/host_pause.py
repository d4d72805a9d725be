"""Stretches in which the host that feeds a device did anything but dispatch: it waited, allocated,
or was silent.

reads: examined_op, examined_call, examined_iteration, examined_span, api_kind, iteration,
       user_range, os_call, python_frame
row:   one call, or one silence between two calls; they do not overlap on a device

device_id     BIGINT   the device that is fed
start_ns      BIGINT   start on the trace clock
end_ns        BIGINT   end
cause         VARCHAR  sync, allocator, input or host
finding       VARCHAR  the finding that its cost belongs to
call_id       BIGINT   the call, NULL for a silence
call_name     VARCHAR  its name, NULL for a silence
thread_id     BIGINT   the calling thread; for a silence, the thread of the next call
os_call       VARCHAR  the call into the operating system that held that thread for most of it, NULL
                       where none did or none were traced
python_frame  VARCHAR  for a silence, file(line): function of the innermost Python code that the
                       thread was in at its middle, NULL where none was or none was recorded
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _findings, _intervals, _python
from tracelens.steps._host import CALL_FRAMES, device_calls, holding_calls, spans

READS = (*CALL_FRAMES, "iteration", "user_range", "os_call", "python_frame")

SCHEMA = {
    "device_id": pl.Int64,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "cause": pl.String,
    "finding": pl.String,
    "call_id": pl.Int64,
    "call_name": pl.String,
    "thread_id": pl.Int64,
    "os_call": pl.String,
    "python_frame": pl.String,
}


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """The pauses of every device's host, by device and start."""
    frames = {name: frames[name] for name in READS}
    frames["python_frame"] = _python.code_frames(frames["python_frame"])
    parts = [_pauses(here, device, settings) for device, here in spans(frames)]
    return pl.concat([pl.DataFrame(schema=SCHEMA), *parts])


def _pauses(frames: Mapping[str, pl.DataFrame], device_id: int, settings: Settings) -> pl.DataFrame:
    ops = frames["examined_op"]
    calls = device_calls(frames, ops)
    # Calls of two threads, or one inside another, share time: it counts for what began first.
    held = (
        holding_calls(frames, calls, ops, settings)
        .with_columns(start_ns=pl.max_horizontal("start_ns", "free_ns"))
        .filter(pl.col("end_ns") > pl.col("start_ns"))
        .rename({"name": "call_name"})
    )
    silences = _silences(frames, calls, ops, settings)
    silences = _python.with_frames(silences, frames["python_frame"])
    pauses = pl.concat([held, silences], how="diagonal")
    return (
        _with_os_calls(pauses, frames["os_call"])
        .with_columns(device_id=pl.lit(device_id, pl.Int64))
        .select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())
        .sort("start_ns")
    )


def _silences(
    frames: Mapping[str, pl.DataFrame], calls: pl.DataFrame, ops: pl.DataFrame, settings: Settings
) -> pl.DataFrame:
    """Silences long enough to be no dispatch, each with its cause."""
    shortest = min(settings.input_silence_ns, settings.host_silence_ns)
    silent_ns = pl.col("start_ns") - pl.col("free_ns")
    between = calls.filter(silent_ns >= shortest)
    launches = (
        ops.select("op_id", "call_id", "call_start_ns", "phase", "iteration_index")
        .filter(pl.col("call_id").is_not_null())
        .sort("call_start_ns")
    )
    between = between.join_asof(
        launches.select("op_id", "call_start_ns"),
        left_on="start_ns",
        right_on="call_start_ns",
        strategy="forward",
        check_sortedness=False,
    )
    in_data, in_phase, outside = _places(frames, between, _first_ops(launches))
    is_input = in_data | (~in_phase & outside)
    between = between.with_columns(is_input=is_input)
    long_ns = pl.max_horizontal(
        pl.lit(settings.host_silence_ns),
        (pl.col("usual_ns").fill_null(0) * settings.host_silence_factor).cast(pl.Int64),
    )
    return (
        between.join(_usual_distances(launches, between), on="op_id", how="left")
        .filter(
            pl.when("is_input")
            .then(silent_ns >= settings.input_silence_ns)
            .otherwise(silent_ns >= long_ns)
        )
        .select(
            "thread_id",
            start_ns="free_ns",
            end_ns="start_ns",
            cause=pl.when("is_input").then(pl.lit("input")).otherwise(pl.lit("host")),
            finding=pl.when("is_input")
            .then(pl.lit(_findings.INPUT))
            .otherwise(pl.lit(_findings.HOST)),
        )
    )


def _usual_distances(launches: pl.DataFrame, between: pl.DataFrame) -> pl.DataFrame:
    """The median distance of two launches in the phase that each silence leads to: op_id,
    usual_ns (NULL where no two are ever launched in an iteration)."""
    if between["is_input"].all():
        return pl.DataFrame(schema={"op_id": pl.Int64, "usual_ns": pl.Float64})
    ended = launches.filter(pl.col("op_id").is_in(between["op_id"].drop_nulls().implode()))
    placed = launches.filter(pl.col("phase").is_in(ended["phase"].implode(), nulls_equal=True))
    # within an iteration: what is launched once in each is a period apart
    distance_ns = pl.col("call_start_ns").diff().over("phase", "iteration_index")
    usual = (
        placed.with_columns(distance_ns=distance_ns)
        .group_by("phase")
        .agg(usual_ns=pl.col("distance_ns").quantile(0.5, "lower"))
    )
    return ended.join(usual, on="phase", nulls_equal=True).select("op_id", "usual_ns")


def _places(
    frames: Mapping[str, pl.DataFrame], silences: pl.DataFrame, firsts: pl.DataFrame
) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Whether the middle of each silence lies in a data phase, in another known phase, or outside
    or at the head of an iteration, before its first launch.

    Behind the last launch of an iteration that a range still holds open, the host does something
    for that iteration, not for the next. An iteration that no range marks ends where the next
    one's launches begin: what lies before these lies between the two. Where no iteration is known,
    nothing lies outside.
    """
    processes = silences["process_id"].unique().implode()
    middle = (silences["start_ns"] + silences["free_ns"]) // 2
    ranges = frames["user_range"].filter(
        pl.col("process_id").is_in(processes) & pl.col("role").is_not_null()
    )
    iterations = frames["iteration"].filter(pl.col("process_id").is_in(processes))
    places = _holding(middle, iterations).with_columns(
        firsts_of=silences.select("op_id").join(firsts, on="op_id", how="left")["iteration_index"]
    )
    is_own = pl.col("range_id").is_null() | (pl.col("iteration_index") == pl.col("firsts_of"))
    outside = pl.col("iteration_index").is_null() | (pl.col("firsts_of").is_not_null() & is_own)
    return (
        _intervals.inside(middle, ranges.filter(pl.col("role") == "data")),
        _intervals.inside(middle, ranges.filter(pl.col("role") != "data")),
        places.select(outside.fill_null(False) & (not iterations.is_empty())).to_series(),
    )


def _holding(times: pl.Series, iterations: pl.DataFrame) -> pl.DataFrame:
    """The iteration that holds each time, in the order of the times: iteration_index and range_id,
    NULL where none does."""
    held = (
        pl.DataFrame({"at_ns": times})
        .with_row_index("row")
        .sort("at_ns")
        .join_asof(
            iterations.select("start_ns", "end_ns", "iteration_index", "range_id").sort("start_ns"),
            left_on="at_ns",
            right_on="start_ns",
            check_sortedness=False,
        )
    )
    is_held = pl.col("end_ns") > pl.col("at_ns")
    return held.sort("row").select(
        pl.when(is_held).then(pl.col(c)).alias(c) for c in ("iteration_index", "range_id")
    )


def _first_ops(launches: pl.DataFrame) -> pl.DataFrame:
    """The operation of a device launched first in each iteration: op_id, iteration_index."""
    return (
        launches.filter(pl.col("iteration_index").is_not_null())
        .group_by("iteration_index")
        .agg(pl.first("op_id"))
        .select("op_id", "iteration_index")
    )


def _with_os_calls(pauses: pl.DataFrame, os_calls: pl.DataFrame) -> pl.DataFrame:
    """Add the function of the operating system that held the thread for most of each pause."""
    calls = os_calls.select("thread_id", "name", called_ns="start_ns", returned_ns="end_ns")
    shared_ns = pl.min_horizontal("end_ns", "returned_ns") - pl.max_horizontal(
        "start_ns", "called_ns"
    )
    is_most = 2 * shared_ns > pl.col("end_ns") - pl.col("start_ns")
    # what holds it for most of the pause holds it in the middle
    return (
        pauses.with_columns(middle_ns=(pl.col("start_ns") + pl.col("end_ns")) // 2)
        .sort("middle_ns")
        .join_asof(
            calls.sort("called_ns"),
            left_on="middle_ns",
            right_on="called_ns",
            by="thread_id",
            check_sortedness=False,
        )
        .with_columns(os_call=pl.when(is_most).then(pl.col("name")))
    )
