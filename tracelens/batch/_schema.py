"""The tables of an archive: what one row is, and its columns. ``docs/batch.md`` prints this."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

VERSION = 1
"""Raised where a column changes its meaning: every run is then analysed again."""
_TEXT, _NUMBER, _COUNT = pa.string(), pa.float64(), pa.int64()
_TIME = pa.timestamp("us", "UTC")


@dataclass(frozen=True)
class Column:
    """A column, its type, and what it says."""

    type: pa.DataType
    text: str


@dataclass(frozen=True)
class Table:
    """A table: what one row is, and its columns after ``run_key`` and ``run``."""

    row: str
    columns: dict[str, Column]

    @property
    def schema(self) -> pa.Schema:
        """The columns with their types, the keys first."""
        return pa.schema([(name, column.type) for name, column in self.all().items()])

    def all(self) -> dict[str, Column]:
        """Every column, the keys first."""
        return {**_KEYS, **self.columns}


_KEYS = {
    "run_key": Column(_TEXT, "the run: the same in all tables, and in later batches"),
    "run": Column(_TEXT, "its name: its file, or what the files of its ranks share"),
}
TABLES: dict[str, Table] = {
    "runs": Table(
        "one run, analysed or not",
        {
            "files": Column(pa.list_(_TEXT), "its recordings"),
            "status": Column(
                _TEXT,
                "ok; error: its files cannot be read; failed: memory, disk or worker gave out",
            ),
            "error": Column(_TEXT, "what is wrong, NULL where nothing is"),
            "hint": Column(_TEXT, "what to do about it"),
            "recorded_at": Column(
                _TIME, "start of the recording; time of its file where not recorded"
            ),
            "format": Column(_TEXT, "format of its files"),
            "producer": Column(_TEXT, "recorder and version"),
            "gpus": Column(pa.list_(_TEXT), "model of each device"),
            "ranks": Column(_COUNT, "files of the run"),
            "span_ms": Column(_NUMBER, "first to last event"),
            "kernels": Column(_COUNT, "kernels in the whole recording"),
            "iterations": Column(_COUNT, "iterations"),
            "steady_periods": Column(_COUNT, "those that medians are taken over, on all devices"),
            "iteration_method": Column(_TEXT, "how iterations were found"),
            "confidence": Column(_TEXT, "how surely: high, medium or low"),
            "period_ms": Column(_NUMBER, "median period"),
            "period_p10_ms": Column(_NUMBER, "a tenth of the periods are shorter"),
            "period_p90_ms": Column(_NUMBER, "a tenth are longer"),
            "period_mean_ms": Column(_NUMBER, "mean period, which rare stalls raise"),
            "samples_per_second": Column(_NUMBER, "with --samples"),
            "idle_share": Column(
                _NUMBER, "idle in an ordinary iteration, share of one, over devices"
            ),
            "exposed_share": Column(_NUMBER, "communication that nothing hides, likewise"),
            "backward_over_forward": Column(_NUMBER, "median ratio of their GPU spans"),
            "findings": Column(_COUNT, "findings of severity high or medium"),
            "top_finding": Column(_TEXT, "the first of them"),
            "recoverable_ms": Column(_NUMBER, "what that is worth in an iteration"),
            "warnings": Column(pa.list_(_TEXT), "codes of coverage warnings"),
            "analysed_at": Column(_TIME, "when"),
            "analysis_s": Column(_NUMBER, "seconds that it took"),
            "tool_version": Column(_TEXT, "version of tracelens"),
            "tool": Column(_TEXT, "fingerprint of its code"),
            "options": Column(_TEXT, "fingerprint of the options"),
            "state": Column(
                _TEXT, "size and times of the files: while these stay, so does the run"
            ),
            "content": Column(_TEXT, "SHA-256 of their content, NULL for remote ones"),
        },
    ),
    "iterations": Table(
        "one iteration on one device",
        {
            "device": Column(_COUNT, "the device"),
            "iteration": Column(_COUNT, "the iteration"),
            "name": Column(_TEXT, "name of its range"),
            "start_ms": Column(_NUMBER, "start of its first operation on the trace clock"),
            "period_ms": Column(_NUMBER, "to the start of the next, NULL for the last"),
            "gap_ms": Column(_NUMBER, "from its last operation to the next, NULL for the last"),
            "is_steady": Column(pa.bool_(), "whether medians count it"),
        },
    ),
    "phases": Table(
        "one phase over all devices",
        {
            "phase": Column(_TEXT, "role, or name where the role is not known"),
            "instances": Column(_COUNT, "how often it ran"),
            "gpu_span_ms": Column(_NUMBER, "median, first operation's start to last one's end"),
            "gpu_span_p10_ms": Column(_NUMBER, "a tenth are shorter"),
            "gpu_span_p90_ms": Column(_NUMBER, "a tenth are longer"),
            "gpu_busy_ms": Column(_NUMBER, "median time in which an operation of it ran"),
            "cpu_ms": Column(_NUMBER, "median length of its range on the host"),
            "kernels": Column(_NUMBER, "median number of kernels"),
            "mean_kernel_us": Column(_NUMBER, "their mean length"),
            "verdict": Column(_TEXT, "what takes most of its time"),
        },
    ),
    "findings": Table(
        "one finding, or one coverage warning",
        {
            "kind": Column(_TEXT, "finding or warning"),
            "finding": Column(_TEXT, "id of the finding, code of the warning"),
            "severity": Column(_TEXT, "high, medium, low or info"),
            "title": Column(_TEXT, "what it says"),
            "recoverable_ms": Column(_NUMBER, "what a fix is worth in an iteration"),
            "share_of_period": Column(_NUMBER, "the same as a share of the period"),
            "device": Column(_COUNT, "where it shows most, NULL where on no one device"),
            "evidence": Column(_TEXT, "JSON: names, values, units, thresholds"),
        },
    ),
    "budget": Table(
        "one part of an ordinary iteration on one device; the parts sum to it",
        {
            "device": Column(_COUNT, "the device"),
            "part": Column(
                _TEXT, "compute, communication (exposed), copy (exposed), idle, unknown"
            ),
            "role": Column(_TEXT, "role of the phase, for compute"),
            "cause": Column(_TEXT, "cause, for idle"),
            "ms": Column(_NUMBER, "time in an iteration"),
            "share": Column(_NUMBER, "share of the iteration"),
        },
    ),
}
