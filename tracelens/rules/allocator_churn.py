"""allocator-churn: device memory is allocated and freed in every iteration.

The finding: cudaMalloc, cudaFree and their kin are called in the steady state, and the GPU idles
behind them.

The cause: PyTorch's caching allocator serves steady iterations without any of these calls. They
appear when the cache is emptied in the loop (``torch.cuda.empty_cache()``), when memory is so short
that blocks are freed and allocated again, when sizes change each iteration and fragment the cache,
or with an allocator that does not cache. cudaFree waits for the whole device.

The cure: no ``empty_cache()`` in the loop; ``expandable_segments:True``; batches padded to a few
sizes; a smaller batch where memory is short.

Not this finding: allocations of the first iterations, which fill the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules._idle import IDLE_READS, idle_of
from tracelens.rules._shared import first_row, ms, without_host_side

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "allocator-churn"
READS = (*IDLE_READS, "allocator_churn")
CONSEQUENCE_OF = {"rank-straggler": "allocator"}

not_checked = without_host_side


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The median iteration's idle time behind allocator calls."""
    idle, calls = idle_of(frames, ID), first_row(frames, "allocator_churn")
    if idle is None or calls is None:
        return
    place = idle.row["open_range"]
    yield Diagnosis(
        id=ID,
        title=f"{calls['allocations']:.0f} allocations and {calls['releases']:.0f} releases of "
        f"device memory an iteration leave the GPU idle for {idle.ms:.1f} ms",
        **idle.worth.fields,
        evidence=[
            *idle.evidence("idle_behind_allocator_calls"),
            Evidence("allocations", calls["allocations"], "calls/iteration"),
            Evidence("releases", calls["releases"], "calls/iteration"),
            Evidence("time_in_these_calls", ms(calls["call_ns"]), "ms/iteration"),
        ],
        where=idle.steady.where(ranges=[place] if place else []),
        explanation="Each of these calls goes to the driver, takes tens to hundreds of "
        "microseconds, and cudaFree first waits until the device is idle. Nothing is launched "
        "meanwhile, so that the GPU runs out of work. A caching allocator needs none of them once "
        "its cache is warm.",
        hypothesis="torch.cuda.empty_cache() is called in the loop, or memory is so short that "
        "cached blocks are given back and taken anew.",
        next_steps=[
            "Confirm: compare torch.cuda.memory_stats()['num_device_alloc'] before and after an "
            "iteration: it must not grow. 'num_alloc_retries' above zero: memory is short.",
            "Remove torch.cuda.empty_cache() (and gc.collect() beside it) from the loop.",
            "Short memory, varying sizes: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, "
            "pad batches to a few sizes, or reduce the batch.",
        ],
        caveats=[
            "Libraries that allocate outside PyTorch (NCCL, CuPy) show the same calls.",
            *idle.worth.caveats,
        ],
    )
