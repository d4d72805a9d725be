"""The host side of one device: the CUDA calls of the threads that feed it, and what each waits
for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from tracelens.settings import Settings
from tracelens.steps import _findings

CALL_FRAMES = ("examined_op", "examined_call", "examined_iteration", "examined_span", "api_kind")
"""What this module reads."""

_WORK = ("launch", "graph_launch", "copy", "memset", "sync", "alloc", "free")
_HOLDING = ("copy", "sync", "alloc", "free")


def spans(frames: Mapping[str, pl.DataFrame]) -> Iterator[tuple[int, dict[str, pl.DataFrame]]]:
    """Each stretch of a device's time that is looked at: the device, and the frames with its
    operations, gaps, calls and pauses only. What lies in another stretch says nothing of it."""
    for span in frames["examined_span"].sort("device_id", "start_ns").iter_rows(named=True):
        mine = pl.col("device_id") == span["device_id"]
        on_device = mine & pl.col("start_ns").is_between(span["start_ns"], span["end_ns"])
        on_host = pl.col("start_ns").is_between(span["host_start_ns"], span["host_end_ns"])
        kept = {
            "examined_op": on_device,
            "examined_gap": on_device,
            "examined_call": on_host & (pl.col("process_id") == span["process_id"]),
            "host_pause": mine & on_host,
        }
        here = {name: frames[name].filter(kept[name]) for name in kept if name in frames}
        yield span["device_id"], {**frames, **here}


def feeding_threads(ops: pl.DataFrame) -> pl.Series:
    """The threads that launch kernels on a device (all that launch anything, where none does).

    Threads that only copy (prefetchers) or only poll (NCCL's watchdog) run beside these and hold
    nothing up. ``ops`` are rows of examined_op.
    """
    linked = ops.select("thread_id", "kind").filter(pl.col("thread_id").is_not_null())
    kernels = linked.filter(pl.col("kind").is_in(["kernel", "graph"]))
    return (linked if kernels.is_empty() else kernels)["thread_id"].unique()


def op_roles(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The role of every operation, NULL where it is unknown: columns op_id, role."""
    return frames["examined_op"].select(
        "op_id", role=pl.when(pl.col("is_known_role")).then(pl.col("phase"))
    )


def device_calls(frames: Mapping[str, pl.DataFrame], ops: pl.DataFrame) -> pl.DataFrame:
    """The calls of the threads that feed a device, by start: one row a call.

    Columns of examined_call, and free_ns: when the calls before had all returned. ``ops`` are the
    device's rows of examined_op.
    """
    threads = feeding_threads(ops).implode()
    return (
        frames["examined_call"]
        .select("call_id", "process_id", "thread_id", "name_id", "start_ns", "end_ns")
        .filter(pl.col("thread_id").is_in(threads))
        .sort("start_ns", maintain_order=True)
        .with_columns(free_ns=pl.col("end_ns").cum_max().shift(1).fill_null(pl.col("start_ns")))
    )


def holding_calls(
    frames: Mapping[str, pl.DataFrame],
    calls: pl.DataFrame,
    ops: pl.DataFrame,
    settings: Settings,
) -> pl.DataFrame:
    """Calls that hold the host: those that wait for the device, and those that allocate or free.

    ``calls`` and ``ops`` are one device's. One row a call, with its columns, name, cause (sync or
    allocator) and finding.
    """
    kinds = frames["api_kind"].select("name_id", "name", "kind").unique("name_id")
    held = calls.join(kinds.filter(pl.col("kind").is_in(_HOLDING)), on="name_id")
    found = _findings.copy_findings(ops, frames["examined_iteration"], settings)
    copies = (
        ops.filter((pl.col("kind") == "memcpy") & pl.col("call_id").is_not_null())
        .sort("start_ns")
        .unique("call_id", keep="first", maintain_order=True)
        .join(found, on="op_id", how="left")
        .select("call_id", "copy_kind", "is_pageable", "copy_finding", copy_start_ns="start_ns",
        copy_end_ns="end_ns")
    )  # fmt: skip
    held = held.join(copies, on="call_id", how="left").with_columns(waited_since_ns="start_ns")
    work = calls.join(kinds.filter(pl.col("kind").is_in(_WORK)).select("name_id"), on="name_id")
    held = _with_copy_before(held, work)
    # Reading a result back is a synchronise with a copy in it, unless most of it is the copying.
    waited_ns = pl.col("end_ns") - pl.col("waited_since_ns")
    copied_ns = pl.col("copy_end_ns") - pl.col("copy_start_ns")
    reads_result = (pl.col("copy_kind") == "DtoH") & (2 * copied_ns < waited_ns)
    waits = (pl.col("kind") == "sync") | _blocks(settings)
    frees = pl.col("kind").is_in(["alloc", "free"])
    return held.with_columns(
        cause=pl.when(waits).then(pl.lit("sync")).when(frees).then(pl.lit("allocator")),
        finding=pl.when(frees)
        .then(pl.lit(_findings.ALLOCATOR))
        .when(reads_result.fill_null(False))
        .then(pl.lit(_findings.SYNC))
        .otherwise(pl.col("copy_finding").fill_null(_findings.SYNC)),
    ).filter(pl.col("cause").is_not_null())


def _blocks(settings: Settings) -> pl.Expr:
    """Whether a copy call waits for its copy. Pinned memory never holds an Async call, however
    soon its copy ends."""
    copied_ns = pl.col("copy_end_ns") - pl.col("copy_start_ns")
    mostly_ns = (copied_ns * settings.blocking_copy_share).cast(pl.Int64)
    covers = pl.col("end_ns") >= pl.col("copy_start_ns") + mostly_ns
    may_block = pl.col("is_pageable").fill_null(False) | ~pl.col("name").str.contains("Async")
    return (pl.col("kind") == "copy") & covers.fill_null(False) & may_block


def _with_copy_before(held: pl.DataFrame, work: pl.DataFrame) -> pl.DataFrame:
    """Give each synchronise right behind a copy on its thread that copy, for which it stands."""
    copied = ("copy_kind", "copy_finding", "copy_start_ns", "copy_end_ns")
    sources = held.filter(pl.col("kind") == "copy").select(
        pl.col("call_id").alias("before"),
        pl.col("start_ns").alias("before_ns"),
        *(pl.col(c).alias(f"before_{c}") for c in copied),
    )
    syncs = held.filter(pl.col("kind") == "sync").join_asof(
        work.select("thread_id", before="call_id", at_ns="start_ns"),
        left_on="start_ns",
        right_on="at_ns",
        by="thread_id",
        allow_exact_matches=False,
        check_sortedness=False,
    )
    before = syncs.select("call_id", "before").join(sources, on="before").drop("before")
    return held.join(before, on="call_id", how="left", maintain_order="left").with_columns(
        pl.coalesce("before_ns", "waited_since_ns").alias("waited_since_ns"),
        *(pl.coalesce(c, f"before_{c}").alias(c) for c in copied),
    )
