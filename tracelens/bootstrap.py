"""How sure a difference of two samples is: a seeded bootstrap over iterations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    Values: TypeAlias = npt.NDArray[np.float64]

Statistic: TypeAlias = Literal["median", "mean"]
STATISTICS: tuple[Statistic, ...] = ("median", "mean")
CONFIDENCE = 0.95
RESAMPLES = 10_000
_BLOCK = 4_000_000
"""Numbers drawn at a time: 32 MB, however many iterations there are."""


@dataclass(frozen=True)
class Difference:
    """A statistic of two samples, and the interval that holds its difference, NEW less BASE."""

    base: float
    new: float
    low: float
    high: float

    @property
    def value(self) -> float:
        """NEW less BASE."""
        return self.new - self.base


def difference(
    base: Sequence[float], new: Sequence[float], statistic: Statistic,
    seed: int = 0, resamples: int = RESAMPLES,
) -> Difference:  # fmt: skip
    """The difference of two samples of two values or more, and its interval.

    Percentiles of resampled differences, at the level that makes up for small samples: those of
    four values scatter too little by themselves (T. Hesterberg, "What Teachers Should Know About
    the Bootstrap", 2015, the expanded percentile interval).
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    one, two = np.asarray(base, dtype=float), np.asarray(new, dtype=float)
    drawn = _resampled(two, statistic, rng, resamples) - _resampled(one, statistic, rng, resamples)
    tail = _tail(min(one.size, two.size))
    low, high = np.quantile(drawn, (tail, 1 - tail))
    of = getattr(np, statistic)
    return Difference(float(of(one)), float(of(two)), float(low), float(high))


def _resampled(values: Values, statistic: Statistic, rng: Any, resamples: int) -> Values:
    import numpy as np

    of = getattr(np, statistic)
    step = max(1, _BLOCK // values.size)
    parts = [
        of(values[rng.integers(values.size, size=(min(step, resamples - done), values.size))], 1)
        for done in range(0, resamples, step)
    ]
    return np.concatenate(parts)


def _tail(n: int) -> float:
    """The share of resamples to leave out on each side for samples of ``n`` values."""
    spread = math.sqrt(n / (n - 1)) * _student(NormalDist().inv_cdf((1 + CONFIDENCE) / 2), n - 1)
    return NormalDist().cdf(-spread)


def _student(z: float, freedom: int) -> float:
    """The quantile of Student's t where the normal one is ``z`` (Cornish-Fisher expansion)."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))
