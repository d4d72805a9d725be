"""Lanes of collectives, and how those of two ranks fit on each other.

A lane holds the collectives of one kind on one device in order: those of one communicator where
the trace names it, else those of one stream. A collective ends at about the same moment on all its
ranks, however late any of them came, so two lanes of one communicator fit where the differences of
their ends are all the same: that difference is the offset of the clocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

_PROBES = 16
_TICK_NS = 1_000
_PIECE = 24
_PIECES = 12
_PIECEWISE_FROM = 5
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
    parts = keyed.partition_by(keys, maintain_order=True)
    unnumbered = {_kind(part) for part in parts if not _is_numbered(part)}
    return [_lane(part, _kind(part) not in unnumbered) for part in parts]


def _kind(part: pl.DataFrame) -> tuple[str | None, str]:
    return part["communicator"][0], part["collective"][0]


def _is_numbered(part: pl.DataFrame) -> bool:
    """Whether every one has a number of its own."""
    numbers = part["sequence_number"]
    return numbers.null_count() == 0 and numbers.n_unique() == part.height


def _lane(group: pl.DataFrame, is_numbered: bool) -> Lane:
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


def fit(base: Lane, other: Lane, hint_ns: int | None, slack_ns: int) -> Fit | None:
    """The best fit of two lanes on unknown clocks, None where they share too few collectives.

    Missing heads and tails shift one lane against the other. Of shifts that fit equally well (a
    very regular run), the one whose offset is nearest to ``hint_ns``, else the least. Where records
    were lost in between no shift fits the whole: then pieces are tried, and the offset that brings
    most ends together counts.
    """
    fewest = max(3, min(base.ops.height, other.ops.height) // 2)
    whole = _best_shift(base, other, hint_ns, fewest)
    if whole is not None and whole.spread_ns <= slack_ns // _PIECEWISE_FROM:
        return _measure(base, other, whole.shift, None, fewest)
    if base.is_numbered and other.is_numbered:
        return whole
    tried = [whole] if whole is not None else []
    for start in range(0, other.ops.height, max(other.ops.height // _PIECES, 1)):
        piece = replace(other, ops=other.ops.slice(start, _PIECE))
        found = _best_shift(base, piece, hint_ns, _PIECE)
        tried += [found] if found is not None else []
    brought = [f for t in tried if (f := _brought_together(base, other, t, slack_ns)) is not None]
    best = max(brought, key=lambda f: (f.pairs, -f.spread_ns), default=None)
    return best if best is not None and best.pairs >= fewest else None


def _best_shift(base: Lane, other: Lane, hint_ns: int | None, fewest: int) -> Fit | None:
    if base.is_numbered and other.is_numbered:
        return _measure(base, other, 0, None, fewest)
    tried = _every_shift(base.ops["end_ns"], other.ops["end_ns"], fewest)
    if not tried:
        return None
    enough = _close_enough(tried)
    return min(
        (f for f in tried if f.spread_ns <= enough),
        key=lambda f: abs(f.shift) if hint_ns is None else abs(f.offset_ns - hint_ns),
    )


def _every_shift(base: pl.Series, other: pl.Series, fewest: int) -> list[Fit]:
    """A fit for each shift that leaves so many pairs, told by a sample of them."""
    low = max(fewest - len(base), -_FARTHEST_SHIFT)
    high = min(len(other) - fewest, _FARTHEST_SHIFT)
    shifts = pl.DataFrame({"shift": pl.int_range(low, high + 1, eager=True)})
    # a sample of the shorter lane, so that the part that both have holds enough of it
    is_base = len(base) <= len(other)
    step = max(min(len(base), len(other)) // _SEARCHED, 1)
    places = pl.int_range(0, min(len(base), len(other)), step, eager=True).alias("place")
    row, shift = pl.col("place"), pl.col("shift")
    of_base, of_other = (row, row + shift) if is_base else (row - shift, row)
    sampled = places.to_frame().join(shifts, how="cross")
    beside = sampled.select("shift", of_base.alias("base"), of_other.alias("other")).filter(
        pl.col("base").is_between(0, len(base) - 1), pl.col("other").is_between(0, len(other) - 1)
    )
    apart = base.gather(beside["base"]) - other.gather(beside["other"])
    offset = pl.col("apart").median()
    fits = (
        beside.select("shift", apart.alias("apart"))
        .group_by("shift")
        .agg(offset=offset, spread=(pl.col("apart") - offset).abs().median(), pairs=pl.len())
        .filter(pl.col("pairs") >= min(fewest, len(places)) // 2)
    )
    columns = fits.sort("shift").select("shift", "offset", "spread", "pairs").iter_rows()
    return [Fit(s, round(o), round(d), n) for s, o, d, n in columns]


def _brought_together(base: Lane, other: Lane, found: Fit, slack_ns: int) -> Fit | None:
    """A fit told anew by all ends that it brings together, whatever their places are."""
    near = nearest(base, other, found.offset_ns, slack_ns)
    if near.is_empty():
        return None
    offset = found.offset_ns + round(near["apart_ns"].median())  # type: ignore[arg-type]
    spread = round((near["apart_ns"] + found.offset_ns - offset).abs().median())  # type: ignore[arg-type]
    return Fit(found.shift, offset, spread, near.height)


def nearest(base: Lane, other: Lane, offset_ns: int, slack_ns: int) -> pl.DataFrame:
    """For each collective of the other lane the one of the base that ends at the same time: op_id,
    position (in the base), apart_ns. Those that have none are left out."""
    ends = base.ops.select("position", end_base="end_ns").sort("end_base")
    moved = other.ops.select("op_id", end_moved=pl.col("end_ns") + offset_ns).sort("end_moved")
    met = moved.join_asof(
        ends,
        left_on="end_moved",
        right_on="end_base",
        strategy="nearest",
        tolerance=slack_ns,
    ).drop_nulls("position")
    apart = met.with_columns(apart_ns=pl.col("end_base") - pl.col("end_moved"))
    closest = pl.col("apart_ns").abs().arg_min()
    return apart.group_by("position").agg(pl.col("op_id", "apart_ns").get(closest))


def fit_known(base: Lane, other: Lane, offset_ns: int) -> Fit | None:
    """The best fit of two lanes whose clocks differ by a known offset."""
    tried = [
        f
        for shift in _shifts_near(base, other, offset_ns)
        if (f := _measure(base, other, shift, offset_ns, 1)) is not None
    ]
    return surest(tried) if tried else None


def places(base: Lane, other: Lane, offset_ns: int, slack_ns: int) -> pl.DataFrame:
    """Where the collectives of the other lane stand in the base: op_id, position, apart_ns.

    By one shift of the whole, or, where lost records break the order and more ends meet so, each
    beside the one that ends at the same time; those that have none are then left out.
    """
    by_end = nearest(base, other, offset_ns, slack_ns)
    found = fit_known(base, other, offset_ns)
    if found is None:
        return by_end
    in_order = other.ops.select("op_id", pl.col("position") - found.shift, "end_ns").join(
        base.ops.select("position", end_base="end_ns"), on="position", how="left"
    )
    in_order = in_order.select(
        "op_id", "position", apart_ns=pl.col("end_base") - pl.col("end_ns") - offset_ns
    )
    agreeing = int((in_order["apart_ns"].abs() <= slack_ns).sum())
    is_numbered = base.is_numbered and other.is_numbered
    return in_order if is_numbered or agreeing >= by_end.height else by_end


def surest(fits: Sequence[Fit]) -> Fit:
    """Of the closest fits the one with the most collectives: a few are close by chance."""
    enough = _close_enough(fits)
    return max((f for f in fits if f.spread_ns <= enough), key=lambda f: (f.pairs, -f.spread_ns))


def _close_enough(fits: Sequence[Fit]) -> float:
    """A spread that is as good as the least: medians of few differ by half, and GPUs time their
    work to about a microsecond. A regular run shifted by an iteration comes close, and no more."""
    return 1.5 * min(f.spread_ns for f in fits) + _TICK_NS


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
) -> Fit | None:
    moved = other.ops.select(pl.col("position") - shift, end_other="end_ns")
    both = base.ops.join(moved, on="position", how="inner")
    ends, others = both["end_ns"], both["end_other"]
    if len(ends) < fewest:
        return None
    apart = ends - others
    offset = round(apart.median()) if offset_ns is None else offset_ns  # type: ignore[arg-type]
    spread = round((apart - offset).abs().median())  # type: ignore[arg-type]
    return Fit(shift, offset, spread, len(ends))
