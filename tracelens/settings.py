"""Every tunable number that SQL or an analysis step uses, in one place, with its reason.

SQL reads them as DuckDB variables: ``getvariable('helper_role_share')``. Thresholds of findings are
not here: each rule holds its own.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Tunable numbers. Times are nanoseconds, shares are of one."""

    helper_role_share: float = 0.9
    """A thread with no phases of its own works for the phase open elsewhere only where this share
    of its launches falls into phases of one role: nearly all of autograd's do, a prefetcher's
    fall everywhere."""
    warmup_factor: float = 1.3
    """Leading iterations slower than this many medians are warm-up (DESIGN.md, steady state)."""
    min_iterations: int = 3
    """Below this many, nothing periodic is claimed."""
    min_coverage: float = 0.3
    """A family of ranges that holds less of the process's GPU time than this does not mark its
    iterations."""
    sure_coverage: float = 0.8
    """From this share of the GPU time on, a family of enough ranges is surely the iterations."""
    min_match: float = 0.8
    """A sequence of kernels is periodic from this share of kernels that stand again one period
    later."""
    sure_match: float = 0.97
    """From this share on, surely."""
    match_slack: float = 0.005
    """A shorter period wins only if it matches as well as the best up to this: layers within an
    iteration match nearly as well as iterations, but for their ends."""
