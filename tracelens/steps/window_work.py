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
    for device_id, own in _sweep.by_device(ops):
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
    phases = ops["phase"].unique(maintain_order=True)
    codes = pl.DataFrame({"phase": phases, "phase_code": pl.int_range(len(phases), eager=True)})
    return ops.join(codes, on="phase", how="left", nulls_equal=True).drop("phase"), phases


def _layers(
    ops: Mapping[str, Times], windows: pl.DataFrame, phases: pl.Series
) -> Iterator[tuple[str, pl.Series, Times]]:
    """Each layer of a device: its name, the phases that it tells apart, and the nanoseconds of
    each window (rows) in each of these (columns)."""
    none = pl.Series([None], dtype=pl.String)
    computes, communicates = ops["is_compute"] == 1, ops["is_communication"] == 1
    yield "compute", phases, _work(ops, computes, windows, ops["phase_code"], len(phases))
    if communicates.any():
        yield "communication", none, _work(ops, computes | communicates, windows)
    yield "busy", none, _work(ops, np.ones(len(computes), dtype=bool), windows)


def _work(
    ops: Mapping[str, Times],
    counts: npt.NDArray[np.bool_],
    windows: pl.DataFrame,
    codes: Times | None = None,
    kinds: int = 1,
) -> Times:
    start, end = ops["start_ns"][counts], ops["end_ns"][counts]
    start, is_left = _sweep.told_apart(start, end)
    opening, closing = windows["start_ns"].to_numpy(), windows["end_ns"].to_numpy()
    place, window, ns = _sweep.cut(start[is_left], end[is_left], opening, closing)
    cell = window if codes is None else window * kinds + codes[counts][is_left][place]
    # sums of whole numbers below 2^53 are exact in floating point
    summed = np.bincount(cell, weights=ns, minlength=len(windows) * kinds)
    return summed.astype(np.int64).reshape(len(windows), kinds)
