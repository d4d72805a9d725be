"""Each device's iterations replayed: with nothing taken away, to see how well the replay
reproduces them, and without the cause of each finding, to see what its cure is worth.

reads: examined_op, examined_call, api_kind, host_pause, iteration_window, examined_iteration,
       op_class, stream_wait, clock_skew, idle_cause, profiler_overhead
row:   one replay of one device

device_id           BIGINT   the device
scenario            VARCHAR  the finding that is priced, NULL for the replay with nothing taken away
measured_period_ns  BIGINT   median period of the iterations replayed
replayed_period_ns  BIGINT   median period of the replay, on the recording's median latencies; NULL
                             where the finding is blamed for next to nothing, and none was needed
error_share         DOUBLE   how far the replay with nothing taken away is off the measured periods,
                             for the median or the total, the larger; the same for all of a device
recoverable_ns      BIGINT   what the finding's cure saves of the median iteration: never more than
                             the idle time and the exposed work that it is blamed for, nor than the
                             period; NULL where nothing is taken away
is_upper_bound      BOOLEAN  the error is too large, or peers decide
first_iteration     BIGINT   the first iteration replayed
last_iteration      BIGINT   the last
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

import polars as pl

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _findings, _intervals, _timeline
from tracelens.steps._host import feeding_threads
from tracelens.steps._replay import LAUNCH, WAIT
from tracelens.steps._timeline import Timeline

READS = (*_timeline.READS, "idle_cause", "profiler_overhead")

SCHEMA = {
    "device_id": pl.Int64,
    "scenario": pl.String,
    "measured_period_ns": pl.Int64,
    "replayed_period_ns": pl.Int64,
    "error_share": pl.Float64,
    "recoverable_ns": pl.Int64,
    "is_upper_bound": pl.Boolean,
    "first_iteration": pl.Int64,
    "last_iteration": pl.Int64,
}
_NEGLIGIBLE = 0.001
"""A cause with no more of the period than this is worth what it is blamed for: no replay."""


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """The replays of every device that can be replayed."""
    frames = {name: frames[name] for name in READS}
    priced = _findings.priced_ops(frames, settings)
    rows = [
        (timeline.device_id, *row, *timeline.span)
        for timeline in _timeline.timelines(frames, settings)
        for row in _replays(timeline, _Device(frames, timeline, priced, settings), settings)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _replays(
    timeline: Timeline, device: _Device, settings: Settings
) -> Iterator[tuple[str | None, int, int | None, float, int | None, bool]]:
    """The columns of each replay, from scenario to is_upper_bound."""
    measured_ns, base = int(median(timeline.period_ns)), timeline.periods(timeline.steps)
    base_ns, error = median(base), error_share(timeline.period_ns, base)
    is_doubtful = error > settings.replay_tolerance
    yield None, measured_ns, int(base_ns), error, None, is_doubtful
    for scenario in _findings.SCENARIOS:
        cured_ns, worth_ns = device.worth(scenario, base_ns)
        # collectives contain the wait for peers, which this device's replay cannot shorten
        peers = scenario == _findings.COMMUNICATION and worth_ns > 0
        yield scenario, measured_ns, cured_ns, error, worth_ns, is_doubtful or peers


def error_share(measured: Sequence[int], replayed: Sequence[int]) -> float:
    """How far periods are off the measured ones, for the median or the total, the larger."""
    return max(abs(of(replayed) - of(measured)) / max(of(measured), 1) for of in (median, sum))


class _Device:
    """One device's replay, and what each finding is blamed for on it."""

    def __init__(
        self,
        frames: Mapping[str, pl.DataFrame],
        timeline: Timeline,
        priced: pl.DataFrame,
        settings: Settings,
    ) -> None:
        self.timeline = timeline
        mine = pl.col("device_id") == timeline.device_id
        self.ops = priced.filter(mine)
        self.idle = frames["idle_cause"].filter(
            mine, pl.col("iteration_index").is_in(timeline.iterations)
        )
        self.windows = frames["iteration_window"].filter(
            mine, pl.col("iteration_index").is_in(timeline.iterations)
        )
        told = self.idle.filter((pl.col("cause") == "host") & (pl.col("finding") != _findings.HOST))
        self.pauses = frames["host_pause"].filter(mine)
        if not told.is_empty():
            # silences that count as dispatch are taken away with it (see _findings.of_idle)
            short = pl.col("end_ns") - pl.col("start_ns") < settings.host_stall_ns
            self.pauses = self.pauses.filter(~((pl.col("cause") == "host") & short))
        blamed = self.idle.group_by("finding", "iteration_index").agg(pl.col("idle_ns").sum())
        self.idle_ns = {(finding, i): ns for finding, i, ns in blamed.iter_rows()}
        self.blamed_ops = frozenset(self.ops["finding"].unique())
        threads = feeding_threads(frames["examined_op"].filter(mine))
        self.overhead = frames["profiler_overhead"].filter(
            pl.col("thread_id").is_in(threads.implode())
        )

    def worth(self, scenario: str, base_ns: float) -> tuple[int | None, int]:
        """The median period without one finding's cause, None where it needs no replay, and what
        the cure saves of the median iteration, in nanoseconds."""
        period_ns = median(self.timeline.period_ns)
        limit_ns = min(self._blamed_ns(scenario), period_ns)
        if limit_ns <= _NEGLIGIBLE * period_ns:
            return None, int(limit_ns)
        cured_ns = median(self.timeline.periods(self._without(scenario)))
        return int(cured_ns), int(min(max(base_ns - cured_ns, 0), limit_ns))

    def _blamed_ns(self, scenario: str) -> float:
        """Idle time and exposed work of a finding in the median iteration."""
        exposed_ns = self._exposed_ns(scenario) if scenario in self.blamed_ops else {}
        both = [
            self.idle_ns.get((scenario, i), 0) + exposed_ns.get(i, 0)
            for i in self.timeline.iterations
        ]
        return float(median(both))

    def _exposed_ns(self, scenario: str) -> dict[int, int]:
        """Time in each iteration in which operations of a finding run and no others do."""
        priced = pl.col("finding").eq_missing(scenario)
        alone = _intervals.exposed(self.ops.filter(priced), self.ops.filter(~priced))
        before = [_intervals.covered_before(self.windows[c], alone) for c in ("end_ns", "start_ns")]
        return dict(zip(self.windows["iteration_index"], before[0] - before[1], strict=True))

    def _without(self, scenario: str) -> pl.DataFrame:
        """The steps of the replay with a finding's cause taken away."""
        steps = self.timeline.steps
        if scenario in (_findings.LAUNCH, _findings.OPTIMIZER):
            return self._without_dispatch(scenario)
        if scenario == _findings.PROFILER:
            return _without_time(steps, self.overhead)
        steps = _without_time(steps, self.pauses.filter(pl.col("finding") == scenario))
        cured = (pl.col("finding") == scenario).fill_null(False)
        steps = steps.with_columns(
            waits_for=pl.when(~cured).then("waits_for"),
            waits_step=pl.when(cured).then(-1).otherwise("waits_step"),
            waits_own=pl.col("waits_own") & ~cured,
            call_ns=pl.when(cured & (pl.col("kind") == WAIT)).then(0).otherwise("call_ns"),
        )
        gone = pl.col("op_id").is_in(
            self.ops.filter(pl.col("finding") == scenario)["op_id"].implode()
        )
        steps = steps.with_columns(unit_ns=pl.when(gone).then(0).otherwise("unit_ns"))
        if scenario == _findings.SMALL_COPIES:
            # what is not sent is not dispatched either
            return _dispatched_free(steps, gone, self.pauses)
        return steps

    def _without_dispatch(self, scenario: str) -> pl.DataFrame:
        """The steps with launches free: only pauses of the host are left of its time."""
        steps = self.timeline.steps
        tiny = self.idle["finding"].eq(_findings.OPTIMIZER).any()
        freed = _findings.dispatch_finding(bool(tiny)) == scenario
        return _dispatched_free(steps, freed, self.pauses)


def _dispatched_free(steps: pl.DataFrame, freed: pl.Expr, pauses: pl.DataFrame) -> pl.DataFrame:
    """The steps with the launches ``freed`` taking no host time, but for pauses on the way."""
    paused = _intervals.covered_before(steps["start_ns"], pauses)
    paused -= _intervals.covered_before(steps["since_ns"], pauses)
    return steps.with_columns(paused=paused.clip(0)).with_columns(
        think_ns=pl.when(freed).then(pl.min_horizontal("paused", "think_ns")).otherwise("think_ns"),
        call_ns=pl.when(freed & (pl.col("kind") == LAUNCH)).then(0).otherwise("call_ns"),
    )


def _without_time(steps: pl.DataFrame, removed: pl.DataFrame) -> pl.DataFrame:
    """The steps with some stretches of host time taken away."""
    begin = steps.select(pl.max_horizontal("start_ns", "since_ns")).to_series()
    since, start, entered, end = (
        _intervals.covered_before(times, removed)
        for times in (steps["since_ns"], steps["start_ns"], begin, steps["end_ns"])
    )
    return steps.with_columns(
        lost=(start - since).clip(0), lost_inside=(end - entered).clip(0)
    ).with_columns(
        think_ns=(pl.col("think_ns") - pl.col("lost")).clip(0),
        call_ns=pl.when(pl.col("kind") == LAUNCH)
        .then((pl.col("call_ns") - pl.col("lost_inside")).clip(0))
        .otherwise("call_ns"),
    )
