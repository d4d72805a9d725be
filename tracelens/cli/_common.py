"""What several commands share: options, output, and a sign of life on a terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click


def terminal_width() -> int:
    """Columns of the terminal, or 80 where there is none."""
    return max(40, shutil.get_terminal_size((80, 24)).columns)


def wants_color(no_color: bool, output: Path | None) -> bool:
    """Whether terminal colours belong into the output."""
    return not (no_color or output or os.environ.get("NO_COLOR")) and sys.stdout.isatty()


def write(text: str, output: Path | None) -> None:
    """Write text to a file, or to standard output."""
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something is being done, where a person watches; nothing in a pipe or a log."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
