"""The host side of one device: the CUDA calls of the threads that feed it, in order, and what each
waited for."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tracelens.settings import Settings
from tracelens.steps import _findings

CALL_FRAMES = (
    "launched_op",
    "api_call",
    "api_kind",
    "iteration_window",
    "op_phase",
)
"""What ``device_calls`` reads."""

_WORK = ("launch", "graph_launch", "copy", "memset", "sync", "alloc", "free")


def feeding_threads(ops: pl.DataFrame) -> pl.Series:
    """The threads that launch kernels on a device (all that launch anything, where none does).

    Threads that only copy (prefetchers) or only poll (NCCL's watchdog) run beside these and hold
    nothing up. ``ops`` are rows of launched_op.
    """
    linked = ops.filter(pl.col("thread_id").is_not_null())
    kernels = linked.filter(pl.col("kind").is_in(["kernel", "graph"]))
    return (linked if kernels.is_empty() else kernels)["thread_id"].unique()


def op_roles(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The role of every operation, NULL where it is unknown: columns op_id, role."""
    return frames["op_phase"].select(
        "op_id", role=pl.when(pl.col("is_known_role")).then(pl.col("phase"))
    )


def device_calls(
    frames: Mapping[str, pl.DataFrame], device_id: int, settings: Settings
) -> pl.DataFrame:
    """The calls of the threads that feed a device: one row a call, by start.

    Columns: call_id, thread_id, kind, name, start_ns, end_ns, op_id (first operation launched on
    this device, NULL for none), role (of the next operation launched), waits (the call holds the
    host until the device has finished something), finding (of the time that the call takes, NULL
    for dispatch), cause (sync, allocator, or launch).
    """
    ops = frames["launched_op"].filter(pl.col("device_id") == device_id)
    calls = (
        frames["api_call"]
        .filter(pl.col("thread_id").is_in(feeding_threads(ops).implode()))
        .select(
            "call_id", "process_id", "thread_id", "name_id", "start_ns", "end_ns", "correlation_id"
        )
        .join(frames["api_kind"], on="name_id", how="left")
        .with_columns(pl.col("kind").fill_null("other"), pl.col("name").fill_null("(unnamed)"))
    )
    first = _first_ops(frames, ops, settings)
    calls = calls.join(first, on="call_id", how="left").sort("start_ns", "end_ns", "call_id")
    calls = _with_copies(calls, settings)
    return calls.with_columns(
        pl.col("role").fill_null(strategy="backward"),
        cause=pl.when(pl.col("waits"))
        .then(pl.lit("sync"))
        .when(pl.col("kind").is_in(["alloc", "free"]))
        .then(pl.lit("allocator"))
        .otherwise(pl.lit("launch")),
        finding=pl.when(pl.col("waits"))
        .then(pl.col("copy_finding").fill_null(_findings.SYNC))
        .when(pl.col("kind").is_in(["alloc", "free"]))
        .then(pl.lit(_findings.ALLOCATOR)),
    )


def _first_ops(
    frames: Mapping[str, pl.DataFrame], ops: pl.DataFrame, settings: Settings
) -> pl.DataFrame:
    """The first operation of each call, with its role: one row a call."""
    roles = op_roles(frames).with_columns(pl.col("role").fill_null(""))
    return (
        ops.filter(pl.col("call_id").is_not_null())
        .sort("start_ns")
        .unique("call_id", keep="first", maintain_order=True)
        .join(roles, on="op_id", how="left")
        .join(_findings.copy_findings(frames, settings), on="op_id", how="left")
        .select(
            "call_id",
            "op_id",
            "role",
            "copy_kind",
            "is_pageable",
            "copy_finding",
            op_start_ns="start_ns",
            op_end_ns="end_ns",
        )
    )


def _with_copies(calls: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Add ``waits``, and to a synchronise the copy just issued on its thread, for which it
    stands."""
    copied_ns = pl.col("op_end_ns") - pl.col("op_start_ns")
    covers = pl.col("end_ns") >= pl.col("op_start_ns") + (
        copied_ns * settings.blocking_copy_share
    ).cast(pl.Int64)
    # Copies of pinned memory never hold an Async call, however soon they end.
    may_block = pl.col("is_pageable").fill_null(False) | ~pl.col("name").str.contains("Async")
    blocks = (pl.col("kind") == "copy") & covers.fill_null(False) & may_block
    previous = (
        calls.filter(pl.col("kind").is_in(_WORK))
        .with_columns(
            before=pl.col("call_id").shift(1).over("thread_id"),
            before_kind=pl.col("kind").shift(1).over("thread_id"),
        )
        .filter((pl.col("kind") == "sync") & (pl.col("before_kind") == "copy"))
        .select("call_id", "before")
    )
    sources = calls.filter(pl.col("kind") == "copy").select(
        pl.col("call_id").alias("before"),
        pl.col("start_ns").alias("copy_call_ns"),
        pl.col("copy_kind").alias("before_copy_kind"),
        pl.col("copy_finding").alias("before_finding"),
        pl.col("op_start_ns").alias("before_start_ns"),
        pl.col("op_end_ns").alias("before_end_ns"),
    )
    calls = (
        calls.join(previous, on="call_id", how="left")
        .join(sources, on="before", how="left")
        .with_columns(
            pl.coalesce("copy_finding", "before_finding").alias("copy_finding"),
            pl.coalesce("copy_kind", "before_copy_kind").alias("copy_kind"),
            waited_ns=pl.col("end_ns") - pl.coalesce("copy_call_ns", "start_ns"),
            copied_ns=pl.coalesce(copied_ns, pl.col("before_end_ns") - pl.col("before_start_ns")),
            waits=(pl.col("kind") == "sync") | blocks,
        )
        .sort("start_ns", "end_ns", "call_id")
    )
    # Reading a result back is a synchronise with a copy in it, unless most of the time is the
    # copying.
    reads_result = (pl.col("copy_kind") == "DtoH") & (2 * pl.col("copied_ns") < pl.col("waited_ns"))
    return calls.with_columns(
        copy_finding=pl.when(~reads_result.fill_null(False)).then(pl.col("copy_finding"))
    )
