"""host-stall: the host does something else inside a phase while the GPU idles.

The finding: within forward, backward or another phase the host makes no CUDA call for longer than
dispatch ever takes, in a typical iteration, and the GPU has nothing queued.

The cause: Python or C++ work that is not dispatch: a metric or a loss on the CPU, a lock (the GIL
held by another thread), writing a log or a checkpoint, a hook, just-in-time compilation, a page
fault.

The cure: take it out of the phase, out of the thread, or out of the iteration.

Not this finding: pauses between iterations or in the data phase (input-starved), the Python between
two launches (launch-bound), waits for the GPU itself (host-sync), and pauses in few iterations only
(irregular-iterations).
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

ID = "host-stall"
READS = (*HOST_READS, "idle_by_finding")
CONSEQUENCE_OF = {"rank-straggler": "host"}
MIN_SHARE = NOISE_SHARE

not_checked = without_host_side


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The median iteration's idle time in which the host was silent inside a phase."""
    steady, idle = steady_state(frames), first_row(frames, "idle_by_finding", finding=ID)
    if steady is None or idle is None:
        return
    idle_ms = steady.within(ms(idle["median_ns"]))
    if steady.share(idle_ms) < MIN_SHARE:
        return
    value = worth(frames, steady, ID, idle_ms)
    if value is None:
        return
    place = idle["open_range"] or idle["role"]
    yield Diagnosis(
        id=ID,
        title=f"The host is busy elsewhere for {idle_ms:.1f} ms of each "
        f"{steady.median_period_ms:.1f} ms iteration" + (f", inside '{place}'" if place else ""),
        **value.fields,
        evidence=[
            Evidence("idle_while_host_is_silent", idle_ms, "ms/iteration"),
            share_evidence("share_of_period", steady.share(idle_ms), MIN_SHARE),
            Evidence("longest_in_one_iteration", ms(idle["max_ns"]), "ms"),
        ],
        where=steady.where(ranges=[place] if place else []),
        explanation="No CUDA call was made on any thread for far longer than the distance of two "
        "launches, while the GPU had finished its queue. The host was computing, or waiting for "
        "something that is not the GPU.",
        hypothesis="Work that is not dispatch runs inside the phase: CPU arithmetic, logging, "
        "a lock, compilation.",
        next_steps=[
            "Confirm: sample the Python stack of the process there (py-spy dump, or nsys with "
            "--python-sampling=true), or put ranges around the suspects and record again.",
            "Move the work to another process, to the end of the iteration, or do it every N "
            "iterations; keep its inputs on the GPU until then.",
            "Where another thread holds the GIL: give data loading to processes (num_workers).",
        ],
        caveats=[
            "Without traced operating-system calls, computing and waiting cannot be told apart: "
            "record with --trace=cuda,nvtx,osrt.",
            *value.caveats,
        ],
    )
