"""The tables of an Nsight Systems export that tracelens reads, and the columns it uses of each.

Exports from 2020 to 2026 differ in names and columns: what is missing is read as NULL, and what is
not named here (environments, command lines, standard output) is never read at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_ID = "int64"
_GPU = {
    "start": _ID, "end": _ID, "deviceId": _ID, "contextId": _ID, "streamId": _ID,
    "correlationId": _ID, "globalPid": _ID,
}  # fmt: skip


@dataclass(frozen=True)
class RawTable:
    """A table that staging reads: its columns with Arrow types, and its names in other versions."""

    columns: dict[str, str]
    aliases: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    """Columns that tell it from another table of the same name."""
    only: str = ""
    """A condition on the rows wanted, in SQL that SQLite and DuckDB both take."""


TABLES: dict[str, RawTable] = {
    "CUPTI_ACTIVITY_KIND_KERNEL": RawTable(
        {
            **_GPU, "graphNodeId": _ID, "demangledName": _ID, "shortName": _ID,
            "gridX": _ID, "gridY": _ID, "gridZ": _ID, "blockX": _ID, "blockY": _ID, "blockZ": _ID,
        }
    ),
    "CUPTI_ACTIVITY_KIND_MEMCPY": RawTable(
        {**_GPU, "graphNodeId": _ID, "bytes": _ID, "copyKind": _ID, "srcKind": _ID, "dstKind": _ID}
    ),
    "CUPTI_ACTIVITY_KIND_MEMSET": RawTable(
        {**_GPU, "graphNodeId": _ID, "bytes": _ID}
    ),
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": RawTable({**_GPU}),
    "CUPTI_ACTIVITY_KIND_RUNTIME": RawTable(
        {"start": _ID, "end": _ID, "nameId": _ID, "globalTid": _ID, "correlationId": _ID}
    ),
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": RawTable(
        {
            "deviceId": _ID, "streamId": _ID, "correlationId": _ID, "globalPid": _ID,
            "eventId": _ID,
        }
    ),
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": RawTable(
        {
            "deviceId": _ID, "streamId": _ID, "correlationId": _ID, "globalPid": _ID,
            "eventId": _ID,
        }
    ),
    "CUDA_GRAPH_NODE_EVENTS": RawTable(
        {
            "start": _ID, "globalTid": _ID, "graphNodeId": _ID, "originalGraphNodeId": _ID,
        },
        aliases=("CUDA_GRAPH_EVENTS",),
        required=("graphNodeId",),
    ),
    "NVTX_EVENTS": RawTable(
        {
            "start": _ID, "end": _ID, "eventType": _ID, "category": _ID, "color": _ID,
            "text": "string", "globalTid": _ID, "endGlobalTid": _ID, "textId": _ID,
            "domainId": _ID, "uint64Value": _ID, "int64Value": _ID, "doubleValue": "float64",
            "uint32Value": _ID, "int32Value": _ID, "floatValue": "float64",
        }
    ),
    "PROFILER_OVERHEAD": RawTable(
        {"start": _ID, "end": _ID, "globalTid": _ID, "nameId": _ID},
        aliases=("CUPTI_ACTIVITY_KIND_OVERHEAD",),
    ),
    "OSRT_API": RawTable({"start": _ID, "end": _ID, "globalTid": _ID, "nameId": _ID}),
    "CUDA_GPU_MEMORY_USAGE_EVENTS": RawTable(
        {
            "start": _ID, "globalPid": _ID, "deviceId": _ID, "address": _ID, "bytes": _ID,
            "memoryOperationType": _ID,
        }
    ),
    "StringIds": RawTable({"id": _ID, "value": "string"}),
    "PROCESSES": RawTable({"globalPid": _ID, "pid": _ID, "name": "string"}),
    "ThreadNames": RawTable({"nameId": _ID, "priority": _ID, "globalTid": _ID}),
    "TARGET_INFO_GPU": RawTable(
        {
            "id": _ID, "deviceId": _ID, "name": "string", "uuid": "string", "cuDevice": _ID,
            "smCount": _ID,
        }
    ),
    "TARGET_INFO_CUDA_DEVICE": RawTable({"gpuId": _ID, "cudaId": _ID, "pid": _ID}),
    "TARGET_INFO_SESSION_START_TIME": RawTable({"utcEpochNs": _ID}),
    "ANALYSIS_DETAILS": RawTable({"duration": _ID}),
    "MPI_RANKS": RawTable({"globalTid": _ID, "rank": _ID}),
    "META_DATA_EXPORT": RawTable(
        {"name": "string", "value": "string"}, aliases=("EXPORT_META_DATA",)
    ),
}  # fmt: skip


def find_table(name: str, present: Mapping[str, set[str]]) -> str | None:
    """What a table is called in an export that has the tables ``present``, by their columns."""
    spec = TABLES[name]
    for base in (name, *spec.aliases):
        for candidate in (base, f"{base}_V2"):
            if candidate in present and set(spec.required) <= present[candidate]:
                return candidate
    return None


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
