"""How far the clock of each file is from that of the first, told by the collectives they share.

One row is one file: ``source_id, offset_ns`` (to add to its times to bring them onto the clock of
the first file), ``residual_ns`` (median distance of the ends of shared collectives after that, NULL
where none were shared), ``collectives`` (how many told it), ``method`` (reference, collectives,
session: by the recorded start of the sessions, which is as good as the clocks of the hosts; or
none).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _lanes

READS = ("source", "communication_op", "capture_info")
_SCHEMA = {
    "source_id": pl.Int64,
    "offset_ns": pl.Int64,
    "residual_ns": pl.Int64,
    "collectives": pl.Int64,
    "method": pl.String,
}
_WAITS_FOR_ALL = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier")
"""No rank is done with one of these before every rank has come; with a broadcast or a send it may
be."""


@dataclass(frozen=True)
class _Offset:
    offset_ns: int
    residual_ns: int | None
    collectives: int
    method: str


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """Place the sources one after the other, each on those that are placed already."""
    sources = frames["source"]["source_id"].to_list()
    placed = {s: _Offset(0, None, 0, "reference") for s in sources[:1]}
    if len(sources) > 1:
        starts = dict(frames["capture_info"].select("source_id", "utc_start_ns").iter_rows())
        by_source: dict[int, list[_lanes.Lane]] = {}
        for lane in _lanes.lanes(frames["communication_op"]):
            by_source.setdefault(lane.source_id, []).append(lane)
        _place_all(sources, by_source, starts, placed, settings)
    rows = [(s, o.offset_ns, o.residual_ns, o.collectives, o.method) for s, o in placed.items()]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row").sort("source_id")


def _place_all(
    sources: list[int],
    lanes: Mapping[int, list[_lanes.Lane]],
    starts: Mapping[int, int | None],
    placed: dict[int, _Offset],
    settings: Settings,
) -> None:
    """Fill ``placed``. Ranks that share nothing with the first file are placed by way of one that
    does, so those that don't fit yet wait until more are placed."""
    waiting = [s for s in sources if s not in placed]
    is_progress = True
    while waiting and is_progress:
        is_progress = False
        for source in list(waiting):
            found = _on_placed(source, lanes, starts, placed, settings)
            if found is not None:
                placed[source] = found
                waiting.remove(source)
                is_progress = True
    for source in waiting:
        told = _by_session(starts, sources[0], source)
        placed[source] = _Offset(told or 0, None, 0, "none" if told is None else "session")


def _on_placed(
    source: int,
    lanes: Mapping[int, list[_lanes.Lane]],
    starts: Mapping[int, int | None],
    placed: Mapping[int, _Offset],
    settings: Settings,
) -> _Offset | None:
    """The offset of a source by the first placed one that it fits on closely, else the closest."""
    best: _Offset | None = None
    for base, at in placed.items():
        if at.method not in ("reference", "collectives"):
            continue
        hint = _by_session(starts, base, source)
        fits = list(_fits(lanes.get(base, []), lanes.get(source, []), hint, settings))
        if not fits:
            continue
        found = _lanes.surest(fits)
        offset = _Offset(
            at.offset_ns + found.offset_ns, found.spread_ns, found.pairs, "collectives"
        )
        if found.spread_ns <= settings.collective_slack_ns:
            return offset
        if best is None or found.spread_ns < (best.residual_ns or 0):
            best = offset
    return best


def _fits(
    bases: list[_lanes.Lane], others: list[_lanes.Lane], hint: int | None, settings: Settings
) -> Iterator[_lanes.Fit]:
    """Every fit of two lanes of one kind that is close enough to be one communicator's."""
    for base in bases:
        for other in others:
            if _is_same(base, other) and base.collective in _WAITS_FOR_ALL:
                fit = _lanes.fit(base, other, hint, settings.collective_slack_ns)
                if fit is not None and fit.spread_ns <= settings.max_clock_spread_ns:
                    yield fit


def _is_same(base: _lanes.Lane, other: _lanes.Lane) -> bool:
    return (base.collective, base.communicator) == (other.collective, other.communicator)


def _by_session(starts: Mapping[int, int | None], base: int, source: int) -> int | None:
    """Offset by the recorded start of both sessions, None where one is not recorded."""
    start, base_start = starts.get(source), starts.get(base)
    return None if start is None or base_start is None else start - base_start
