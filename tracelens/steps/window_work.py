"""What each iteration's window on a device holds of work, in three layers that each take in the one
before: time with compute, time with compute or communication, and busy time.

Where operations of several phases compute at once, the earliest counts.

reads: worked_op, iteration_window
row:   one layer of one window, and for compute one phase of it

device_id        BIGINT   the device
iteration_index  BIGINT   the iteration
layer            VARCHAR  compute, communication (or compute: only of a device that communicates)
                          or busy
phase            VARCHAR  for compute, the phase, NULL where there is none; NULL for other layers
ns               BIGINT   time
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _sweep
from tracelens.steps._sweep import Times

READS = ("worked_op", "iteration_window")

_SCHEMA = {
    "device_id": pl.Int64,
    "iteration_index": pl.Int64,
    "layer": pl.String,
    "phase": pl.String,
    "ns": pl.Int64,
}


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """Sum up what operations and windows have in common, device by device."""
    windows = frames["iteration_window"]
    ops, phases = _with_codes(frames["worked_op"])
    found = [pl.DataFrame(schema=_SCHEMA)]
    sweep = _sweep.by_device(ops)
    del ops
    for device_id, own in sweep:
        mine = windows.filter(pl.col("device_id") == device_id)
        for layer, names, work in _layers(own, mine, phases):
            window, code = np.nonzero(work)
            found.append(
                pl.DataFrame(
                    {
                        "iteration_index": mine["iteration_index"].gather(window),
                        "phase": names.gather(code),
                        "ns": work[window, code],
                    }
                )
                .with_columns(device_id=pl.lit(device_id, pl.Int64), layer=pl.lit(layer))
                .select(*_SCHEMA)
            )
    return pl.concat(found)


def _with_codes(ops: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """The operations with phase_code instead of phase: its place in the second result."""
    phases = ops["phase"].drop_nulls().unique(maintain_order=True)
    codes = ops["phase"].cast(pl.Enum(phases)).to_physical().fill_null(len(phases))
    return ops.drop("phase").with_columns(phase_code=codes), phases.extend_constant(None, 1)


def _layers(
    ops: Mapping[str, Times], windows: pl.DataFrame, phases: pl.Series
) -> Iterator[tuple[str, pl.Series, Times]]:
    """Each layer of a device: its name, the phases that it tells apart, and the nanoseconds of
    each window (rows) in each of these (columns)."""
    borders = windows["start_ns"].to_numpy(), windows["end_ns"].to_numpy()
    computes, communicates = ops["is_compute"] == 1, ops["is_communication"] == 1

    start, end, is_left = _apart(ops, computes)
    codes = ops["phase_code"][computes][is_left]
    by_phase = np.argsort(codes, kind="stable")
    limits = np.searchsorted(codes[by_phase], np.arange(len(phases) + 1))
    work = np.empty((len(windows), len(phases)), dtype=np.int64)
    for code in range(len(phases)):
        own = by_phase[limits[code] : limits[code + 1]]
        work[:, code] = _sweep.covered(start[own], end[own], *borders)
    yield "compute", phases, work

    none = pl.Series([None], dtype=pl.String)
    if communicates.any():
        start, end, _ = _apart(ops, computes | communicates)
        yield "communication", none, _sweep.covered(start, end, *borders)[:, np.newaxis]
    start, end, _ = _apart(ops, slice(None))
    yield "busy", none, _sweep.covered(start, end, *borders)[:, np.newaxis]


def _apart(
    ops: Mapping[str, Times], counts: npt.NDArray[np.bool_] | slice
) -> tuple[Times, Times, npt.NDArray[np.bool_]]:
    """Starts and ends of the operations that count, as far as no earlier one of them runs, and
    which of them are left with any time."""
    end = ops["end_ns"][counts]
    start, is_left = _sweep.told_apart(ops["start_ns"][counts], end)
    return start[is_left], end[is_left], is_left
