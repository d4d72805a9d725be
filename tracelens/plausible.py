"""Values that no recording can hold become NULL before anything is computed with them.

A damaged file may say anything, and one absurd time or size would overflow every sum that it is in.
What becomes NULL is then lost as a missing value is: staging knows what to do with those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_EPOCH = 1 << 61
"""Nanoseconds: the year 2043, for clocks that count from 1970."""
LONGEST_NS = 1 << 53
"""Over a hundred days: no operation, call or range that ended took so long."""
_DIMENSION = 1 << 31
_ROW = 1 << 39
LIMITS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("start", "end", "utcEpochNs", "utc_start"), (-_EPOCH, _EPOCH)),
    "duration": (0, _EPOCH),
    "bytes": (-(1 << 50), 1 << 50),
    **dict.fromkeys(("gridX", "grid", "block"), (0, _DIMENSION)),
    # CUDA's own limits on the other dimensions are these or lower
    **dict.fromkeys(("gridY", "gridZ", "blockX", "blockY", "blockZ"), (0, 1 << 16)),
    **dict.fromkeys(("id", "nameId", "textId", "demangledName", "shortName"), (0, _ROW)),
    **dict.fromkeys(("smCount", "sm_count", "rank", "pid", "cudaId"), (0, _DIMENSION)),
    "name_id": (-1, _ROW),
}
"""The least and the greatest value that a column may hold, where a greater one would do harm."""


def plausible(table: pa.Table) -> pa.Table:
    """The table with NULL for every number outside its column's limits, and for infinities."""
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if name in LIMITS and pa.types.is_integer(column.type):
            limits = LIMITS[name]
        elif pa.types.is_floating(column.type):
            limits = (-(1 << 63), 1 << 63)
        else:
            continue
        table = _replaced(table, place, _within(column, *limits))
    return _without_endless(table)


def _without_endless(table: pa.Table) -> pa.Table:
    """Rows that end unbelievably late have no end."""
    from pyarrow._compute import call_function

    if not {"start", "end"} <= set(table.column_names):
        return table
    length = call_function("subtract", [table.column("end"), table.column("start")])
    longest = call_function("max", [length]).as_py()
    if longest is None or longest <= LONGEST_NS:
        return table
    import pyarrow.compute as pc

    place = table.column_names.index("end")
    is_short = pc.less_equal(length, LONGEST_NS)
    return _replaced(table, place, pc.if_else(is_short, table.column(place), None))


def _within(column: pa.ChunkedArray, least: float, greatest: float) -> pa.ChunkedArray:
    # all that most columns need; pyarrow.compute makes a function of everything at its import
    from pyarrow._compute import call_function

    found = call_function("min_max", [column]).as_py()
    low, high = found["min"], found["max"]
    if low is None or (least <= low and high <= greatest):
        return column
    import pyarrow.compute as pc

    kept = pc.and_(pc.greater_equal(column, least), pc.less_equal(column, greatest))
    return pc.if_else(kept, column, None)


def _replaced(table: pa.Table, place: int, column: pa.ChunkedArray) -> pa.Table:
    if column is table.column(place):
        return table
    return table.set_column(place, table.schema.field(place), column)
