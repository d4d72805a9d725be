"""The raw tables of a torch.profiler trace, and the categories of events that fill them."""

from __future__ import annotations

import pyarrow as pa

_INT, _TEXT = pa.int64(), pa.string()
_TIMED = {"start": _INT, "end": _INT}
_HOST = {**_TIMED, "thread": _INT, "name_id": _INT}

SCHEMA: dict[str, dict[str, pa.DataType]] = {
    "gpu_op": {
        **_TIMED, "place": _INT, "kind": _INT, "name_id": _INT, "lane_pid": _INT, "device": _INT,
        "context": _INT,
        "stream": _INT, "original_stream": _INT, "correlation": _INT, "bytes": _INT, "graph_node":
        _INT,
        "grid": _INT, "block": _INT, "label_id": _INT, "phase_id": _INT,
    },
    "collective": {
        "place": _INT, "collective": _TEXT, "group_name": _TEXT, "group_text": _TEXT,
        "group_size": _INT,
        "sequence": _INT, "elements": _INT, "dtype": _TEXT,
    },
    "call": {**_HOST, "correlation": _INT},
    "cpu_op": {**_HOST, "sequence": _INT, "forward": _INT, "shapes_id": _INT},
    "annotation": {**_HOST, "finished": _TEXT},
    "overhead": _HOST,
    "python_frame": _HOST,
    "memory": {
        "start": _INT, "thread": _INT, "device": _INT, "device_type": _INT, "bytes": _INT,
        "address": _INT,
        "allocated": _INT, "reserved": _INT,
    },
    "sync": {
        **_TIMED, "name_id": _INT, "device": _INT, "stream": _INT, "event": _INT, "correlation":
        _INT,
        "waited_stream": _INT, "record_correlation": _INT,
    },
    "event_record": {"device": _INT, "stream": _INT, "event": _INT, "correlation": _INT},
    "string": {"id": _INT, "value": _TEXT},
    "thread": {"key": _INT, "process": _INT, "tid": _INT, "name": _TEXT},
    "process": {"key": _INT, "pid": _INT, "name": _TEXT, "rank": _INT, "is_main": pa.bool_()},
    "device": {"ordinal": _INT, "name": _TEXT, "uuid": _TEXT, "sm_count": _INT},
    "capture": {"utc_start": _INT, "end": _INT, "rank": _INT},
}  # fmt: skip
"""Every raw table with its columns. Times are nanoseconds; an ``*_id`` is one of ``string``, or
-1."""

TABLE_OF_CATEGORY = {
    "kernel": "kernel", "gpu_memcpy": "memcpy", "memcpy": "memcpy", "gpu_memset": "memset",
    "memset": "memset",
    "runtime": "call", "cuda_runtime": "call", "cuda_driver": "call", "hip_runtime": "call",
    "hip_driver": "call",
    "xpu_runtime": "call", "xpu_driver": "call", "mtia_runtime": "call", "privateuse1_runtime":
    "call",
    "privateuse1_driver": "call", "cpu_op": "cpu_op", "operator": "cpu_op", "user_annotation":
    "annotation",
    "python_function": "python_frame",
    "overhead": "overhead", "cpu_instant_event": "memory", "cuda_sync": "sync", "cuda_event":
    "event_record",
}  # fmt: skip
"""The table of each category of events, in lower case; the other categories are not read."""
