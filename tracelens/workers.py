"""Do tasks that wait for one another, several at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence, Set

HEARING_S = 0.1
"""How long to wait at a time: under polars' handler of Ctrl-C, a wait without end goes on."""


def run(
    tasks: Sequence[str],
    waits_for: Mapping[str, Set[str]],
    do: Callable[[str, int], None],
    workers: int,
    interrupt: Callable[[], None],
) -> None:
    """Call ``do(task, worker)`` for each task once all that it waits for are done.

    Of those that can be done, the first in the order given is. Worker 0 is the calling thread, so
    that Ctrl-C reaches it. Raises the first error of any; no task is begun after it, and
    ``interrupt`` is to make those that are being done come to an end soon.
    """
    board = _Board(tasks, waits_for)

    def work(worker: int) -> None:
        try:
            while (task := board.take()) is not None:
                do(task, worker)
                board.done(task)
        except BaseException as error:  # Ctrl-C may come while there is nothing to do, too
            board.fail(error)
            interrupt()

    others = [threading.Thread(target=work, args=(n,)) for n in range(1, workers)]
    for thread in others:
        thread.start()
    work(0)
    for thread in others:
        thread.join()
    if board.error is not None:
        raise board.error


class _Board:
    """What is still to be done, what can be, and whether anything went wrong."""

    def __init__(self, tasks: Sequence[str], waits_for: Mapping[str, Set[str]]) -> None:
        self.error: BaseException | None = None
        self._open = list(tasks)
        self._undone = set(tasks)
        self._waits = {task: set(waits_for[task]) for task in tasks}
        self._changed = threading.Condition()

    def take(self) -> str | None:
        """A task that can be done; None once all are: who waits here hears of Ctrl-C."""
        with self._changed:
            while self._undone:
                ready = next((task for task in self._open if not self._waits[task]), None)
                if ready is not None:
                    self._open.remove(ready)
                    return ready
                self._changed.wait(HEARING_S)
            return None

    def done(self, task: str) -> None:
        with self._changed:
            self._undone.discard(task)
            for waiting in self._open:
                self._waits[waiting].discard(task)
            self._changed.notify_all()

    def fail(self, error: BaseException) -> None:
        with self._changed:
            self.error = self.error or error
            self._open.clear()
            self._undone.clear()
            self._changed.notify_all()
