"""What pictures need beyond the report: one iteration event by event, idle time, the tree.

Times are milliseconds from the left edge of the picture. However long the recording, what comes
back is small: where events are too many to be seen apart, neighbours are drawn as one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tracelens.errors import TracelensError

if TYPE_CHECKING:
    import polars as pl

    from tracelens.engine import Engine

RECTANGLES = 3000
"""Drawn at most: a browser moves these smoothly, and no screen shows more of them apart."""
_STREAMS, _THREADS, _DEPTHS = 6, 4, 6
"""Lanes of each kind: the fullest ones get one, the rest share the last."""
_FINEST = 4096
"""The first step of merging is this part of the picture: less than a pixel of a wide screen."""
_NAME_LENGTH = 160


@dataclass(frozen=True)
class Timeline:
    """One stretch of one device and of the host that drives it.

    ``rows`` hold ``lane, kind (host, call, phase, work, idle), group (what it is coloured by),
    name, start_ms, end_ms, count``; ``lanes`` the names of the lanes from the top down.
    ``events`` is the number of events before neighbours were merged. ``ahead_ms`` is how long
    before the left edge the host began the iteration, where that is too far off to be shown.
    """

    device: int
    iteration: int | None
    name: str
    length_ms: float
    lanes: list[str]
    rows: list[dict[str, Any]]
    events: int
    ahead_ms: float | None = None


@dataclass(frozen=True)
class Details:
    """Beside the report: the frames ``tree``, ``kernels`` and ``budget_parts``, and a timeline."""

    tree: pl.DataFrame
    kernels: pl.DataFrame
    parts: pl.DataFrame
    timeline: Timeline | None = field(default=None)


def collect(engine: Engine, device: int | None = None) -> Details:
    """All that a report with pictures shows; the timeline is of ``device``, or of the first."""
    frames = engine.frames(("tree", "kernels", "budget_parts", "devices"))
    has_work = frames["devices"].height > 0
    return Details(
        tree=frames["tree"],
        kernels=frames["kernels"],
        parts=frames["budget_parts"],
        timeline=timeline(engine, device) if has_work else None,
    )


def timeline(
    engine: Engine,
    device: int | None = None,
    iteration: int | None = None,
    span_ms: tuple[float, float] | None = None,
    limit: int = RECTANGLES,
) -> Timeline:
    """One iteration of a device: the steady one nearest to the median where none is named.

    ``span_ms`` takes a part of it, in milliseconds from its left edge, for a closer look. Where no
    iterations were found, the whole recording is shown.

    Raises TracelensError where there is no such device or iteration.
    """
    device, process_id, process = _device(engine, device)
    index, name, start, end, ahead = _window(engine, device, process_id, iteration)
    if span_ms is not None:
        start, end = start + int(span_ms[0] * 1e6), start + int(span_ms[1] * 1e6)
    if end <= start:
        raise TracelensError("nothing lies in that span", hint="span_ms is (from, to), from < to")
    parts = [
        _ranges(engine, process, start, end),
        _calls(engine, process, start, end),
        _phases(engine, device, start, end),
        _operations(engine, device, start, end),
        _idle(engine, device, start, end),
    ]
    shown = _drawn(parts, (device, index, name), start, end, limit)
    return replace(shown, ahead_ms=ahead / 1e6 if ahead else None)


def _device(engine: Engine, device: int | None) -> tuple[int, int, int]:
    """The dense index of a device, the id of its process, and the dense index of that."""
    engine.need("device", "process")
    found = engine.connection.execute(
        "SELECT d.device_index, d.process_id, p.process_index FROM device AS d"
        " INNER JOIN process AS p ON d.process_id = p.process_id ORDER BY d.device_index"
    ).fetchall()
    chosen = [row for row in found if device in (None, row[0])]
    if not chosen:
        raise TracelensError(
            f"there is no device {device} here", hint="trace.devices() lists those with work"
        )
    index, process_id, process = chosen[0]
    return index, process_id, process


def _window(
    engine: Engine, device: int, process_id: int, iteration: int | None
) -> tuple[int | None, str, int, int, int]:
    """Index and name of the iteration, the stretch of time to show for it, and how long before that
    the host began it."""
    engine.need("iteration_window", "device", "iteration")
    rows = engine.connection.execute(
        "SELECT w.iteration_index, w.name, w.start_ns, w.end_ns, w.is_steady, w.period_ns,"
        " h.start_ns FROM iteration_window AS w"
        " INNER JOIN device AS d ON w.device_id = d.device_id"
        " LEFT JOIN iteration AS h"
        " ON w.process_id = h.process_id AND w.iteration_index = h.iteration_index"
        f" WHERE d.device_index = {device} ORDER BY w.iteration_index"
    ).fetchall()
    if iteration is not None:
        rows = [row for row in rows if row[0] == iteration]
        if not rows:
            raise TracelensError(
                f"device {device} has no iteration {iteration}",
                hint="trace.iterations() lists them",
            )
    if not rows:
        return None, "the whole recording", *_extent(engine, device), 0
    index, name, start, end, _, _, host = _typical(rows)
    # the host runs ahead: its part is shown as long as it is near enough to be seen beside
    lead = max(0, start - host) if host is not None else 0
    if lead > end - start:
        return index, name, start, end, lead
    return index, name, start - lead, end, 0


def _typical(rows: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The steady iteration with a period nearest to the median one."""
    steady = [row for row in rows if row[4] and row[5]] or [r for r in rows if r[5]] or rows
    ordered = sorted(steady, key=lambda row: row[5] or 0)
    return ordered[(len(ordered) - 1) // 2]


def _extent(engine: Engine, device: int) -> tuple[int, int]:
    engine.need("gpu_op", "device")
    ((start, end),) = engine.connection.execute(
        "SELECT min(start_ns), max(end_ns) FROM gpu_op"
        " INNER JOIN device USING (device_id) WHERE device_index = ?",
        [device],
    ).fetchall()
    return start, end


def _ranges(engine: Engine, process: int, start: int, end: int) -> pl.DataFrame:
    """Host ranges of the process's busiest threads, one lane a level of nesting."""
    return _asked(
        engine,
        ("ranges",),
        "WITH shown AS (SELECT * FROM ranges"
        f" WHERE process_index = {process} AND start_ns < {end} AND end_ns > {start}),"
        " busiest AS (SELECT thread, row_number() OVER"
        "   (ORDER BY sum(end_ns - start_ns) DESC, thread) AS place"
        " FROM shown GROUP BY thread)"
        f" SELECT 10 * least(place, {_THREADS}) + least(coalesce(depth, {_DEPTHS}), {_DEPTHS})"
        "   AS place,"
        f" CASE WHEN place < {_THREADS} THEN thread ELSE 'other threads' END"
        f"   || CASE WHEN depth = 0 THEN ''"
        f"     WHEN depth < {_DEPTHS} THEN ' · ' || (depth + 1) ELSE ' · more' END AS lane,"
        " 'host' AS kind, coalesce(role, 'range') AS \"group\","
        " domain || CASE WHEN domain = '' THEN '' ELSE ': ' END || coalesce(name, '') AS name,"
        " start_ns, end_ns FROM shown JOIN busiest USING (thread)",
    )


def _calls(engine: Engine, process: int, start: int, end: int) -> pl.DataFrame:
    return _asked(
        engine,
        ("calls",),
        "SELECT 100 AS place, 'CUDA calls' AS lane, 'call' AS kind,"
        " CASE WHEN kind IN ('sync', 'alloc', 'free') THEN kind ELSE 'call' END AS \"group\","
        " coalesce(name, '') AS name, start_ns, end_ns FROM calls"
        f" WHERE process_index = {process} AND start_ns < {end} AND end_ns > {start}",
    )


def _phases(engine: Engine, device: int, start: int, end: int) -> pl.DataFrame:
    return _asked(
        engine,
        ("phase_instance", "device"),
        "SELECT 200 AS place, 'GPU · phases' AS lane, 'phase' AS kind,"
        ' p.phase AS "group", coalesce(p.name, p.phase) AS name, p.start_ns, p.end_ns'
        " FROM phase_instance AS p INNER JOIN device AS d ON p.device_id = d.device_id"
        f" WHERE d.device_index = {device} AND p.start_ns < {end} AND p.end_ns > {start}",
    )


def _operations(engine: Engine, device: int, start: int, end: int) -> pl.DataFrame:
    """Operations of the fullest streams, coloured by phase; collectives and copies by kind."""
    return _asked(
        engine,
        ("operations",),
        "WITH shown AS (SELECT * FROM operations"
        f" WHERE device_index = {device} AND start_ns < {end} AND end_ns > {start}),"
        " fullest AS (SELECT stream_id, row_number() OVER"
        "   (ORDER BY sum(end_ns - start_ns) DESC, stream_id) AS place"
        " FROM shown GROUP BY stream_id)"
        f" SELECT 300 + least(place, {_STREAMS}) AS place,"
        f" CASE WHEN place < {_STREAMS} THEN 'GPU · stream ' || coalesce(stream_id::VARCHAR, '?')"
        "   ELSE 'GPU · other streams' END AS lane, 'work' AS kind,"
        " CASE WHEN op_class = 'communication' THEN 'communication'"
        "   WHEN op_class = 'copy' THEN 'copy' ELSE coalesce(phase, 'no phase') END AS \"group\","
        " coalesce(short_name, name, kind) AS name, start_ns, end_ns"
        " FROM shown JOIN fullest USING (stream_id)",
    )


def _idle(engine: Engine, device: int, start: int, end: int) -> pl.DataFrame:
    return _asked(
        engine,
        ("idle_cause", "device"),
        "SELECT 400 AS place, 'GPU · idle' AS lane, 'idle' AS kind, c.cause AS \"group\","
        " coalesce(c.call_name, c.open_range, '') AS name, c.start_ns, c.end_ns"
        " FROM idle_cause AS c INNER JOIN device AS d ON c.device_id = d.device_id"
        f" WHERE d.device_index = {device} AND c.start_ns < {end} AND c.end_ns > {start}",
    )


def _asked(engine: Engine, needed: tuple[str, ...], query: str) -> pl.DataFrame:
    engine.need(*needed)
    return engine.frame_of(query)


def _drawn(
    parts: list[pl.DataFrame], title: tuple[int, int | None, str], start: int, end: int, limit: int
) -> Timeline:
    import polars as pl

    events = pl.concat(
        [
            part.with_columns(
                pl.col("place").cast(pl.Int64),
                pl.col("group").cast(pl.String),
                pl.col("name").cast(pl.String).str.slice(0, _NAME_LENGTH),
                pl.col("start_ns").clip(start, end),
                pl.col("end_ns").clip(start, end),
            )
            for part in parts
        ]
    )
    thinned = thin(events, end - start, limit).sort("place", "start_ns")
    rows = thinned.select(
        "lane", "kind", "group", "name", "count",
        start_ms=(pl.col("start_ns") - start) / 1e6,
        end_ms=(pl.col("end_ns") - start) / 1e6,
    )  # fmt: skip
    lanes = thinned["lane"].unique(maintain_order=True).to_list()
    device, index, name = title
    length = (end - start) / 1e6
    return Timeline(device, index, name, length, lanes, rows.to_dicts(), events.height)


def thin(events: pl.DataFrame, length_ns: int, limit: int) -> pl.DataFrame:
    """At most ``limit`` rows, as nearly as can be: short neighbours of one lane and group as one.

    A merged row carries the name of its longest event, and their ``count``. Events longer than
    the step of the merging stay as they are; the step grows until the picture is small enough.
    """
    import polars as pl

    step, thinned = max(1, length_ns // _FINEST), events.with_columns(count=pl.lit(1, pl.UInt32))
    while thinned.height > limit and step <= length_ns:
        thinned = _merged(events, step)
        step *= 2
    return thinned


def _merged(events: pl.DataFrame, step: int) -> pl.DataFrame:
    import polars as pl

    length = pl.col("end_ns") - pl.col("start_ns")
    keyed = events.with_row_index("row").with_columns(
        # a long event is a group of its own, told from the buckets of short ones by its sign
        bucket=pl.when(length < step)
        .then(pl.col("start_ns") // step)
        .otherwise(-1 - pl.col("row").cast(pl.Int64))
    )
    return (
        keyed.group_by("place", "lane", "kind", "group", "bucket")
        .agg(
            pl.col("name").sort_by(length).last(),
            pl.col("start_ns").min(),
            pl.col("end_ns").max(),
            count=pl.len(),
        )
        .select(*events.columns, "count")
    )
