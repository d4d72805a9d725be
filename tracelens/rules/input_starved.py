"""input-starved: the GPU waits for the host to bring the next batch.

The finding: in a typical iteration the GPU has nothing left to do, and the host, between two
iterations or in the data phase, makes no CUDA call for longer than dispatch ever takes.

The cause: the next batch is made in the training process itself (``num_workers=0``), or the
workers make batches more slowly than the GPU takes them; or the step before the next launch is
Python work such as tokenising, augmenting or logging.

The cure: more data-loader workers and prefetching, decoding and augmenting on the GPU, batches
prepared ahead of time. Cutting GPU time does not help: the wait only grows by what was saved.

Not this finding: a stall in few iterations only (irregular-iterations), a copy that takes long
(transfer-bound), and any host time that queued GPU work hides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import Diagnosis
from tracelens.rules._idle import IDLE_READS, idle_of
from tracelens.rules._shared import without_host_side

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "input-starved"
READS = IDLE_READS
CONSEQUENCE_OF = {"rank-straggler": "input"}

not_checked = without_host_side


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The median iteration's wait for input: a rare stall leaves the median at zero."""
    idle = idle_of(frames, ID)
    if idle is None:
        return
    place = idle.row["open_range"]
    yield Diagnosis(
        id=ID,
        title=f"The GPU waits {idle.of_period} for its next batch",
        **idle.worth.fields,
        evidence=[*idle.evidence("idle_waiting_for_input"), idle.longest, *idle.python_frame],
        where=idle.steady.where(ranges=[place] if place else []),
        explanation="The GPU had finished all queued work and the host launched nothing: between "
        "two iterations, or inside its data phase, it made no CUDA call at all. Time on the GPU "
        "is bounded by how fast batches arrive, so faster kernels would only wait longer."
        + idle.in_python,
        hypothesis="The batch is prepared in the training process, or the data-loader workers are "
        "slower than the GPU.",
        next_steps=[
            "Confirm: repeat one batch that already lies on the GPU (batch = next(iter(loader)) "
            "before the loop). If the period falls by about the worth, the input is to blame.",
            "DataLoader(..., num_workers=N, persistent_workers=True, prefetch_factor=4, "
            "pin_memory=True), and batch.to(device, non_blocking=True) one iteration ahead.",
            "If all workers are busy already: decode and augment on the GPU, or store the data "
            "set preprocessed.",
        ],
        caveats=[
            "Host work between iterations that is not input (logging, a metric, a scheduler) looks "
            "the same unless a range marks it.",
            *idle.worth.caveats,
        ],
    )
