"""How well the replay reproduces each device's iterations with nothing taken away.

reads: launched_op, api_call, api_kind, host_pause, iteration_window, op_phase, op_class,
       stream_wait, clock_skew
row:   one device

device_id           BIGINT  the device
measured_period_ns  BIGINT  median period of the iterations replayed
replayed_period_ns  BIGINT  median period of the replay, on the recording's median latencies
error_share         DOUBLE  how far the replay is off, for the median or the total, the larger
first_iteration     BIGINT  the first iteration replayed
last_iteration      BIGINT  the last
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _timeline
from tracelens.steps._timeline import Timeline

READS = _timeline.READS

SCHEMA = {
    "device_id": pl.Int64,
    "measured_period_ns": pl.Int64,
    "replayed_period_ns": pl.Int64,
    "error_share": pl.Float64,
    "first_iteration": pl.Int64,
    "last_iteration": pl.Int64,
}


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """The self-test of every device that can be replayed."""
    frames = {name: frames[name] for name in READS}
    rows = [check(t) for t in _timeline.timelines(frames, settings)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def check(timeline: Timeline) -> tuple[int, int, int, float, int, int]:
    """The self-test of one device, as a row."""
    measured, replayed = timeline.period_ns, timeline.periods(timeline.steps)
    error = max(_error(median(measured), median(replayed)), _error(sum(measured), sum(replayed)))
    return (
        timeline.device_id,
        int(median(measured)),
        int(median(replayed)),
        error,
        timeline.iterations[0],
        timeline.iterations[-1],
    )


def _error(measured: float, replayed: float) -> float:
    return abs(replayed - measured) / max(measured, 1)
