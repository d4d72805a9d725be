"""activation-recompute: forward kernels run again inside the backward pass.

The finding: most of the distinct kernels (name, grid and block) of the forward pass are launched
again inside backward, at least half as often as in forward.

The cause: activation checkpointing (``torch.utils.checkpoint``, or a framework's
``activation_checkpointing`` switch). It is a choice: a third more compute for much less memory.

The cure: none is needed. Where memory is left over, checkpoint fewer blocks, or only those whose
activations are large and cheap to compute again (attention, dropout, normalisation).

Not this finding: the few kernels that any forward and backward share, such as an addition, a cast
or a square matrix product. They are why a high ratio of backward to forward is not evidence, and
the same kernels at the same sizes are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracelens.diagnosis import Diagnosis, Evidence
from tracelens.rules._shared import (
    first_row,
    ms,
    rows,
    share_evidence,
    steady_state,
    without_iterations,
)

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "activation-recompute"
READS = ("steady_period", "activation_recompute")
MIN_SHARE = 0.5
"""Half of forward's distinct kernels: what both passes share by nature (casts, additions, square
matrix products) is a small part of a model's list; a recomputed block brings all of its kernels."""
MIN_REPEAT = 0.5
"""A kernel comes again if backward launches it at least half as often as forward: as much as
checkpointing every second block gives."""
MIN_KERNELS = 3
"""With fewer distinct forward kernels, sharing half of them says nothing."""


def not_checked(frames: Frames) -> str | None:
    """It takes iterations, and both phases with known kernels."""
    if reason := without_iterations(frames):
        return reason
    if first_row(frames, "activation_recompute") is None:
        return "no kernels are known to belong to a forward and a backward phase"
    return None


@dataclass(frozen=True)
class Repeated:
    """Forward's distinct kernels, and those that backward launches again."""

    kernels: int
    again: int
    forward_ns: float
    again_ns: float

    @property
    def share(self) -> float:
        """Share of the distinct kernels that come again."""
        return self.again / self.kernels if self.kernels else 0.0

    @property
    def is_recomputed(self) -> bool:
        """Whether that is recomputation, and not what both passes share by nature."""
        return self.kernels >= MIN_KERNELS and self.share >= MIN_SHARE


def repeated(frames: Frames) -> Repeated:
    """Count forward's kernels that backward launches again at least half as often."""
    kernels = rows(frames, "activation_recompute")
    again = [k for k in kernels if k["backwards"] >= MIN_REPEAT * k["forwards"]]
    return Repeated(
        kernels=len(kernels),
        again=len(again),
        forward_ns=sum(k["forward_ns"] for k in kernels),
        again_ns=sum(k["backward_ns"] * min(1.0, k["forwards"] / k["backwards"]) for k in again),
    )


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The share of forward's distinct kernels that backward launches again."""
    steady, seen = steady_state(frames), repeated(frames)
    if steady is None or not seen.is_recomputed:
        return
    share, again_ms = seen.share, ms(seen.again_ns)
    yield Diagnosis(
        id=ID,
        severity="info",
        title=f"{share:.0%} of the forward pass's kernels run again inside backward "
        f"({again_ms:.1f} ms an iteration)",
        evidence=[
            share_evidence("forward_kernels_seen_again", share, MIN_SHARE),
            Evidence("distinct_forward_kernels", seen.kernels, "kernels", MIN_KERNELS),
            Evidence("time_of_the_repeated_kernels", again_ms, "ms/iteration"),
            Evidence("forward_kernel_time", ms(seen.forward_ns), "ms/iteration"),
        ],
        where=steady.where(),
        explanation="Backward launches the forward pass's kernels, with the same names, grids and "
        "blocks, about as often as forward does. That is activation checkpointing: activations are "
        "dropped after forward and computed again when backward needs them, which costs up to one "
        "more forward pass and explains a backward of up to three forwards.",
        hypothesis="Activation checkpointing is switched on, to fit into memory.",
        next_steps=[
            "Confirm: run a step without checkpointing; read torch.cuda.max_memory_allocated().",
            "If memory allows, checkpoint every second block only, or use selective checkpointing "
            "(context_fn=create_selective_checkpoint_contexts) that keeps matrix products.",
        ],
        caveats=[
            "A model whose backward uses the same kernels at the same sizes by design (reversible "
            "networks, a second forward for a penalty term) looks the same.",
        ],
    )
