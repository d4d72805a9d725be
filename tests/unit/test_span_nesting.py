"""How spans of a thread nest, against a slow obvious version that goes through them one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracelens.steps._nesting import Nesting

Span = tuple[int, int]
spans = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 8)).map(lambda s: (s[0], s[0] + s[1])),
    min_size=1,
    max_size=12,
)


def edges(ordered: list[Span]) -> list[tuple[int, int, int]]:
    """Moment, step and span of each start and end, in the order in which they happen."""
    found = []
    for i, (start, end) in enumerate(ordered):
        found.append((start, 1, i, 1, i))
        found.append((end, 0 if end > start else 2, -i, -1, i))
    return [(at, step, i) for at, _, _, step, i in sorted(found)]


class Walk:
    """Parents, own times and what is open at each moment, told edge by edge."""

    def __init__(self, ordered: list[Span]) -> None:
        self.parent = [-1] * len(ordered)
        self.own = [0] * len(ordered)
        self.after: dict[int, int] = {}
        latest: dict[int, int] = {0: -1}
        depth, before = 0, 0
        for at, step, i in edges(ordered):
            if depth:
                self.own[latest[depth]] += at - before
            if step == 1:
                self.parent[i] = latest[depth]
            depth, before = depth + step, at
            if step == 1:
                latest[depth] = i
            self.after[at] = latest[depth]

    def at(self, moment: int) -> int:
        past = [at for at in self.after if at <= moment]
        return self.after[max(past)] if past else -1


@given(spans)
def test_like_a_walk_through_all_edges(found: list[Span]) -> None:
    ordered = sorted(found, key=lambda span: (span[0], -span[1]))
    walk = Walk(ordered)
    nesting = Nesting(*np.array(ordered, np.int64).T)
    lengths = nesting.closing - [start for start, _ in ordered]
    inside = [sum(lengths[nesting.parent == i]) for i in range(len(ordered))]
    assert nesting.parent.tolist() == walk.parent
    assert (lengths - inside).tolist() == walk.own
    moments = np.arange(-1, 25)
    assert nesting.innermost_at(moments).tolist() == [walk.at(m) for m in moments.tolist()]


@given(spans)
def test_a_sum_holds_what_lies_inside(found: list[Span]) -> None:
    ordered = sorted(found, key=lambda span: (span[0], -span[1]))
    nesting = Nesting(*np.array(ordered, np.int64).T)
    amounts = 1 << np.arange(len(ordered))
    expected = amounts.copy()
    # what is inside comes later, so its sum is complete when it is added
    for i in reversed(range(len(ordered))):
        if nesting.parent[i] >= 0:
            expected[nesting.parent[i]] += expected[i]
    assert nesting.with_what_is_inside(amounts).tolist() == expected.tolist()


def test_times_far_apart() -> None:
    far = 1 << 61
    nesting = Nesting(np.array([-far, far - 5]), np.array([far, far - 1]))
    assert nesting.parent.tolist() == [-1, 0]
    assert nesting.innermost_at(np.array([far - 6, far - 5, far])).tolist() == [0, 1, -1]
