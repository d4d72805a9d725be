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
from tracelens.rules._shared import (
    HOST_READS,
    NOISE_SHARE,
    first_row,
    ms,
    share_evidence,
    steady_state,
    without_host_side,
    worth,
)

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "host-sync"
READS = (*HOST_READS, "idle_by_finding")
CONSEQUENCE_OF = {"rank-straggler": "sync"}
MIN_SHARE = NOISE_SHARE

not_checked = without_host_side


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The median iteration's idle time behind blocking calls."""
    steady, idle = steady_state(frames), first_row(frames, "idle_by_finding", finding=ID)
    if steady is None or idle is None:
        return
    idle_ms = steady.within(ms(idle["median_ns"]))
    if steady.share(idle_ms) < MIN_SHARE:
        return
    value = worth(frames, steady, ID, idle_ms)
    if value is None:
        return
    call, place = idle["call_name"] or "a blocking call", idle["open_range"] or idle["role"]
    yield Diagnosis(
        id=ID,
        title=f"{idle_ms:.1f} ms of each {steady.median_period_ms:.1f} ms iteration the GPU idles "
        f"behind {call}",
        **value.fields,
        evidence=[
            Evidence("idle_behind_blocking_calls", idle_ms, "ms/iteration"),
            share_evidence("share_of_period", steady.share(idle_ms), MIN_SHARE),
            Evidence("calls_with_idle_behind", idle["calls"], "calls/iteration"),
            Evidence("call", call),
        ],
        where=steady.where(ranges=[place] if place else []),
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
            *value.caveats,
        ],
    )
