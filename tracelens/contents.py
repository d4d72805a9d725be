"""What a recording holds, what it lacks, what that prevents, and how to record it next time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracelens.loaders.contents import Contents, RecordedDevice

if TYPE_CHECKING:
    from tracelens.engine import Engine


@dataclass(frozen=True)
class Kind:
    """A kind of record: where it is, what is lost without it, and what brings it."""

    what: str
    relation: str
    condition: str = "true"
    lost: str = ""
    nsys: str = ""
    torch: str = ""
    when: Callable[[Contents], bool] = lambda found: True
    """Whether it is missed, where a recording has none."""
    one: str = ""
    """What one of them is called, where that is different."""

    def named(self, number: int) -> str:
        """What so many of them are called."""
        return self.one or self.what if number == 1 else self.what


@dataclass(frozen=True)
class Missing:
    """A kind of record that a recording lacks, what that prevents, and how to record it."""

    what: str
    lost: str
    advice: str


KINDS = (
    Kind(
        "kernels", "gpu_op", "kind = 'kernel'",
        "nothing can be said about the GPU",
        "nsys profile --trace=cuda,nvtx", "profile(activities=[CPU, CUDA])",
        when=lambda found: not found.rows["CUDA graphs traced whole"],
        one="kernel",
    ),
    Kind("memory copies", "gpu_op", "kind = 'memcpy'", one="memory copy"),
    Kind("memsets", "gpu_op", "kind = 'memset'", one="memset"),
    Kind("CUDA graphs traced whole", "gpu_op", "kind = 'graph'", one="CUDA graph traced whole"),
    Kind("records without a time", "lost_op", one="record without a time"),
    Kind(
        "CUDA calls", "api_call", "true",
        "idle time has no cause, and work has no phase",
        "nsys profile --trace=cuda,nvtx", "profile(activities=[CPU, CUDA])",
        one="CUDA call",
    ),
    Kind(
        "ranges", "host_range", "true",
        "iterations must be guessed from the kernels, and there are no phases",
        'nsys profile --trace=cuda,nvtx, and torch.cuda.nvtx.range("forward") in the program',
        'record_function("forward") in the program, and profiler.step()',
        one="range",
    ),
    Kind("marks", "host_mark", one="mark"),
    Kind(
        "nodes of CUDA graphs", "graph_node", "true",
        "work inside CUDA graphs has no phase",
        "nsys profile --cuda-graph-trace=node",
        when=lambda found: found.launches_graphs,
        one="node of CUDA graphs",
    ),
    Kind(
        "waits between streams", "stream_wait", "true",
        "which stream waited for which must be inferred",
        "a newer nsys: it then records synchronisation by itself",
        when=lambda found: found.has_several_streams,
        one="wait between streams",
    ),
    Kind(
        "operating system calls", "os_call", "true",
        "what the host waited for, where it was in no CUDA call, stays unknown",
        "nsys profile --trace=cuda,nvtx,osrt",
        one="operating system call",
    ),
    Kind(
        "device memory allocations", "memory_event", "true",
        "memory use stays unknown",
        "nsys profile --cuda-memory-usage=true", "profile(profile_memory=True)",
        one="device memory allocation",
    ),
    Kind(
        "physical GPUs", "device_info", "process_pid IS NULL",
        "the GPU has no name, and ranks on one GPU can't be told apart",
        "nsys export of a report from a GPU machine", "a newer PyTorch",
        one="physical GPU",
    ),
    Kind("named threads", "thread_info", one="named thread"),
    Kind("profiler overhead", "profiler_overhead"),
)  # fmt: skip
"""In the order in which they are told."""


def missing(found: Contents, *, is_torch: bool) -> Iterator[Missing]:
    """The kinds whose absence prevents something."""
    for kind in KINDS:
        advice = kind.torch if is_torch else kind.nsys
        if advice and not found.rows[kind.what] and kind.when(found):
            yield Missing(kind.what, kind.lost, advice)


def staged(engine: Engine) -> Contents:
    """Count what the staged relations hold, whatever format they are from."""
    engine.need("api_kind", "device", "process", *dict.fromkeys(kind.relation for kind in KINDS))
    ((start, end, launches_graphs, has_several_streams),) = _rows(engine, _WHOLE)
    return Contents(
        rows={kind.what: _count(engine, kind) for kind in KINDS},
        start_ns=start,
        end_ns=end,
        devices=tuple(RecordedDevice(*row) for row in _rows(engine, _DEVICES)),
        launches_graphs=launches_graphs,
        has_several_streams=has_several_streams,
    )


_WHOLE = """
SELECT
    min(start_ns),
    max(end_ns),
    EXISTS (FROM api_call JOIN api_kind USING (name_id) WHERE kind = 'graph_launch'),
    (SELECT count(DISTINCT stream_id) > 1 FROM gpu_op)
FROM (
    SELECT start_ns, end_ns FROM gpu_op
    UNION ALL SELECT start_ns, end_ns FROM api_call
    UNION ALL SELECT start_ns, end_ns FROM host_range
    UNION ALL SELECT at_ns, at_ns FROM host_mark
)
"""
_DEVICES = """
SELECT p.name, d.ordinal, d.rank, d.name, used.operations
FROM device AS d
JOIN (SELECT device_id, count(*) AS operations FROM gpu_op GROUP BY ALL) AS used USING (device_id)
JOIN process AS p USING (process_id)
ORDER BY d.device_index
"""


def _count(engine: Engine, kind: Kind) -> int:
    count = "coalesce(sum(count), 0)" if kind.relation == "lost_op" else "count(*)"
    ((rows,),) = _rows(
        engine, f'SELECT {count}::BIGINT FROM "{kind.relation}" WHERE {kind.condition}'
    )
    return int(rows)


def _rows(engine: Engine, query: str) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = engine.connection.execute(query).fetchall()
    return rows
