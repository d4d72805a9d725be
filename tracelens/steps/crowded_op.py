"""Operations that share time with another one of their device.

reads: op_time
row:   one operation

op_id  BIGINT  the operation
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _sweep

READS = ("op_time",)


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """Those that start while an earlier one runs, and those that run when the next one starts."""
    found = [pl.DataFrame(schema={"op_id": pl.Int64})]
    for _, ops in _sweep.by_device(frames["op_time"]):
        next_ns = ops["start_ns"][1:]
        is_crowded = np.zeros(len(ops["op_id"]), dtype=bool)
        is_crowded[1:] = next_ns < _sweep.reached(ops["end_ns"])
        is_crowded[:-1] |= next_ns < ops["end_ns"][:-1]
        found.append(pl.DataFrame({"op_id": ops["op_id"][is_crowded]}))
    return pl.concat(found)
