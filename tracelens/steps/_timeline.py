"""A device's recorded iterations as a timeline that can be replayed, as they are or changed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from tracelens.settings import Settings
from tracelens.steps import _replay, _steps
from tracelens.steps._replay import State

READS = (
    "examined_op",
    "examined_call",
    "api_kind",
    "host_pause",
    "iteration_window",
    "examined_iteration",
    "op_class",
    "stream_wait",
    "clock_skew",
)
"""What ``timelines`` reads."""


@dataclass(frozen=True)
class Timeline:
    """A device's steps over some iterations, and where the iterations begin in them."""

    device_id: int
    iterations: tuple[int, ...]
    """The iterations replayed, by index; each has a period."""
    period_ns: tuple[int, ...]
    """Their measured periods."""
    steps: pl.DataFrame
    """STEP columns, and start_ns, end_ns (of the call), since_ns (end of the step before), call_id,
    role, finding, cause, op_class, copy_kind, bytes."""
    state: State
    borders: tuple[tuple[int, int], ...]
    """For each iteration and the one after the last: the step of its first operation, and how long
    after the start of that step's unit it started."""

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last iteration replayed."""
        return self.iterations[0], self.iterations[-1]

    def periods(self, steps: pl.DataFrame) -> list[int]:
        """The periods that these steps would take, one an iteration, in nanoseconds."""
        starts = _replay.replay(steps, self.state)
        firsts = [starts[step] + offset for step, offset in self.borders]
        return [later - first for first, later in itertools.pairwise(firsts)]


def timelines(frames: Mapping[str, pl.DataFrame], settings: Settings) -> list[Timeline]:
    """One timeline for each device that has enough steady iterations in a row, and a clock that
    agrees with the host's."""
    made = []
    skewed = frames["clock_skew"].filter(pl.col("is_skewed"))["process_id"]
    windows = frames["iteration_window"].filter(~pl.col("process_id").is_in(skewed.implode()))
    for device_id in windows["device_id"].unique().sort().to_list():
        timeline = _timeline(frames, device_id, settings)
        if timeline is not None:
            made.append(timeline)
    return made


def _timeline(
    frames: Mapping[str, pl.DataFrame], device_id: int, settings: Settings
) -> Timeline | None:
    windows = (
        frames["iteration_window"]
        .filter(pl.col("device_id") == device_id)
        .join(frames["examined_iteration"], on=["device_id", "iteration_index"])
    )
    ops = frames["examined_op"].filter(pl.col("device_id") == device_id)
    chosen = _chosen(windows, ops.height, settings)
    if chosen.height < settings.min_iterations - 1:
        return None
    if ops.select("context_id", "stream_id").n_unique() > settings.replay_streams:
        return None
    from_ns, until_ns = chosen["start_ns"][0], chosen["end_ns"][-1]
    lead_ns = min(ops["start_ns"])
    if ops.height > settings.replay_ops:
        # one iteration more, in which the queue fills, before the first that counts
        lead_ns = max(windows.filter(pl.col("start_ns") < from_ns)["start_ns"], default=from_ns)
    shown = ops.filter(pl.col("start_ns").is_between(lead_ns, until_ns))
    begin_ns = min(shown["call_start_ns"].drop_nulls(), default=lead_ns)
    ops = ops.filter((pl.col("end_ns") > min(begin_ns, lead_ns)) & (pl.col("start_ns") <= until_ns))
    ops = _steps.with_streams(ops)
    units = _steps.units(frames, ops.filter(pl.col("start_ns") >= lead_ns))
    calls = _steps.calls(frames, ops, units)
    if calls.is_empty():
        return None
    begin_ns = int(calls["start_ns"][0])
    flight = _steps.in_flight(ops, begin_ns)
    calls, depth = _steps.without_backpressure(calls, flight, settings)
    state = _steps.state(ops, lead_ns, flight, begin_ns, depth)
    units = _steps.ordered(units, calls, state)
    steps = _steps.steps(units, calls, flight, settings)
    borders = _borders(chosen, ops, steps)
    if borders is None:
        return None
    return Timeline(
        device_id,
        tuple(chosen["iteration_index"]),
        tuple(chosen["period_ns"]),
        steps,
        state,
        borders,
    )


def _chosen(windows: pl.DataFrame, ops: int, settings: Settings) -> pl.DataFrame:
    """Steady iterations in a row, from the middle of the run as many as the replay has time for."""
    known = windows.filter(
        pl.col("is_steady") & ~pl.col("is_lead") & (pl.col("period_ns") > 0)
    ).sort("iteration_index")
    broken = (pl.col("start_ns") != pl.col("end_ns").shift(1)).fill_null(True)
    rows = known.with_columns(row=broken.cum_sum())
    if rows.is_empty():
        return rows
    longest = rows["row"].mode().min()
    rows = rows.filter(pl.col("row") == longest)
    fit = settings.replay_ops * windows.height // max(ops, 1)
    fit = max(settings.min_iterations, fit)
    return rows.slice(max(0, (rows.height - fit) // 2), fit)


def _borders(
    chosen: pl.DataFrame, ops: pl.DataFrame, steps: pl.DataFrame
) -> tuple[tuple[int, int], ...] | None:
    """Where the windows begin, and the last one ends: None where an operation there is missing."""
    times = [*chosen["start_ns"], chosen["end_ns"][-1]]
    places = steps.filter(pl.col("unit_id").is_not_null()).select(
        "unit_id", "step", "unit_start_ns"
    )
    firsts = (
        ops.filter(pl.col("start_ns").is_in(times))
        .with_columns(unit_id=pl.coalesce("call_id", -1 - pl.col("op_id")))
        .join(places, on="unit_id")
        .sort("op_id")
        .unique("start_ns", keep="first", maintain_order=True)
        .sort("start_ns")
        .select("step", offset=pl.col("start_ns") - pl.col("unit_start_ns"))
    )
    return tuple(firsts.iter_rows()) if firsts.height == len(times) else None
