"""What several commands share: options, output, and a sign of life on a terminal."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from tracelens.printable import printable

if TYPE_CHECKING:
    from tracelens.inputs import Progress

_Command = TypeVar("_Command", bound=Callable[..., None])


def run_options(command: _Command) -> _Command:
    """Add what every command that opens a run takes: ``no_cache`` and ``memory_limit``."""
    command = click.option(
        "--memory-limit", metavar="SIZE", callback=size,
        help="Memory for tables, such as 4GB; beyond it they spill to disk.  [default: half]",
    )(command)  # fmt: skip
    return click.option(
        "--no-cache", is_flag=True, help="Neither use nor keep what other runs computed."
    )(command)


def size(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """The size as it was given. Raises BadParameter where it is none."""
    if value is not None and not re.fullmatch(r"\d+(\.\d+)?\s*([KMGT]i?B)", value, re.IGNORECASE):
        raise click.BadParameter(f"{value!r} is no size: say 500MB or 4GB.")
    return value


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
def working(what: str) -> Iterator[Progress | None]:
    """Show that something is being done, where a person watches; nothing in a pipe or a log.

    Gives what to call with the progress of a file that is fetched, or None where nobody watches.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as status:

        def fetching(name: str, done: int, whole: int | None) -> None:
            of = "" if whole is None else f" of {whole / 1e6:,.0f}"
            is_here = whole is not None and done >= whole
            text = what if is_here else f"fetching {printable(name)}: {done / 1e6:,.0f}{of} MB"
            status.update(text.replace("[", r"\["))

        yield fetching
