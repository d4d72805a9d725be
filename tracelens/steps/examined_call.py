"""CUDA calls made while the work of the stretches was launched whose idle time is looked at.

reads: api_call, examined_span
row:   one call

call_id         BIGINT  the call
process_id      BIGINT  the calling process
thread_id       BIGINT  the calling thread
name_id         BIGINT  its name, in api_name
start_ns        BIGINT  start on the trace clock
end_ns          BIGINT  return on the trace clock
correlation_id  BIGINT  joins it to the operations that it launched, together with process_id
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _sweep

READS = ("api_call", "examined_span")


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """The calls that start in a stretch of their process, on whichever device."""
    calls = frames["api_call"]
    found = [calls.clear()]
    for (process_id,), spans in frames["examined_span"].group_by("process_id"):
        # the devices of a process have their stretches at about the same time
        spans = spans.sort("host_start_ns").with_columns(pl.col("host_end_ns").cum_max())
        own = calls.filter(pl.col("process_id") == process_id)
        place = _sweep.holding(own["start_ns"], spans["host_start_ns"], spans["host_end_ns"])
        found.append(own.filter(place.is_not_null()))
    return pl.concat(found)
