"""Which finding a stretch of host time, an idle piece or a copy belongs to: each millisecond to
one, decided here only.

| what held the host                                             | finding                  |
|----------------------------------------------------------------|--------------------------|
| a call that waits for a small copy sent again and again        | repeated-small-copies    |
| a call that waits for a copy that takes real time              | transfer-bound           |
| any other synchronising call                                   | host-sync                |
| cudaMalloc, cudaFree and their kin                             | allocator-churn          |
| silence between iterations or in a data phase                  | input-starved            |
| silence elsewhere (unless it counts as dispatch)             | host-stall               |
| the profiler itself                                            | profiler                 |
| dispatch of a small copy that is sent again and again          | repeated-small-copies    |
| dispatch, in an optimizer phase of very many tiny kernels      | optimizer-small-kernels  |
| dispatch elsewhere, short silences of a run that it dominates  | launch-bound             |

Idle behind one of these, while the queue that it let run dry fills again, goes with it (see
idle_cause).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from tracelens.settings import Settings

INPUT: Final = "input-starved"
HOST: Final = "host-stall"
SYNC: Final = "host-sync"
TRANSFER: Final = "transfer-bound"
SMALL_COPIES: Final = "repeated-small-copies"
ALLOCATOR: Final = "allocator-churn"
PROFILER: Final = "profiler"
LAUNCH: Final = "launch-bound"
OPTIMIZER: Final = "optimizer-small-kernels"
COMMUNICATION: Final = "exposed-communication"

SCENARIOS: Final = (
    INPUT,
    SYNC,
    ALLOCATOR,
    LAUNCH,
    OPTIMIZER,
    TRANSFER,
    SMALL_COPIES,
    HOST,
    COMMUNICATION,
    PROFILER,
)


def copy_findings(
    ops: pl.DataFrame, examined_iteration: pl.DataFrame, settings: Settings
) -> pl.DataFrame:
    """The finding of each copy between host and device among ``ops`` (rows of examined_op, all of
    each device): one row a copy (op_id, copy_finding).

    A copy larger than what the driver stages takes real time. A smaller one takes next to none;
    what it can cost is the waiting for it. Where many of one size go to the device in an iteration,
    that is told as a constant sent again, with the other small ones on that device, as the cure is
    the same. Else it is NULL: the wait is a synchronise like any other.
    """
    iterations = examined_iteration.group_by("device_id").agg(pl.len().alias("iterations"))
    is_small = pl.col("bytes").fill_null(0) <= settings.staged_copy_bytes
    to_device = pl.col("copy_kind") == "HtoD"
    copies = (
        ops.filter((pl.col("kind") == "memcpy") & pl.col("copy_kind").is_in(["HtoD", "DtoH"]))
        .join(iterations, on="device_id", how="left")
        .with_columns(is_small=is_small, is_constant=is_small & to_device)
        .with_columns(
            an_iteration=pl.len().over("device_id", "copy_kind", "bytes") / pl.col("iterations")
        )
    )
    repeats = pl.col("is_constant") & (pl.col("an_iteration") >= settings.repeated_copies)
    return copies.select(
        "op_id",
        copy_finding=pl.when(~pl.col("is_small"))
        .then(pl.lit(TRANSFER))
        .when(pl.col("is_constant") & repeats.any().over("device_id"))
        .then(pl.lit(SMALL_COPIES)),
    )


def priced_ops(frames: Mapping[str, pl.DataFrame], settings: Settings) -> pl.DataFrame:
    """Operations with the finding that their own time belongs to where nothing hides it.

    Columns device_id, op_id, start_ns, end_ns, finding (NULL for compute, for copies within a
    device, and for the small ones that only matter for the waiting).
    """
    classes = frames["op_class"].select("name_id", "op_class").unique("name_id")
    copies = copy_findings(frames["examined_op"], frames["examined_iteration"], settings)
    return (
        frames["examined_op"]
        .join(classes, on="name_id", how="left")
        .join(copies, on="op_id", how="left")
        .select(
            "device_id",
            "op_id",
            "start_ns",
            "end_ns",
            finding=pl.when(pl.col("op_class") == "communication")
            .then(pl.lit(COMMUNICATION))
            .otherwise("copy_finding"),
        )
    )


def small_kernel_optimizers(frames: Mapping[str, pl.DataFrame], settings: Settings) -> pl.DataFrame:
    """Devices whose optimizer phase is made of very many tiny kernels: one row a device
    (device_id)."""
    is_kernel = (
        pl.col("is_known_role")
        & (pl.col("phase") == "optimizer")
        & pl.col("iteration_index").is_not_null()
        & (pl.col("kind") == "kernel")
    )
    return (
        frames["examined_op"]
        .select(
            pl.col("device_id", "iteration_index").filter(is_kernel),
            ns=(pl.col("end_ns") - pl.col("start_ns")).filter(is_kernel),
        )
        .group_by("device_id")
        .agg(
            an_iteration=pl.len() / pl.col("iteration_index").n_unique(),
            mean_ns=pl.col("ns").mean(),
        )
        .filter(
            (pl.col("an_iteration") >= settings.small_kernels)
            & (pl.col("mean_ns") <= settings.small_kernel_ns)
        )
        .select("device_id")
    )


def of_idle(idle: pl.DataFrame, tiny_optimizer: bool, settings: Settings) -> pl.Expr:
    """The finding of each idle row of one device, from its cause, role, pause_ns, the finding of
    its pause, and whether it ends with a small copy sent again (``to_small_copy``).

    Where dispatch leaves the device idle for most of the time, the short silences between its
    phases (autograd and the optimizer collecting their tensors) are the same slow host at work, and
    are told as one with it.
    """
    within = idle.filter(pl.col("iteration_index").is_not_null())
    dispatch_ns, silent_ns = (
        int(within.filter(pl.col("cause") == cause)["idle_ns"].sum())
        for cause in ("launch", "host")
    )
    is_dispatch = pl.col("cause") == "launch"
    if dispatch_ns > settings.dispatch_dominates * silent_ns:
        is_dispatch |= (pl.col("cause") == "host") & (pl.col("pause_ns") < settings.host_stall_ns)
    return (
        pl.when(is_dispatch & pl.col("to_small_copy"))
        .then(pl.lit(SMALL_COPIES))
        .when(is_dispatch)
        .then(dispatch_finding(tiny_optimizer))
        .when(pl.col("cause") == "profiler")
        .then(pl.lit(PROFILER))
        .when(~pl.col("cause").is_in(["dependency", "unknown"]))
        .then(pl.col("finding"))
    )


def dispatch_finding(tiny_optimizer: bool) -> pl.Expr:
    """The finding of dispatch, from the column ``role`` of the operation that it leads to."""
    if not tiny_optimizer:
        return pl.lit(LAUNCH)
    return pl.when(pl.col("role") == "optimizer").then(pl.lit(OPTIMIZER)).otherwise(pl.lit(LAUNCH))
