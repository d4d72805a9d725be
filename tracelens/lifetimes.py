"""Which tables of a plan nobody will read any more, so that a long capture fits into memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable


class Lifetimes:
    """The tables that building some relations takes, and how often each is still to be read.

    ``reads`` tells what a relation is made from, ``is_view`` whether it is only a query: whoever
    reads a view reads the tables beneath it.
    """

    def __init__(
        self,
        wanted: Iterable[str],
        reads: Callable[[str], Iterable[str]],
        is_view: Callable[[str], bool],
    ) -> None:
        self._reads = reads
        self._is_view = is_view
        self._readers: Counter[str] = Counter()
        self._built: set[str] = set()
        self._views: dict[str, set[str]] = {}
        pending, seen = list(wanted), set()
        # what was asked for is read once more, by whoever asked
        for name in pending:
            self._readers.update(self._tables([name]))
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            pending += self._reads(name)
            if is_view(name):
                self._views[name] = self._tables([name])
            else:
                self._readers.update(self._tables(self._reads(name)))

    def after(self, name: str) -> tuple[set[str], set[str]]:
        """Tables that can go once a relation is built, and the views that go with them."""
        if self._is_view(name):
            return set(), set()
        done: set[str] = set()
        pending = [name]
        while pending:
            reader = pending.pop()
            self._built.add(reader)
            tables = self._tables(self._reads(reader))
            self._readers.subtract(tables)
            over = {table for table in tables if self._readers[table] <= 0}
            done |= over
            # what could have been read, and was not, will not read anything either
            pending += over - self._built
        return done, {view for view, beneath in self._views.items() if beneath & done}

    def _tables(self, names: Iterable[str]) -> set[str]:
        found: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if self._is_view(name):
                pending += self._reads(name)
            else:
                found.add(name)
        return found
