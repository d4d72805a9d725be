"""Operations of each device in the order in which they start, and intervals cut by windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

Times = npt.NDArray[np.int64]
"""Nanoseconds, or whole numbers of another kind."""


def by_device(ops: pl.DataFrame) -> Iterator[tuple[int, Mapping[str, Times]]]:
    """Each device with its operations, by start, end and op_id: an array of each column.

    ``ops`` has device_id, op_id, start_ns and end_ns, and may have more columns of whole numbers,
    none with nulls.
    """
    columns = {name: ops[name].to_numpy() for name in ops.columns}
    # whoever gave the frame may have let go of it: a million rows take tens of megabytes
    del ops
    keys = ("op_id", "end_ns", "start_ns", "device_id")
    # what is nearly in order already, as most recordings are, is sorted in next to no time
    order = np.lexsort([columns[key] for key in keys])
    for name in columns:
        columns[name] = columns[name][order]
    devices = columns.pop("device_id")
    borders = [0, *(np.flatnonzero(np.diff(devices)) + 1).tolist(), len(devices)]
    for first, behind in pairwise(borders):
        if behind > first:
            yield int(devices[first]), {n: c[first:behind] for n, c in columns.items()}


def reached(end: Times) -> Times:
    """For all operations but the first, until when the earlier ones run. Running maximum, so that
    overlapping streams count once."""
    return np.maximum.accumulate(end)[:-1]


def told_apart(start: Times, end: Times) -> tuple[Times, npt.NDArray[np.bool_]]:
    """Starts put off until no earlier interval runs, and which intervals are left with any time.
    ``start`` is in order."""
    freed = start.copy()
    freed[1:] = np.maximum(start[1:], reached(end))
    return freed, end > freed


def covered(start: Times, end: Times, opening: Times, closing: Times) -> Times:
    """For each window, the nanoseconds that intervals cover. These are in order and apart; windows
    may overlap."""
    sums = np.append(0, np.cumsum(end - start))
    opened, closed = (_covered_until(start, end, sums, border) for border in (opening, closing))
    held: Times = np.maximum(closed - opened, 0)
    return held


def _covered_until(start: Times, end: Times, sums: Times, moments: Times) -> Times:
    begun = np.searchsorted(start, moments, side="right")
    last_end = np.append(np.iinfo(np.int64).min, end)[begun]
    still: Times = np.maximum(last_end, moments) - moments
    return sums[begun] - still
