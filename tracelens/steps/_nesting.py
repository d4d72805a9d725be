"""How spans of one thread nest: depths, parents and what is open at a moment, without a loop.

At one moment, what ends comes before what starts, but an empty span ends after it started. Where
spans cross, the last one that started at a depth counts as the one open at it; so it closes where
the depth falls below its own, and no time is lost or counted twice.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_Ints = npt.NDArray[np.int64]
_Ticks = npt.NDArray[np.uint64]


class Nesting:
    """Spans of one thread, by start, what is outside before what is inside: at least one.

    ``starts`` and ``ends`` are nanoseconds, no further apart than plausible times are. A span is
    told by its place; -1 stands for none. In this order spans are a tree in preorder: what lies
    inside one follows it, up to the first that is no deeper.
    """

    def __init__(self, starts: _Ints, ends: _Ints) -> None:
        self._origin = starts[0]
        places = np.arange(len(starts))
        self._opened = self._ticks(starts) + np.uint64(1)
        closed = self._ticks(ends) + np.where(ends == starts, np.uint64(2), np.uint64(0))
        by_end = np.argsort(closed, kind="stable")
        self._closed = closed[by_end]
        self._depth = places - np.searchsorted(self._closed, self._opened)
        started = np.searchsorted(self._opened, self._closed)
        self._by_depth = _order(self._depth)
        # each time that a depth is reached it is left once, in the same order
        left = _order(started - places - 1)
        self.closing = np.empty_like(ends)
        """When each span closes: its end, but where spans cross."""
        self.closing[self._by_depth] = ends[by_end][left]
        self._beyond = np.empty_like(places)
        self._beyond[self._by_depth] = started[left]
        # spans by depth, then by place, as one number
        self._step = len(places) + 1
        self._keys = self._depth[self._by_depth] * self._step + self._by_depth
        self.parent: _Ints = np.empty_like(places)
        """The span around each."""
        # numbers are found fastest in their order
        self.parent[self._by_depth] = self._innermost(self._keys - self._step)

    def innermost_at(self, moments: _Ints) -> _Ints:
        """The innermost span open at each moment, once all has happened that happens then."""
        found = np.full(len(moments), -1)
        is_late = moments >= self._origin
        ticks = self._ticks(moments[is_late]) + np.uint64(2)
        started = np.searchsorted(self._opened, ticks, side="right")
        depth = started - np.searchsorted(self._closed, ticks, side="right")
        found[is_late] = self._innermost((depth - 1) * self._step + started)
        return found

    def with_what_is_inside(self, amounts: _Ints) -> _Ints:
        """For each span, the sum of the amounts of itself and all that lies in it."""
        total = np.concatenate([[0], np.cumsum(amounts)])
        found: _Ints = total[self._beyond] - total[:-1]
        return found

    def _innermost(self, keys: _Ints) -> _Ints:
        """The last span of a depth among those that have started: of a key's, below its place."""
        place = np.searchsorted(self._keys, keys) - 1
        found: _Ints = np.where(keys >= 0, self._by_depth[place], -1)
        return found

    def _ticks(self, times: _Ints) -> _Ticks:
        """Three a nanosecond: what ends, what starts, and what is empty and ends."""
        ticks: _Ticks = (times - self._origin).astype(np.uint64) * np.uint64(3)
        return ticks


def _order(depth: _Ints) -> _Ints:
    """The stable order by depth, which numpy finds by radix where numbers are small."""
    return np.argsort(depth.astype(np.min_scalar_type(depth.max())), kind="stable")
