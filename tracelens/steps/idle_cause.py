"""Why a device was idle: each gap between its operations, split by time among causes.

reads: examined_op, examined_gap, examined_call, examined_iteration, examined_span, api_kind,
       host_pause, iteration_window, user_range, profiler_overhead, clock_skew
row:   one cause within one gap, within one iteration's window

gap_id           BIGINT   the gap, in examined_gap
device_id        BIGINT   the device
iteration_index  BIGINT   the iteration whose window holds the idle time, NULL outside windows
cause            VARCHAR  dependency, sync, allocator, launch, input, host, profiler or unknown
finding          VARCHAR  the finding that the time belongs to, NULL for dependency and unknown
idle_ns          BIGINT   idle time with this cause; the rows of a gap sum to its length
role             VARCHAR  role of the operation that ends the gap, NULL where unknown
call_id          BIGINT   the call that held the host, or whose aftermath this is; for launch, the
                          call that ends the gap
call_name        VARCHAR  its name
thread_id        BIGINT   its thread
next_op_id       BIGINT   the operation that ends the gap
start_ns         BIGINT   first moment of the gap with this cause
end_ns           BIGINT   last moment of the gap with this cause
open_range       VARCHAR  the range opened last on that thread, if still open, else the phase of the
                          next operation; NULL where the host was silent outside all phases
os_call          VARCHAR  what the host spent most of that pause in, where calls into the operating
                          system were traced
python_frame     VARCHAR  file(line): function of the Python code that the host was in, in the
                          middle of a silence, where stacks were recorded

Where the clocks of host and GPU disagree (clock_skew) every cause is ``unknown``, and so is that of
a gap in which a CUDA graph ran of which nothing was recorded: the device need not have been idle.

A gap whose ending operation was launched before it began is a ``dependency``. Otherwise the host is
looked at from the start of the gap to the return of that launch: pauses (see host_pause) count as
what they are, the profiler's own time as ``profiler``, and the rest is dispatch. Dispatch is the
aftermath of a pause as long as that pause's credit lasts: a pause of W ns with the device busy took
W ns of lead from the host, so up to W ns of idle dispatch after it would not have been idle without
it. A new pause raises the credit to its own W. Without credit, dispatch is ``launch``.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _findings, _idle, _intervals, _opaque
from tracelens.steps._host import feeding_threads, spans

READS = (
    "examined_op",
    "examined_gap",
    "examined_call",
    "examined_iteration",
    "examined_span",
    "api_kind",
    "host_pause",
    "iteration_window",
    "user_range",
    "profiler_overhead",
    "clock_skew",
)

SCHEMA = {
    "gap_id": pl.Int64,
    "device_id": pl.Int64,
    "iteration_index": pl.Int64,
    "cause": pl.String,
    "finding": pl.String,
    "idle_ns": pl.Int64,
    "role": pl.String,
    "call_id": pl.Int64,
    "call_name": pl.String,
    "thread_id": pl.Int64,
    "next_op_id": pl.Int64,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "open_range": pl.String,
    "os_call": pl.String,
    "python_frame": pl.String,
}
_PIECE = ("gap_id", "iteration_index", "pause", "given", "profiled")
"""Pieces of a gap that agree in these are one row."""


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """The causes of every gap that is looked at, by device and time."""
    frames = {name: frames[name] for name in READS}
    frames["examined_gap"] = _with_launches(frames)
    tiny = _findings.small_kernel_optimizers(frames, settings)["device_id"].to_list()
    rows: dict[int, list[pl.DataFrame]] = {}
    for device, here in spans(frames):
        rows.setdefault(device, []).append(_span(here, device, settings))
    parts = [
        _told(pl.concat(of_device), device, device in tiny, frames, settings)
        for device, of_device in rows.items()
    ]
    return pl.concat([pl.DataFrame(schema=SCHEMA), *parts])


def _with_launches(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Gaps with the launch, the phase and the role of the operation that ends each."""
    names = frames["api_kind"].select("name_id", next_call_name="name").unique("name_id")
    skewed = frames["clock_skew"].filter(pl.col("is_skewed"))["process_id"]
    comparable = pl.when(
        ~pl.col("process_id").is_in(skewed.implode())
        & ~pl.col("op_id").is_in(_opaque.behind_graphs(frames).implode())
    )
    launches = frames["examined_op"].select(
        "op_id",
        "phase",
        role=pl.when(pl.col("is_known_role")).then(pl.col("phase")),
        call_start_ns=comparable.then("call_start_ns"),
        call_end_ns=comparable.then("call_end_ns"),
        next_call_id=comparable.then("call_id"),
        next_thread_id=comparable.then("thread_id"),
        name_id=comparable.then("call_name_id"),
    )
    return (
        frames["examined_gap"]
        .select("gap_id", "device_id", "start_ns", "end_ns", "next_op_id")
        .sort("device_id", "start_ns")
        .join(launches, left_on="next_op_id", right_on="op_id", how="left", maintain_order="left")
        .join(names, on="name_id", how="left", maintain_order="left")
    )


def _span(frames: Mapping[str, pl.DataFrame], device_id: int, settings: Settings) -> pl.DataFrame:
    """The causes of the gaps of one stretch, before they are told as findings."""
    gaps = frames["examined_gap"]
    pauses = (
        frames["host_pause"]
        .sort("start_ns")
        .with_row_index("pause")
        .with_columns(pl.col("pause").cast(pl.Int64))
    )
    windows = frames["iteration_window"].filter(pl.col("device_id") == device_id).sort("start_ns")
    threads = feeding_threads(frames["examined_op"])
    overhead = _intervals.union(
        frames["profiler_overhead"].filter(pl.col("thread_id").is_in(threads.implode()))
    )
    pieces = _idle.pieces(gaps, pauses, overhead, windows, settings)
    return _named(_idle.with_credit(pieces, pauses, gaps), pauses, gaps)


def _told(
    rows: pl.DataFrame,
    device_id: int,
    tiny_optimizer: bool,
    frames: Mapping[str, pl.DataFrame],
    settings: Settings,
) -> pl.DataFrame:
    """The rows of a device with the finding that each belongs to, and what was open on the host."""
    ops = frames["examined_op"].filter(pl.col("device_id") == device_id)
    copies = _findings.copy_findings(ops, frames["examined_iteration"], settings)
    small = copies.filter(pl.col("copy_finding") == _findings.SMALL_COPIES)["op_id"]
    rows = rows.with_columns(to_small_copy=pl.col("next_op_id").is_in(small.implode()))
    rows = rows.with_columns(
        finding=_findings.of_idle(rows, tiny_optimizer, settings),
        device_id=pl.lit(device_id, pl.Int64),
    )
    return _with_open_range(rows, frames).select(
        pl.col(name).cast(kind) for name, kind in SCHEMA.items()
    )


def _merged(pieces: pl.DataFrame) -> pl.DataFrame:
    """One row for all pieces of a gap that agree in what they are, aftermath and the rest apart."""
    length = pl.col("end_ns") - pl.col("start_ns")
    split = pl.concat(
        [
            pieces.filter(pl.col("aftermath_ns") > 0).with_columns(
                idle_ns=pl.col("aftermath_ns"),
                pause=pl.col("blamed"),
                given=pl.lit(None, pl.String),
            ),
            pieces.filter(length > pl.col("aftermath_ns")).with_columns(
                idle_ns=length - pl.col("aftermath_ns")
            ),
        ]
    )
    repeated = split["gap_id"].is_duplicated()
    merged = (
        split.filter(repeated)
        .group_by(_PIECE, maintain_order=True)
        .agg(pl.col("idle_ns").sum(), pl.col("start_ns").min(), pl.col("end_ns").max())
    )
    return pl.concat([split.filter(~repeated).select(merged.columns), merged])


def _named(pieces: pl.DataFrame, pauses: pl.DataFrame, gaps: pl.DataFrame) -> pl.DataFrame:
    """One row a gap, iteration, cause and call, with the finding of the pause, if any."""
    why = pauses.select(
        "pause",
        "cause",
        "finding",
        "call_id",
        "call_name",
        "thread_id",
        "os_call",
        "python_frame",
        pause_ns=pl.col("end_ns") - pl.col("start_ns"),
    )
    of_gap = gaps.select("gap_id", "role", "phase", "^next_.*$")
    rows = _merged(pieces).join(why, on="pause", how="left").join(of_gap, on="gap_id", how="left")
    is_told = pl.col("given").is_in(["dependency", "unknown"]).fill_null(False)
    own = pl.col("pause").is_null()
    return rows.with_columns(
        cause=pl.when(is_told)
        .then(pl.col("given"))
        .when(pl.col("profiled"))
        .then(pl.lit("profiler"))
        .otherwise(pl.col("cause").fill_null("launch")),
        call_id=pl.when(own).then(pl.col("next_call_id")).otherwise(pl.col("call_id")),
        call_name=pl.when(own).then(pl.col("next_call_name")).otherwise(pl.col("call_name")),
        thread_id=pl.when(own).then(pl.col("next_thread_id")).otherwise(pl.col("thread_id")),
    )


def _with_open_range(rows: pl.DataFrame, frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Add what was open on the row's thread when it began (in its middle, for a silence), and put
    the rows in order."""
    opened = frames["user_range"].select(
        "thread_id", "name", closed_ns="end_ns", opened_ns="start_ns"
    )
    is_open = (pl.col("closed_ns") > pl.col("at_ns")).fill_null(False)
    # a silence between phases belongs to none, whatever comes next
    phases = frames["user_range"].filter(
        pl.col("role").is_not_null()
        & (pl.col("thread_id") // 2**24).is_in((rows["thread_id"].drop_nulls() // 2**24).implode())
    )
    middle_ns = (pl.col("start_ns") + pl.col("end_ns")) // 2
    is_silence = pl.col("cause") == "host"
    rows = rows.with_columns(at_ns=pl.when(is_silence).then(middle_ns).otherwise("start_ns"))
    rows = rows.with_columns(between_phases=is_silence & ~_intervals.inside(rows["at_ns"], phases))
    return (
        rows.sort("at_ns", "gap_id")
        .join_asof(
            opened.sort("opened_ns"),
            left_on="at_ns",
            right_on="opened_ns",
            by="thread_id",
            check_sortedness=False,
        )
        .with_columns(
            open_range=pl.when(is_open)
            .then(pl.col("name"))
            .when(~pl.col("between_phases"))
            .then(pl.col("phase"))
        )
        .sort("start_ns", "gap_id")
    )
