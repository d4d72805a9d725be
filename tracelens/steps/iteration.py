"""The iterations of a run, as intervals on the host of each process that launches GPU work.

One row is one iteration: ``process_id, iteration_index (from 0), name, thread_id, start_ns,
end_ns, range_id (NULL where no range marks it), is_open, method, confidence``. Found, in this
order, from the names that ``--iterations`` matches, from a family of ranges, from the cycle of
phases, from the periodic sequence of kernels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from tracelens import data
from tracelens.errors import TracelensError
from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _periodicity

READS = ("range_candidate", "launch_clock", "kernel_sequence")
MAY_READ = ("kernel_sequence",)
"""Built only where ranges don't tell: the other relations are always needed."""

_SCHEMA = {
    "process_id": pl.Int64,
    "iteration_index": pl.Int64,
    "name": pl.String,
    "thread_id": pl.Int64,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "range_id": pl.Int64,
    "is_open": pl.Boolean,
    "method": pl.String,
    "confidence": pl.String,
}
_FAMILY = ["process_id", "thread_id", "domain", "family"]


def build(frames: Mapping[str, pl.DataFrame], options: Options, settings: Settings) -> pl.DataFrame:
    """Choose how iterations are told, process by process. Raises TracelensError for a regular
    expression of no use."""
    ranges = frames["range_candidate"].filter(pl.col("start_ns") < pl.col("end_ns"))
    launched = frames["launch_clock"].group_by("process_id").agg(pl.col("calls", "gpu_ns").max())
    if options.iterations is not None:
        return _numbered(_matching(ranges, options.iterations))
    working = ranges.join(launched, on="process_id").filter(pl.col("calls") > 0)
    found = _from_families(working, settings)
    missing = set(launched["process_id"]) - set(found["process_id"])
    if missing:
        cycles = _from_phase_cycle(working.filter(pl.col("process_id").is_in(missing)), settings)
        missing -= set(cycles["process_id"])
        found = pl.concat([found, cycles])
    if missing or found.is_empty():
        kernels = frames["kernel_sequence"].filter(
            ~pl.col("process_id").is_in(set(found["process_id"]))
        )
        found = pl.concat([found, _from_kernels(kernels, settings)])
    return _numbered(found)


def _numbered(found: pl.DataFrame) -> pl.DataFrame:
    """Give each process's iterations their numbers, in the order of time."""
    index = pl.int_range(pl.len(), dtype=pl.Int64).over("process_id")
    return (
        found.sort("process_id", "start_ns")
        .with_columns(index.alias("iteration_index"))
        .select(*_SCHEMA)
    )


def _rows(ranges: pl.DataFrame, method: str, confidence: str) -> pl.DataFrame:
    """Ranges as iterations that have no number yet."""
    return ranges.with_columns(
        method=pl.lit(method), confidence=pl.lit(confidence), iteration_index=pl.lit(0, pl.Int64)
    ).select(pl.col(name).cast(kind) for name, kind in _SCHEMA.items())


def _matching(ranges: pl.DataFrame, pattern: str) -> pl.DataFrame:
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise TracelensError(
            f"--iterations {pattern!r} is no regular expression ({error})"
        ) from None
    names = [n for n in ranges["name"].unique() if wanted.search(n)]
    chosen = ranges.filter(pl.col("name").is_in(names))
    if chosen.is_empty():
        known = ", ".join(sorted(ranges["family"].unique())[:8]) or "none"
        raise TracelensError(
            f"--iterations {pattern!r} matches no range", hint=f"ranges here: {known}"
        )
    return _rows(chosen, "regex", "high")


def _from_families(ranges: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """The family of ranges that looks most like iterations, in every process that has it."""
    scored = _scored_families(ranges, settings)
    if scored.is_empty():
        return pl.DataFrame(schema=_SCHEMA)
    best = scored.row(0, named=True)
    chosen = scored.filter(pl.col("domain") == best["domain"], pl.col("family") == best["family"])
    # one thread a process: the one that launches most while its ranges are open
    chosen = chosen.sort("coverage", descending=True).unique("process_id", keep="first")
    members = ranges.join(chosen.select(_FAMILY), on=_FAMILY)
    method = "numbered ranges" if best["is_numbered"] else "repeated range"
    sure = best["count"] >= settings.min_iterations and best["coverage"] >= settings.sure_coverage
    return _rows(members, method, "high" if sure else "medium")


def _scored_families(ranges: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Families that may be iterations, the likeliest first: one row a family and thread."""
    plain = ranges.filter(pl.col("role").is_null())
    inside = _inside_phases(plain, _closed_phases(ranges))
    period = pl.col("start_ns").diff().drop_nulls()
    families = (
        plain.join(inside, on="range_id", how="left")
        .sort("start_ns", "end_ns")
        .group_by(_FAMILY)
        .agg(
            pl.len().alias("count"),
            (pl.col("name").n_unique() == pl.len()).alias("is_unique"),
            (pl.col("start_ns").shift(-1) < pl.col("end_ns")).any().alias("overlaps"),
            # by calls too: what was launched may not have been recorded
            pl.max_horizontal(
                pl.col("launched_ns").sum() / pl.col("gpu_ns").first().clip(1),
                pl.col("launching_calls").sum() / pl.col("calls").first().clip(1),
            ).alias("coverage"),
            pl.col("is_inside_phase").mean().alias("inside_share"),
            pl.col("holds_phase").mean().alias("phase_share"),
            ((period - period.median()).abs().median() / period.median()).alias("irregularity"),
        )
        .with_columns(is_numbered=pl.col("family").str.contains("#", literal=True))
    )
    words = data.shipped("roles")["iteration"]
    likely, unlikely = (
        pl.col("family").str.contains(f"(?i){words[key]}") for key in ("likely", "unlikely")
    )
    enough = pl.when(likely & pl.col("is_numbered")).then(1).otherwise(2)
    return (
        families.with_columns(score=_score(likely, unlikely))
        .filter(
            ~pl.col("overlaps"),
            pl.col("count") >= enough,
            pl.col("coverage") >= settings.min_coverage,
            # most of them: iterations hold phases, not the other way round
            pl.col("inside_share") < 0.5,
        )
        .sort("score", "count", "domain", "family", descending=[True, True, False, False])
    )


def _score(likely: pl.Expr, unlikely: pl.Expr) -> pl.Expr:
    """How much a family looks like iterations: by its words, its numbers, the phases in it, its
    share of the GPU time, and how regular it is."""
    return (
        3 * likely.cast(pl.Float64)
        - 3 * unlikely.cast(pl.Float64)
        + 2 * (pl.col("is_numbered") & pl.col("is_unique")).cast(pl.Float64)
        + 2 * pl.col("phase_share")
        + 2 * pl.col("coverage")
        + 1
        - pl.col("irregularity").fill_null(1.0).fill_nan(1.0).clip(0, 1)
    )


def _closed_phases(ranges: pl.DataFrame) -> pl.DataFrame:
    """Ranges of a known role; one that was never closed says nothing of what came after it."""
    return ranges.filter(pl.col("role").is_not_null(), ~pl.col("is_open"))


def _inside_phases(ranges: pl.DataFrame, phases: pl.DataFrame) -> pl.DataFrame:
    """Which ranges lie inside a phase of their thread, and which hold one: range_id,
    is_inside_phase, holds_phase."""
    phase = phases.select("thread_id", phase_start="start_ns", phase_end="end_ns").sort(
        "phase_start"
    )
    opened = ranges.select("range_id", "thread_id", "start_ns", "end_ns").sort("start_ns")
    before = opened.join_asof(
        phase, left_on="start_ns", right_on="phase_start", by="thread_id", check_sortedness=False
    )
    after = opened.join_asof(
        phase,
        left_on="start_ns",
        right_on="phase_start",
        by="thread_id",
        strategy="forward",
        check_sortedness=False,
    )
    return before.select(
        "range_id",
        is_inside_phase=(pl.col("phase_end") >= pl.col("end_ns")).fill_null(False),
        holds_phase=(after["phase_end"] <= after["end_ns"]).fill_null(False),
    )


def _from_phase_cycle(ranges: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Iterations from phases that nothing encloses: each begins with the first phase after an
    optimizer's end, or, without optimizers, with each phase of the kind that comes first."""
    found = []
    for (process_id,), phases in ranges.filter(pl.col("role").is_not_null()).group_by("process_id"):
        ordered = phases.sort("start_ns")
        main = ordered.filter(pl.col("thread_id") == ordered["thread_id"].mode().first())
        starts = _cycle_starts(main)
        if len(starts) < settings.min_iterations:
            continue
        last_end = main["end_ns"].max()
        found.append(
            pl.DataFrame(
                {
                    "process_id": process_id,
                    "name": [f"cycle {i}" for i in range(len(starts))],
                    "thread_id": main["thread_id"][0],
                    "start_ns": starts,
                    "end_ns": [*(s - 1 for s in starts[1:]), last_end],
                    "range_id": None,
                    "is_open": False,
                }
            )
        )
    if not found:
        return pl.DataFrame(schema=_SCHEMA)
    return _rows(pl.concat(found), "cycle of phases", "medium")


def _cycle_starts(phases: pl.DataFrame) -> list[int]:
    """When each cycle begins: with the first phase, and with the first behind each update. Phases
    within another (a profiler's Optimizer.step within the program's own) are part of it; clipping,
    the step and zeroing gradients are one update, in one range or several."""
    ordered = phases.sort("start_ns", "end_ns", descending=[False, True])
    begun = pl.col("start_ns") >= pl.col("end_ns").cum_max().shift(1)
    outer = ordered.filter(begun.fill_null(True))
    is_update = pl.col("role") == "optimizer"
    if outer.select(is_update.any() & ~is_update.all()).item():
        behind = outer.with_columns(updates=is_update.cum_sum())
        first = behind.filter(~pl.col("role").is_in(["optimizer", "zero_grad"]))
        starts = first.unique("updates", keep="first", maintain_order=True)["start_ns"].to_list()
        return sorted({outer["start_ns"][0], *starts[1:]})
    return outer.filter(pl.col("role") == outer["role"][0])["start_ns"].to_list()


def _from_kernels(kernels: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Iterations from the periodic sequence of kernels of each process's busiest device."""
    found = []
    for (process_id,), sequence in kernels.group_by("process_id"):
        busiest = sequence["device_id"].value_counts(sort=True)["device_id"][0]
        ordered = sequence.filter(pl.col("device_id") == busiest).sort("position")
        period = _periodicity.find(ordered, settings)
        if period is None:
            continue
        starts = ordered["call_start_ns"].gather(period.starts).to_list()
        found.append(
            pl.DataFrame(
                {
                    "process_id": process_id,
                    "name": [f"period {i}" for i in range(len(starts))],
                    "thread_id": None,
                    "start_ns": starts,
                    "end_ns": [*(s - 1 for s in starts[1:]), ordered["call_start_ns"].max()],
                    "range_id": None,
                    "is_open": False,
                    "confidence": "high" if period.match >= settings.sure_match else "medium",
                }
            )
        )
    if not found:
        return pl.DataFrame(schema=_SCHEMA)
    rows = pl.concat(found)
    return _rows(rows, "sequence of kernels", "").with_columns(confidence=rows["confidence"])
