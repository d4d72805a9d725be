"""host-stall: the host does something else inside a phase while the GPU idles.

The finding: within forward, backward or another phase, or behind the last one of an iteration, the
host makes no CUDA call for longer than dispatch ever takes, in a typical iteration, and the GPU has
nothing queued.

The cause: Python or C++ work that is not dispatch: a metric or a loss on the CPU, a lock (the GIL
held by another thread), writing a log or a checkpoint, a garbage collection, a hook, just-in-time
compilation, a page fault.

The cure: take it out of the phase, out of the thread, or out of the iteration.

Not this finding: pauses between iterations or in the data phase (input-starved), the Python between
two launches (launch-bound), waits for the GPU itself (host-sync), and pauses in few iterations only
(irregular-iterations).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracelens.diagnosis import Diagnosis
from tracelens.rules._idle import IDLE_READS, idle_of
from tracelens.rules._shared import without_host_side

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "host-stall"
READS = IDLE_READS
CONSEQUENCE_OF = {"rank-straggler": "host"}

not_checked = without_host_side


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The median iteration's idle time in which the host was silent, but not for input."""
    idle = idle_of(frames, ID)
    if idle is None:
        return
    place = idle.row["open_range"]
    yield Diagnosis(
        id=ID,
        title=f"The host is busy elsewhere for {idle.of_period}"
        + (f", inside '{place}'" if place else ", outside its phases"),
        **idle.worth.fields,
        evidence=[*idle.evidence("idle_while_host_is_silent"), idle.longest, *idle.python_frame],
        where=idle.steady.where(ranges=[place] if place else []),
        explanation="No CUDA call was made on any thread for far longer than the distance of two "
        "launches, while the GPU had finished its queue. The host was computing, or waiting for "
        f"something that is not the GPU.{idle.in_python}",
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
            *idle.worth.caveats,
        ],
    )
