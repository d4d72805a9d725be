"""A copy of a recording without what it tells of people and machines, that analyses the same.

The copy is built from nothing: only the tables, columns, events and arguments that an analysis
reads are written into it, so that what nobody thought of stays out as well. Names that are kept are
masked. In the end the copy is searched for everything that was taken out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tracelens.errors import TracelensError


@dataclass(frozen=True)
class Redaction:
    """What was done: how many names were masked, and what was left out."""

    masked_names: int
    left_out: tuple[str, ...]
    """Tables or kinds of events, sorted."""


def redact(
    source: str | Path, target: str | Path, *, rename_kernels: bool = False, force: bool = False
) -> Redaction:
    """Write a copy of ``source`` to ``target`` that holds no environments, command lines, output,
    names of hosts and users, other processes, paths, mail addresses or tokens.

    ``rename_kernels`` numbers the kernels as well, all but those of communication libraries. The
    source is not changed. Raises TracelensError where the source is no recording, where the target
    exists and ``force`` is not given, and where the copy would still hold what was to go: then
    there is none.
    """
    from tracelens.loaders import open_source

    source, target = Path(source), Path(target)
    format = open_source(source).info.format
    _refuse_target(source, target, force)
    if format == "nsys-sqlite":
        from tracelens.redact.nsys_sqlite import write
    elif format == "torch-profiler":
        from tracelens.redact.kineto import write
    else:
        raise TracelensError(
            f"{source} is a {format} recording, which cannot be redacted",
            hint="export it as SQLite: nsys export --type sqlite REPORT.nsys-rep",
        )
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        done = write(source, unfinished, rename_kernels, is_zipped=target.suffix == ".gz")
        unfinished.replace(target)
    except OSError as error:
        raise TracelensError(
            f"{target} cannot be written ({error.strerror})", hint="choose another place"
        ) from None
    finally:
        unfinished.unlink(missing_ok=True)
    return done


def refuse_leaks(source: Path, leaks: Iterable[str]) -> None:
    """Raises TracelensError where something that was to be taken out is still there."""
    found = sorted(leaks)
    if found:
        raise TracelensError(
            f"the copy of {source} would still hold {len(found)} of the texts that were to go, "
            f"such as {found[0][:4]}…",
            hint="none was written; please report what kind of name this is",
        )


def _refuse_target(source: Path, target: Path, force: bool) -> None:
    if target.is_dir():
        raise TracelensError(f"{target} is a folder", hint="name the file to write")
    if target.exists() and target.samefile(source):
        raise TracelensError(
            f"{target} is the recording itself, which is never written", hint="name another file"
        )
    if (target.exists() or target.is_symlink()) and not force:
        raise TracelensError(f"{target} exists", hint="name another file, or give --force")
