"""Operations in the stretches whose idle time is looked at, with the one that ends the last gap.

reads: op_time, examined_stretch
row:   one operation

op_id             BIGINT  the operation
device_id         BIGINT  its device
stretch_start_ns  BIGINT  start of the stretch, which names it together with the device
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _sweep

READS = ("op_time", "examined_stretch")


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """Find each operation's stretch, device by device: stretches do not overlap."""
    ops = frames["op_time"].select("op_id", "device_id", "start_ns")
    stretches = frames["examined_stretch"].sort("start_ns")
    found = [ops.select("op_id", "device_id", stretch_start_ns="start_ns").clear()]
    for (device_id,), mine in stretches.group_by("device_id"):
        own = ops.filter(pl.col("device_id") == device_id)
        place = _sweep.holding(own["start_ns"], mine["start_ns"], mine["end_ns"])
        found.append(
            own.select("op_id", "device_id", stretch_start_ns=mine["start_ns"].gather(place))
            .filter(place.is_not_null())
        )  # fmt: skip
    return pl.concat(found)
