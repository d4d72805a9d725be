"""Which operations of different devices are parts of one collective.

One row is one operation that communicates: ``op_id, group_id`` (the devices that run these
collectives together), ``members`` (how many they are), ``instance_id`` (the collective),
``position`` (its place among those of its kind in the group). An operation whose partners are not
in the recording, or cannot be told, is an instance of its own.
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
    """Lanes of one communicator, each with its shift against the first."""

    lanes: list[tuple[_lanes.Lane, int]] = field(default_factory=list)

    def has(self, device_id: int) -> bool:
        return any(lane.device_id == device_id for lane, _ in self.lanes)


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
        fits = sorted(_candidates(groups, own, offsets, settings), key=lambda c: c[0].spread_ns)
        for fit, group, lane in fits:
            if any(lane is o for o in own) and not group.has(device_id):
                group.lanes.append((lane, fit.shift))
                own = [o for o in own if o is not lane]
        groups += [_Group([(lane, 0)]) for lane in own]
    return groups


def _candidates(
    groups: list[_Group],
    own: list[_lanes.Lane],
    offsets: Mapping[int, int],
    settings: Settings,
) -> Iterator[tuple[_lanes.Fit, _Group, _lanes.Lane]]:
    for group in groups:
        base, _ = group.lanes[0]
        for lane in own:
            apart = offsets[lane.source_id] - offsets[base.source_id]
            fit = _lanes.fit_known(base, lane, apart)
            if fit is not None and _is_together(base, lane, fit, settings):
                yield fit, group, lane


def _is_together(base: _lanes.Lane, lane: _lanes.Lane, fit: _lanes.Fit, settings: Settings) -> bool:
    """Whether nearly all that two lanes share overlaps in time: no rank is done before the last
    has come."""
    both = _lanes.pairs(base, lane, fit.shift)
    last_start = pl.max_horizontal("start_ns", pl.col("start_ns_other") + fit.offset_ns)
    first_end = pl.min_horizontal("end_ns", pl.col("end_ns_other") + fit.offset_ns)
    share = both.select((last_start <= first_end + settings.collective_slack_ns).mean()).item()
    return float(share) >= settings.min_overlap


def _members(groups: list[_Group], offsets: Mapping[int, int]) -> Iterator[pl.DataFrame]:
    """The operations of each group, at their places in it, on the clock of the first file."""
    for group_id, group in enumerate(groups):
        for lane, shift in group.lanes:
            yield lane.ops.select(
                "op_id",
                pl.lit(group_id, dtype=pl.Int64).alias("group_id"),
                pl.lit(len(group.lanes), dtype=pl.Int64).alias("members"),
                pl.col("position") - shift,
                pl.col("start_ns") + offsets[lane.source_id],
                pl.col("end_ns") + offsets[lane.source_id],
            )


def _numbered(members: pl.DataFrame, slack_ns: int) -> pl.DataFrame:
    """Number the instances. What does not overlap with the rest of its instance stands alone: a
    record was lost in between."""
    key = ["group_id", "position"]
    together = pl.col("start_ns").max() <= pl.col("end_ns").min() + slack_ns
    alone = pl.when(together.over(key)).then(None).otherwise(pl.col("op_id"))
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
