"""Which operations of different devices are parts of one collective.

One row is one operation that communicates: ``op_id, group_id`` (the devices that run these
collectives together), ``members`` (how many they are), ``instance_id`` (the collective),
``position`` (its place among those of its kind in the group, NULL where it has none there). An
operation whose partners are not in the recording, or cannot be told, is an instance of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _lanes

READS = ("communication_op", "clock_offset")
_SCHEMA = {
    "op_id": pl.Int64,
    "group_id": pl.Int64,
    "members": pl.Int64,
    "instance_id": pl.Int64,
    "position": pl.Int64,
}


@dataclass
class _Group:
    """Lanes of one communicator, each with the places of its operations in the first."""

    lanes: list[tuple[_lanes.Lane, pl.DataFrame]] = field(default_factory=list)

    def has(self, device_id: int) -> bool:
        return any(lane.device_id == device_id for lane, _ in self.lanes)


@dataclass(frozen=True)
class _Candidate:
    """A lane that may belong to a group: its places there, and how far the ends are apart."""

    group: _Group
    lane: _lanes.Lane
    places: pl.DataFrame
    spread_ns: float


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """Group lanes of one kind whose ends agree, and number what they share."""
    offsets = dict(frames["clock_offset"].select("source_id", "offset_ns").iter_rows())
    by_kind: dict[tuple[str, str], list[_lanes.Lane]] = {}
    for lane in _lanes.lanes(frames["communication_op"]):
        by_kind.setdefault((lane.communicator or "", lane.collective), []).append(lane)
    groups = [g for lanes in by_kind.values() for g in _grouped(lanes, offsets, settings)]
    if not groups:
        return pl.DataFrame(schema=_SCHEMA)
    members = pl.concat(_members(groups, offsets))
    return _numbered(members, settings.collective_slack_ns)


def _grouped(
    lanes: list[_lanes.Lane], offsets: Mapping[int, int], settings: Settings
) -> list[_Group]:
    """Put each device's lanes into the groups that they fit best, closest first."""
    groups: list[_Group] = []
    for device_id in dict.fromkeys(lane.device_id for lane in lanes):
        own = [lane for lane in lanes if lane.device_id == device_id]
        fits = sorted(_candidates(groups, own, offsets, settings), key=lambda c: c.spread_ns)
        for found in fits:
            if any(found.lane is o for o in own) and not found.group.has(device_id):
                found.group.lanes.append((found.lane, found.places))
                own = [o for o in own if o is not found.lane]
        groups += [_Group([(lane, lane.ops.select("op_id", "position"))]) for lane in own]
    return groups


def _candidates(
    groups: list[_Group],
    own: list[_lanes.Lane],
    offsets: Mapping[int, int],
    settings: Settings,
) -> Iterator[_Candidate]:
    for group in groups:
        base, _ = group.lanes[0]
        for lane in own:
            apart = offsets[lane.source_id] - offsets[base.source_id]
            places = _lanes.places(base, lane, apart, settings.collective_slack_ns)
            if _share_together(base, lane, places, apart, settings) >= settings.min_overlap:
                spread = places["apart_ns"].abs().median()
                yield _Candidate(group, lane, places.select("op_id", "position"), float(spread))  # type: ignore[arg-type]


def _share_together(
    base: _lanes.Lane,
    lane: _lanes.Lane,
    places: pl.DataFrame,
    offset_ns: int,
    settings: Settings,
) -> float:
    """Of the collectives of a lane within the time of the other, the share that overlaps with the
    one at its place there: no rank is done before the last has come."""
    first, last = base.ops["start_ns"].min(), base.ops["end_ns"].max()
    moved = lane.ops.select(
        "op_id", start=pl.col("start_ns") + offset_ns, end=pl.col("end_ns") + offset_ns
    ).filter((pl.col("end") >= first) & (pl.col("start") <= last))
    both = moved.join(places, on="op_id").join(base.ops, on="position")
    last_start = pl.max_horizontal("start", "start_ns")
    first_end = pl.min_horizontal("end", "end_ns") + settings.collective_slack_ns
    return both.filter(last_start <= first_end).height / max(moved.height, 1)


def _members(groups: list[_Group], offsets: Mapping[int, int]) -> Iterator[pl.DataFrame]:
    """The operations of each group, at their places in it, on the clock of the first file."""
    for group_id, group in enumerate(groups):
        for lane, places in group.lanes:
            placed = lane.ops.drop("position").join(places, on="op_id", how="left")
            yield placed.select(
                "op_id",
                pl.lit(group_id, dtype=pl.Int64).alias("group_id"),
                pl.lit(len(group.lanes), dtype=pl.Int64).alias("members"),
                "position",
                pl.col("start_ns") + offsets[lane.source_id],
                pl.col("end_ns") + offsets[lane.source_id],
            )


def _numbered(members: pl.DataFrame, slack_ns: int) -> pl.DataFrame:
    """Number the instances. What has no place, or does not overlap with the rest of its instance,
    stands alone: a record was lost."""
    key = ["group_id", "position"]
    together = pl.col("start_ns").max() <= pl.col("end_ns").min() + slack_ns
    is_placed = together.over(key) & pl.col("position").is_not_null()
    alone = pl.when(is_placed).then(None).otherwise(pl.col("op_id"))
    return (
        members.with_columns(alone.alias("alone"))
        .with_columns(
            (pl.struct("group_id", "position", "alone").rank("dense").cast(pl.Int64) - 1).alias(
                "instance_id"
            )
        )
        .select(*_SCHEMA)
        .sort("op_id")
    )
