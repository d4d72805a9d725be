"""How much GPU work each process had launched when a range of the user opened or closed, and by the
end.

reads: launch_event, range_border
row:   one such moment of one process

process_id  BIGINT  the process
at_ns       BIGINT  the moment; NULL for the end of the capture
calls       BIGINT  launching calls before it, whether or not their work was recorded
gpu_ns      BIGINT  sum of the durations of the operations recorded for them
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps._sweep import Times

READS = ("launch_event", "range_border")

_COLUMNS = ("process_id", "at_ns", "calls", "gpu_ns")


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """Sums up to each moment, process by process."""
    events, borders = frames["launch_event"], frames["range_border"]
    found = [pl.DataFrame(schema=dict.fromkeys(_COLUMNS, pl.Int64))]
    processes = pl.concat([events["process_id"], borders["process_id"]]).unique()
    for process_id in processes.sort():
        mine = pl.col("process_id") == process_id
        # most recordings are of one process, and need no copy
        own = events if len(processes) == 1 else events.filter(mine)
        events_ns = own["at_ns"].to_numpy()
        order = np.argsort(events_ns, kind="stable")
        at_ns = borders.filter(mine)["at_ns"]
        before = np.searchsorted(events_ns, at_ns.to_numpy(), side="left", sorter=order)
        # and all of them, by the end
        before = np.append(before, len(own))
        at_ns = at_ns.extend_constant(None, 1)
        sums = {name: _sums_before(own[name].to_numpy()[order], before)
                for name in ("calls", "gpu_ns")}  # fmt: skip
        found.append(
            pl.DataFrame({"at_ns": at_ns, **sums})
            .with_columns(process_id=pl.lit(process_id, pl.Int64))
            .select(_COLUMNS)
        )
    return pl.concat(found)


def _sums_before(values: Times, places: Times) -> Times:
    """Sums of all values before each of these places."""
    sums: Times = np.append(0, np.cumsum(values, dtype=np.int64))
    return sums[places]
