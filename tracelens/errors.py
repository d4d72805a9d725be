"""The one error that a user is meant to read, and Ctrl-C under its own name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tracelens.printable import printable


class TracelensError(Exception):
    """Something a user can act on: what is wrong with which file, and the next step.

    ``str(error)`` is one line, however odd the name of the file. The command line prints it and
    exits with status 2.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(printable(f"{message}: {hint}" if hint else message))
        self.message = message
        self.hint = hint


@contextmanager
def heeding_ctrl_c() -> Iterator[None]:
    """Raise KeyboardInterrupt where Ctrl-C met a query: DuckDB puts another error in its place."""
    try:
        yield
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from None
