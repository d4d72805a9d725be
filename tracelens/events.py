"""Every event of a run as plain frames, for exports. Times are nanoseconds on the trace's clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from tracelens.engine import Engine

Events = Mapping[str, "pl.DataFrame"]

_READS = (
    "process", "device", "thread_info", "gpu_op", "op_name", "op_phase", "api_call",
    "api_name", "host_range", "iteration_window", "phase_instance", "idle_cause",
)  # fmt: skip
_QUERIES = {
    "processes": "SELECT process_index, pid, name, rank FROM process ORDER BY process_index",
    "devices": ("SELECT device_index, ordinal, name, rank FROM device ORDER BY device_index"),
    "threads": (
        "SELECT p.process_index, t.thread_id & 16777215 AS tid, t.name FROM thread_info AS t"
        " JOIN process AS p ON p.process_id = t.thread_id >> 24 WHERE t.name IS NOT NULL"
    ),
    "operations": (
        "SELECT d.device_index, d.ordinal, o.kind, coalesce(n.name, o.kind) AS name, o.start_ns,"
        " o.end_ns, o.context_id, o.stream_id, o.correlation_id, o.graph_node_id, o.bytes,"
        " p.phase, p.iteration_index FROM gpu_op AS o"
        " JOIN device AS d ON o.device_id = d.device_id"
        " LEFT JOIN op_name AS n ON o.name_id = n.name_id"
        " LEFT JOIN op_phase AS p ON o.op_id = p.op_id ORDER BY o.start_ns, o.end_ns"
    ),
    "calls": (
        "SELECT p.process_index, c.thread_id & 16777215 AS tid, coalesce(n.name, 'call') AS name,"
        " c.start_ns, c.end_ns, c.correlation_id FROM api_call AS c"
        " JOIN process AS p ON c.process_id = p.process_id"
        " LEFT JOIN api_name AS n ON c.name_id = n.name_id ORDER BY c.start_ns, c.end_ns DESC"
    ),
    "ranges": (
        "SELECT p.process_index, r.thread_id & 16777215 AS tid, r.style, r.domain,"
        " coalesce(r.name, '') AS name, r.start_ns, r.end_ns FROM host_range AS r"
        " JOIN process AS p ON r.process_id = p.process_id ORDER BY r.start_ns, r.end_ns DESC"
    ),
    "iterations": (
        "SELECT d.device_index, w.iteration_index, w.name, w.start_ns, w.last_end_ns AS end_ns,"
        " w.is_steady FROM iteration_window AS w JOIN device AS d ON w.device_id = d.device_id"
        " ORDER BY w.start_ns"
    ),
    "phases": (
        "SELECT d.device_index, p.iteration_index, p.phase, coalesce(p.name, p.phase) AS name,"
        " p.start_ns, p.end_ns, p.busy_ns, p.kernels FROM phase_instance AS p"
        " JOIN device AS d ON p.device_id = d.device_id ORDER BY p.start_ns, p.end_ns DESC"
    ),
    "idle": (
        "SELECT d.device_index, c.iteration_index, c.cause, c.start_ns, c.end_ns, c.idle_ns,"
        " c.call_name, c.open_range FROM idle_cause AS c"
        " JOIN device AS d ON c.device_id = d.device_id ORDER BY c.start_ns, c.end_ns DESC"
    ),
}


def collect(engine: Engine) -> dict[str, pl.DataFrame]:
    """Frames ``processes, devices, threads, operations, calls, ranges, iterations, phases, idle``.

    One row is one event; ``process_index`` and ``device_index`` are those of the report.
    """
    engine.need(*_READS)
    return {name: engine.frame_of(query) for name, query in _QUERIES.items()}
