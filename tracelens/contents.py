"""What a recording holds, what it lacks, what that prevents, and how to record it next time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracelens.engine import Engine


@dataclass(frozen=True)
class Kind:
    """A kind of record: where it is, what is lost without it, and what brings it.

    ``when`` is a condition on the whole recording in SQL: without it the kind is not missed.
    """

    what: str
    relation: str
    condition: str = "true"
    lost: str = ""
    nsys: str = ""
    torch: str = ""
    when: str = "true"


@dataclass(frozen=True)
class Content:
    """How many records of a kind there are, and what to know where there is none."""

    what: str
    rows: int
    lost: str = ""
    advice: str = ""


KINDS = (
    Kind(
        "kernels", "gpu_op", "kind = 'kernel'",
        "nothing can be said about the GPU",
        "nsys profile --trace=cuda,nvtx", "profile(activities=[CPU, CUDA])",
        when="NOT EXISTS (FROM gpu_op WHERE kind = 'graph')",
    ),
    Kind("memory copies", "gpu_op", "kind = 'memcpy'"),
    Kind("memsets", "gpu_op", "kind = 'memset'"),
    Kind("CUDA graphs traced whole", "gpu_op", "kind = 'graph'"),
    Kind("records without a time", "lost_op"),
    Kind(
        "CUDA calls", "api_call", "true",
        "idle time has no cause, and work has no phase",
        "nsys profile --trace=cuda,nvtx", "profile(activities=[CPU, CUDA])",
    ),
    Kind(
        "ranges", "host_range", "true",
        "iterations must be guessed from the kernels, and there are no phases",
        'nsys profile --trace=cuda,nvtx, and torch.cuda.nvtx.range("forward") in the program',
        'record_function("forward") in the program, and profiler.step()',
    ),
    Kind("marks", "host_mark"),
    Kind(
        "nodes of CUDA graphs", "graph_node", "true",
        "work inside CUDA graphs has no phase",
        "nsys profile --cuda-graph-trace=node",
        when="EXISTS (FROM api_call JOIN api_kind USING (name_id) WHERE kind = 'graph_launch')",
    ),
    Kind(
        "waits between streams", "stream_wait", "true",
        "which stream waited for which must be inferred",
        "a newer nsys: it then records synchronisation by itself",
        when="(SELECT count(DISTINCT stream_id) FROM gpu_op) > 1",
    ),
    Kind(
        "operating system calls", "os_call", "true",
        "what the host waited for, where it was in no CUDA call, stays unknown",
        "nsys profile --trace=cuda,nvtx,osrt",
    ),
    Kind(
        "device memory allocations", "memory_event", "true",
        "memory use stays unknown",
        "nsys profile --cuda-memory-usage=true", "profile(profile_memory=True)",
    ),
    Kind(
        "physical GPUs", "device_info", "true",
        "the GPU has no name, and ranks on one GPU can't be told apart",
        "nsys export of a report from a GPU machine", "a newer PyTorch",
    ),
    Kind("named threads", "thread_info"),
    Kind("profiler overhead", "profiler_overhead"),
)  # fmt: skip
"""In the order in which they are told. ``when`` may read gpu_op, api_call and api_kind."""


def contents(engine: Engine) -> list[Content]:
    """Every kind of record with its number of rows; advice where one is missed."""
    engine.need("api_kind", *dict.fromkeys(kind.relation for kind in KINDS))
    is_torch = any(source.info.staging == "kineto" for source in engine.sources)
    return [_content(engine, kind, is_torch) for kind in KINDS]


def _content(engine: Engine, kind: Kind, is_torch: bool) -> Content:
    count = "coalesce(sum(count), 0)" if kind.relation == "lost_op" else "count(*)"
    query = f'SELECT {count}::BIGINT, {kind.when} FROM "{kind.relation}" WHERE {kind.condition}'
    rows, is_missed = engine.connection.execute(query).fetchall()[0]
    advice = kind.torch if is_torch else kind.nsys
    if rows or not is_missed or not advice:
        return Content(kind.what, rows)
    return Content(kind.what, rows, kind.lost, advice)


def missing(found: Iterable[Content]) -> list[Content]:
    """Those whose absence prevents something."""
    return [content for content in found if content.lost]
