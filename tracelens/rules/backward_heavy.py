"""backward-heavy: backward takes far longer than its forward explains.

The finding: the GPU time of backward is more than three times that of forward, without recomputed
activations to account for it; or one backward of an iteration takes several times the others.

The cause: backward does two matrix products for each one of forward, so that 2 to 2.6 is ordinary.
More comes from a slow gradient kernel (a custom autograd function, scatter or index gradients with
atomics, deterministic variants), double backward, gradient hooks, or a forward that runs in lower
precision than its backward.

The cure: find the kernels that backward has and forward has not, and replace the slowest.

Not this finding: ratios of 2 to 2.6; up to one forward more with activation checkpointing
(activation-recompute); and ratios below 1, which frozen layers give.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tracelens.diagnosis import Diagnosis, Evidence, severity_of
from tracelens.rules._shared import (
    Steady,
    first_row,
    ms,
    steady_state,
    without_iterations,
)
from tracelens.rules.activation_recompute import repeated

if TYPE_CHECKING:
    from tracelens.rules import Frames

ID = "backward-heavy"
READS = ("steady_period", "backward_heavy", "activation_recompute")
MAX_RATIO = 3.0
"""Two matrix products for one, and the memory-bound rest: 2 to 2.6 is ordinary."""
ORDINARY_RATIO = 2.5
"""What a fix could reach at best: the worth is what exceeds it."""
ODD_ONE_FACTOR = 3.0
"""One backward this many times the median one of its iteration does something that they don't."""


def not_checked(frames: Frames) -> str | None:
    """It takes iterations with a forward and a backward phase."""
    if reason := without_iterations(frames):
        return reason
    if first_row(frames, "backward_heavy") is None:
        return "no forward and backward phases are known"
    return None


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The ratio of backward to forward without what is recomputed, then the odd one out."""
    steady, seen = steady_state(frames), first_row(frames, "backward_heavy")
    if steady is None or seen is None:
        return
    if found := _by_ratio(frames, steady, seen) or _by_odd_one(steady, seen):
        yield found


def _by_ratio(frames: Frames, steady: Steady, seen: dict[str, Any]) -> Diagnosis | None:
    """Spans and busy times must both exceed: a span alone may be full of waiting."""
    if not seen["forward_busy_ns"]:
        return None
    again_ns = _recomputed_ns(frames)
    busy = (seen["backward_busy_ns"] - again_ns) / seen["forward_busy_ns"]
    span = (seen["backward_span_ns"] - again_ns) / seen["forward_span_ns"]
    if min(busy, span) <= MAX_RATIO:
        return None
    excess_ms = ms((busy - ORDINARY_RATIO) * seen["forward_busy_ns"])
    return _diagnosis(
        steady,
        excess_ms,
        f"Backward takes {busy:.1f} times the GPU time of forward "
        f"({ms(seen['backward_busy_ns']):.1f} against {ms(seen['forward_busy_ns']):.1f} ms)",
        [
            Evidence("backward_over_forward_busy", busy, "", MAX_RATIO),
            Evidence("backward_over_forward_span", span, "", MAX_RATIO),
            Evidence("recomputed_in_backward", ms(again_ns), "ms/iteration"),
        ],
    )


def _by_odd_one(steady: Steady, seen: dict[str, Any]) -> Diagnosis | None:
    largest, typical = seen["largest_backward_ns"], seen["typical_backward_ns"]
    if seen["backwards"] < 2 or not typical or largest < ODD_ONE_FACTOR * typical:
        return None
    return _diagnosis(
        steady,
        ms(largest - typical),
        f"One of {seen['backwards']:.0f} backward passes of an iteration takes "
        f"{largest / typical:.1f} times the others",
        [
            Evidence("largest_backward", ms(largest), "ms"),
            Evidence("typical_backward", ms(typical), "ms"),
            Evidence("largest_over_typical", largest / typical, "", ODD_ONE_FACTOR),
        ],
    )


def _recomputed_ns(frames: Frames) -> float:
    seen = repeated(frames)
    return seen.again_ns if seen.is_recomputed else 0.0


def _diagnosis(steady: Steady, excess_ms: float, title: str, evidence: list[Evidence]) -> Diagnosis:
    share = steady.share(min(excess_ms, steady.median_period_ms))
    return Diagnosis(
        id=ID,
        severity=severity_of(share),
        title=title,
        recoverable_ms=min(excess_ms, steady.median_period_ms),
        share_of_period=share,
        evidence=evidence,
        where=steady.where(),
        explanation="For each matrix product of forward, backward has two, for the gradients of "
        "the input and of the weight: about twice the time. What goes beyond has another cause.",
        hypothesis="A gradient kernel is slow: a custom autograd function, gradients of indexing "
        "or scatter with atomics, a deterministic variant, or hooks on gradients.",
        next_steps=[
            "Confirm: list the kernels of the backward phase by time, and look at those that "
            "forward has no counterpart of.",
            "Try torch.use_deterministic_algorithms(False) and torch.compile(model); replace "
            "custom autograd functions by fused ones; take hooks off.",
            "Check that backward runs in the precision that forward does (autocast).",
        ],
        caveats=[
            "The worth is an upper bound: it supposes that backward can come down to "
            f"{ORDINARY_RATIO} forwards.",
            "Where the range called forward leaves part of the forward pass out, the ratio is too "
            "high.",
        ],
    )
