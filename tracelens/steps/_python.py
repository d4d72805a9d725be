"""The Python code that a thread was in, from recorded stacks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

_CODE = r"\(\d+\): "
"""What has a line is Python code; built-in functions and modules' names have none."""
_FOLDERS = r"^.*[/\\]([^/\\]*\(\d+\): )"
_FIRST_LOOK = 64


def code_frames(frames: pl.DataFrame) -> pl.DataFrame:
    """Rows of python_frame that are Python code, by start, outer ones first."""
    return frames.filter(pl.col("name").str.contains(_CODE)).sort(
        "start_ns", "end_ns", descending=[False, True]
    )


def with_frames(pauses: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """Add python_frame: ``file.py(line): function`` of the innermost frame that is open on the
    thread in the middle of each pause, NULL where none is. ``frames`` are :func:`code_frames`."""
    rows = np.full(len(pauses), -1)
    threads = pauses["thread_id"].unique().to_list() if len(frames) else []
    frames = frames.with_row_index("row")
    middles = ((pauses["start_ns"] + pauses["end_ns"]) // 2).to_numpy()
    for thread in threads:
        own = frames.filter(pl.col("thread_id") == thread)
        start, end = own["start_ns"].to_numpy(), own["end_ns"].to_numpy()
        numbers = np.append(own["row"].to_numpy().astype(np.int64), -1)
        for i in np.flatnonzero((pauses["thread_id"] == thread).fill_null(False).to_numpy()):
            rows[i] = numbers[_innermost(start, end, middles[i])]
    names = frames["name"].gather(pl.Series(rows, dtype=pl.Int64).replace(-1, None))
    shown = names.str.replace(_FOLDERS, "$1").alias("python_frame")
    return pauses.with_columns(shown)


def _innermost(start: npt.NDArray[np.int64], end: npt.NDArray[np.int64], at_ns: int) -> int:
    """The last of the spans, sorted by start, that holds a moment; -1 where none does."""
    behind = int(np.searchsorted(start, at_ns, side="right"))
    # those opened last are the likeliest: each look back is twice as far
    look = _FIRST_LOOK
    while behind > 0:
        first = max(0, behind - look)
        is_open = np.flatnonzero(end[first:behind] > at_ns)
        if len(is_open):
            return first + int(is_open[-1])
        behind, look = first, 2 * look
    return -1
