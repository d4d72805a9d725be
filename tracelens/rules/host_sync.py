"""host-sync: blocking calls drain the GPU's queue in every iteration.

The finding: the GPU idles behind calls in which the host waited for it: until the call returns
nothing new is launched, so that the queue runs empty and has to be filled again.

The cause: a value is read back in the loop: ``loss.item()``, ``.cpu()``, ``.tolist()``, ``if``
on a tensor, printing one, boolean indexing and ``nonzero`` (their result's size must be known), or
an explicit ``torch.cuda.synchronize()``.

The cure: read values rarely, or late: keep losses on the GPU and read them every N iterations, copy
with ``non_blocking=True`` into pinned memory and read after the next iteration was launched.

Not this finding: a wait at the end of which the GPU would have been done anyway, with no idle time
behind it. A wait may be long and free. Waits that belong to copies to the GPU are told with those
(transfer-bound, repeated-small-copies).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules._idle import IDLE_READS, idle_of
from tracelens.rules._shared import without_host_side

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "host-sync"
READS = IDLE_READS
CONSEQUENCE_OF = {"rank-straggler": "sync"}

not_checked = without_host_side


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The median iteration's idle time behind blocking calls."""
    idle = idle_of(frames, ID)
    if idle is None:
        return
    call = idle.row["call_name"] or "a blocking call"
    yield Diagnosis(
        id=ID,
        title=f"{idle.of_period} the GPU idles behind {call}",
        **idle.worth.fields,
        evidence=[
            *idle.evidence("idle_behind_blocking_calls"),
            Evidence("calls_with_idle_behind", idle.row["calls"], "calls/iteration"),
            Evidence("call", call),
        ],
        where=idle.steady.where(ranges=[idle.place] if idle.place else []),
        explanation="The host waited until the GPU had finished all it was given, and only then "
        "went on to launch. From that moment to the next launch the GPU has nothing to do, and "
        "it stays short of work until the host is ahead of it again.",
        hypothesis="A tensor's value is read in the loop (.item(), .cpu(), a condition on a "
        "tensor, boolean indexing), or torch.cuda.synchronize() is called.",
        next_steps=[
            "Confirm: torch.cuda.set_sync_debug_mode('warn') for one iteration prints the line of "
            "each wait; take them out once and compare the period.",
            "Keep losses and metrics on the GPU (total += loss.detach()) and read them every N "
            "iterations.",
            "Where a value is needed: value = t.to('cpu', non_blocking=True), record an event, and "
            "read it after the next iteration was launched.",
        ],
        caveats=[
            "Where the value decides what runs next (sampling a token, early stopping) the wait "
            "cannot go; launching less in between, with CUDA graphs, shortens what follows it.",
            *idle.worth.caveats,
        ],
    )
