"""Stretches in which the host that feeds a device did anything but dispatch: it waited, allocated,
or was silent.

reads: launched_op, api_call, api_kind, iteration, iteration_window, op_phase, user_range
row:   one call, or one silence between two calls; they do not overlap on a device

device_id  BIGINT   the device that is fed
start_ns   BIGINT   start on the trace clock
end_ns     BIGINT   end
cause      VARCHAR  sync, allocator, input or host
finding    VARCHAR  the finding that its cost belongs to
call_id    BIGINT   the call, NULL for a silence
call_name  VARCHAR  its name, NULL for a silence
thread_id  BIGINT   the calling thread; for a silence, the thread of the next call
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _findings, _intervals
from tracelens.steps._host import CALL_FRAMES, device_calls

READS = (*CALL_FRAMES, "iteration", "user_range")

SCHEMA = {
    "device_id": pl.Int64,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "cause": pl.String,
    "finding": pl.String,
    "call_id": pl.Int64,
    "call_name": pl.String,
    "thread_id": pl.Int64,
}


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """The pauses of every device's host, by device and start."""
    frames = {name: frames[name] for name in READS}
    devices = frames["launched_op"]["device_id"].unique().sort().to_list()
    parts = [_pauses(frames, device, settings) for device in devices]
    return pl.concat([pl.DataFrame(schema=SCHEMA), *parts])


def _pauses(frames: Mapping[str, pl.DataFrame], device_id: int, settings: Settings) -> pl.DataFrame:
    calls = device_calls(frames, device_id, settings)
    # Calls of two threads, or one inside another, share time: it counts for the one that began
    # first.
    free_from = pl.col("end_ns").cum_max().shift(1).fill_null(pl.col("start_ns").min())
    calls = calls.with_columns(free_ns=free_from).with_columns(
        begin_ns=pl.max_horizontal("start_ns", "free_ns")
    )
    held = calls.filter(pl.col("finding").is_not_null() & (pl.col("end_ns") > pl.col("begin_ns")))
    silences = _silences(frames, calls, device_id, settings)
    return (
        pl.concat(
            [
                held.select(
                    start_ns="begin_ns",
                    end_ns="end_ns",
                    cause="cause",
                    finding="finding",
                    call_id="call_id",
                    call_name="name",
                    thread_id="thread_id",
                ),
                silences,
            ],
            how="diagonal",
        )
        .with_columns(device_id=pl.lit(device_id, pl.Int64))
        .select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())
        .sort("start_ns")
    )


def _silences(
    frames: Mapping[str, pl.DataFrame], calls: pl.DataFrame, device_id: int, settings: Settings
) -> pl.DataFrame:
    """Silences long enough to be no dispatch, each with its cause."""
    between = calls.with_columns(silent_ns=pl.col("start_ns") - pl.col("free_ns")).with_columns(
        usual_ns=pl.col("silent_ns").filter(pl.col("silent_ns") > 0).median().over("role"),
        next_op_id=pl.col("op_id").fill_null(strategy="backward"),
    )
    shortest = min(settings.input_silence_ns, settings.host_silence_ns)
    between = between.filter(pl.col("silent_ns") >= shortest)
    in_data, in_phase, in_iteration = _places(frames, between, settings)
    first_ops = _first_ops_of_iterations(frames, device_id)
    is_input = in_data | (
        ~in_phase & (~in_iteration | between["next_op_id"].is_in(first_ops.implode()))
    )
    long = pl.max_horizontal(
        pl.lit(settings.host_silence_ns),
        (pl.col("usual_ns").fill_null(0) * settings.host_silence_factor).cast(pl.Int64),
    )
    return (
        between.with_columns(is_input=is_input)
        .filter(
            pl.when("is_input")
            .then(pl.col("silent_ns") >= settings.input_silence_ns)
            .otherwise(pl.col("silent_ns") >= long)
        )
        .select(
            start_ns="free_ns",
            end_ns="start_ns",
            cause=pl.when("is_input").then(pl.lit("input")).otherwise(pl.lit("host")),
            finding=pl.when("is_input")
            .then(pl.lit(_findings.INPUT))
            .otherwise(pl.lit(_findings.HOST)),
            thread_id="thread_id",
        )
    )


def _places(
    frames: Mapping[str, pl.DataFrame], silences: pl.DataFrame, settings: Settings
) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Whether the middle of each silence lies in a data phase, in another known phase, in an
    iteration.

    Where no iteration is known, everything counts as inside one.
    """
    processes = silences["process_id"].unique().implode()
    middle = (silences["start_ns"] + silences["free_ns"]) // 2
    ranges = frames["user_range"].filter(
        pl.col("process_id").is_in(processes) & pl.col("role").is_not_null()
    )
    iterations = frames["iteration"].filter(pl.col("process_id").is_in(processes))
    inside = _intervals.inside(middle, iterations)
    return (
        _intervals.inside(middle, ranges.filter(pl.col("role") == "data")),
        _intervals.inside(middle, ranges.filter(pl.col("role") != "data")),
        inside | iterations.is_empty(),
    )


def _first_ops_of_iterations(frames: Mapping[str, pl.DataFrame], device_id: int) -> pl.Series:
    """The operation launched first in each iteration on a device."""
    return (
        frames["op_phase"]
        .filter((pl.col("device_id") == device_id) & pl.col("iteration_index").is_not_null())
        .select("op_id", "iteration_index")
        .join(
            frames["launched_op"]
            .filter(pl.col("call_id").is_not_null())
            .select("op_id", "call_start_ns"),
            on="op_id",
        )
        .sort("call_start_ns")
        .unique("iteration_index", keep="first", maintain_order=True)["op_id"]
    )
