"""Stretches in which nothing ran on a device that was busy before and after.

reads: op_time
row:   one gap

gap_id      BIGINT  the gap, named by the operation that ends it
device_id   BIGINT  the device
start_ns    BIGINT  when the last operation before it ended
end_ns      BIGINT  when the next one started
gap_ns      BIGINT  its length
next_op_id  BIGINT  the operation that ends it
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _sweep

READS = ("op_time",)

_COLUMNS = ("gap_id", "device_id", "start_ns", "end_ns", "gap_ns", "next_op_id")


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """The gaps of each device, in order."""
    found = [pl.DataFrame(schema=dict.fromkeys(_COLUMNS, pl.Int64))]
    for device_id, ops in _sweep.by_device(frames["op_time"]):
        until, start, number = _sweep.reached(ops["end_ns"]), ops["start_ns"][1:], ops["op_id"][1:]
        idle = start > until
        found.append(
            pl.DataFrame({"gap_id": number[idle], "start_ns": until[idle], "end_ns": start[idle]})
            .with_columns(
                device_id=pl.lit(device_id, pl.Int64),
                gap_ns=pl.col("end_ns") - pl.col("start_ns"),
                next_op_id="gap_id",
            )
            .select(_COLUMNS)
        )
    return pl.concat(found)
