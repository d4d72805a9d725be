"""Lanes of collectives, and how those of two ranks fit on each other.

A lane holds the collectives of one kind on one device in order: those of one communicator where
the trace names it, else those of one stream. A collective ends at about the same moment on all its
ranks, however late any of them came, so two lanes of one communicator fit where the differences of
their ends are all the same: that difference is the offset of the clocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

_PROBES = 16
_TICK_NS = 1_000
_SEARCHED = 256
_FARTHEST_SHIFT = 512


@dataclass(frozen=True)
class Lane:
    """The collectives of one kind on one communicator or stream of one device, in order.

    ``ops`` has op_id, position, start_ns, end_ns; the position is the recorded number within the
    communicator where ``is_numbered``, else the place in the lane.
    """

    source_id: int
    device_id: int
    collective: str
    communicator: str | None
    ops: pl.DataFrame
    is_numbered: bool


@dataclass(frozen=True)
class Fit:
    """How a lane fits on another.

    The one at position p of the other stands at ``p + shift`` of this. ``offset_ns`` brings its
    times onto the other's clock, ``spread_ns`` is the median distance of the ends from that, over
    so many ``pairs``.
    """

    shift: int
    offset_ns: int
    spread_ns: int
    pairs: int


def lanes(communication_op: pl.DataFrame) -> list[Lane]:
    """Every lane of the run, by device."""
    keyed = communication_op.with_columns(
        # one stream a communicator is what frameworks do; only where none is named must it stand in
        pl.when(pl.col("communicator").is_null()).then("stream_id").alias("lane_stream")
    ).sort("device_id", "start_ns", "end_ns", "op_id")
    keys = ["source_id", "device_id", "collective", "communicator", "lane_stream"]
    return [
        _lane(group) for group in keyed.partition_by(keys, maintain_order=True) if group.height > 0
    ]


def _lane(group: pl.DataFrame) -> Lane:
    numbers = group["sequence_number"]
    is_numbered = numbers.null_count() == 0 and numbers.n_unique() == group.height
    place = pl.int_range(pl.len(), dtype=pl.Int64)
    ops = group.select(
        "op_id",
        (pl.col("sequence_number") if is_numbered else place).alias("position"),
        "start_ns",
        "end_ns",
    ).sort("position")
    first = group.row(0, named=True)
    own = {k: first[k] for k in ("source_id", "device_id", "collective", "communicator")}
    return Lane(**own, ops=ops, is_numbered=is_numbered)


def pairs(base: Lane, other: Lane, shift: int, limit: int | None = None) -> pl.DataFrame:
    """The collectives that two lanes share: op_id, start_ns, end_ns, and the same ``_other``."""
    moved = other.ops.with_columns(pl.col("position") - shift)
    both = base.ops.join(moved, on="position", how="inner", suffix="_other").sort("position")
    return both if limit is None else both.slice(max(both.height - limit, 0) // 2, limit)


def fit(base: Lane, other: Lane, hint_ns: int | None) -> Fit | None:
    """The best fit of two lanes on unknown clocks, None where they share too few collectives.

    Missing heads and tails shift one lane against the other. Of shifts that fit equally well (a
    very regular run), the one whose offset is nearest to ``hint_ns``, else the least.
    """
    fewest = max(3, min(base.ops.height, other.ops.height) // 2)
    tried = [
        f
        for shift in _shifts(base, other, fewest)
        if (f := _measure(base, other, shift, None, fewest, _SEARCHED)) is not None
    ]
    if not tried:
        return None
    enough = _close_enough(tried)
    best = min(
        (f for f in tried if f.spread_ns <= enough),
        key=lambda f: abs(f.shift) if hint_ns is None else abs(f.offset_ns - hint_ns),
    )
    return _measure(base, other, best.shift, None, fewest)


def fit_known(base: Lane, other: Lane, offset_ns: int) -> Fit | None:
    """The best fit of two lanes whose clocks differ by a known offset."""
    tried = [
        f
        for shift in _shifts_near(base, other, offset_ns)
        if (f := _measure(base, other, shift, offset_ns, 1)) is not None
    ]
    return surest(tried) if tried else None


def surest(fits: Sequence[Fit]) -> Fit:
    """Of the closest fits the one with the most collectives: a few are close by chance."""
    enough = _close_enough(fits)
    return max((f for f in fits if f.spread_ns <= enough), key=lambda f: (f.pairs, -f.spread_ns))


def _close_enough(fits: Sequence[Fit]) -> float:
    """A spread that is as good as the least: medians of few differ by half, and GPUs time their
    work to about a microsecond. A regular run shifted by an iteration comes close, and no more."""
    return 1.5 * min(f.spread_ns for f in fits) + _TICK_NS


def _shifts(base: Lane, other: Lane, fewest: int) -> Iterable[int]:
    if base.is_numbered and other.is_numbered:
        return (0,)
    low = max(fewest - base.ops.height, -_FARTHEST_SHIFT)
    high = min(other.ops.height - fewest, _FARTHEST_SHIFT)
    return range(low, high + 1)


def _shifts_near(base: Lane, other: Lane, offset_ns: int) -> Iterator[int]:
    """Shifts at which some collective of one lane ends next to one of the other."""
    if base.is_numbered and other.is_numbered:
        yield 0
        return
    step = max(other.ops.height // _PROBES, 1)
    probes = other.ops.gather_every(step)
    ends = base.ops["end_ns"].sort()
    found = ends.search_sorted(probes["end_ns"] + offset_ns)
    near = {
        position - place + aside
        for position, place in zip(probes["position"].to_list(), found.to_list(), strict=True)
        for aside in (0, 1)
    }
    yield from sorted(near)


def _measure(
    base: Lane,
    other: Lane,
    shift: int,
    offset_ns: int | None,
    fewest: int,
    limit: int | None = None,
) -> Fit | None:
    if base.is_numbered or other.is_numbered:
        both = pairs(base, other, shift, limit)
        ends, others = both["end_ns"], both["end_ns_other"]
    else:
        ends, others = _slices(base.ops["end_ns"], other.ops["end_ns"], shift, limit)
    if len(ends) < fewest:
        return None
    apart = ends - others
    offset = round(apart.median()) if offset_ns is None else offset_ns  # type: ignore[arg-type]
    spread = round((apart - offset).abs().median())  # type: ignore[arg-type]
    return Fit(shift, offset, spread, len(ends))


def _slices(
    base: pl.Series, other: pl.Series, shift: int, limit: int | None
) -> tuple[pl.Series, pl.Series]:
    """The parts of two lanes that stand beside each other, or the middle of them."""
    start = max(-shift, 0)
    length = max(min(len(base) - start, len(other) - (start + shift)), 0)
    if limit is not None and length > limit:
        start, length = start + (length - limit) // 2, limit
    return base.slice(start, length), other.slice(start + shift, length)
