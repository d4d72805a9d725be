"""Which runs an archive holds, and which of them are still to be analysed."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracelens.errors import TracelensError
from tracelens.inputs import identity, is_url
from tracelens.options import Options

RANK = r"[._-]?rank[._-]?\d+"
"""What tells ranks of one run apart in their names."""


@dataclass(frozen=True)
class Run:
    """Files that are analysed together, and the name that stays theirs."""

    key: str
    name: str
    files: tuple[str, ...]

    def state(self) -> str:
        """Sizes and times of the files: a run whose state is the same is not looked into."""
        return " ".join(identity(file) for file in self.files)


@dataclass(frozen=True)
class Task:
    """One run to analyse: all that a worker, in whichever process, is told."""

    run: Run
    options: Options
    options_key: str
    state: str
    memory_limit: str | None = None
    threads: int = 1
    known_content: str | None = None
    """Content that was analysed before by the same tool with the same options."""


def runs(files: Iterable[str], group: str | None) -> list[Run]:
    """The runs of an archive. Files are ranks of one run where their paths differ only in the
    number of their rank, or where ``group`` matches the same text in both: its groups, if it has
    any. An empty ``group`` leaves every file alone.

    Raises TracelensError where ``group`` is no regular expression.
    """
    pattern = _pattern(group)
    together: dict[str, list[str]] = {}
    for file in dict.fromkeys(map(_absolute, files)):
        together.setdefault(_shared_name(file, group, pattern), []).append(file)
    names = _short(list(together))
    return [
        Run(
            hashlib.sha256(full.encode(errors="surrogateescape")).hexdigest()[:16],
            name,
            tuple(sorted(files)),
        )
        for (full, files), name in zip(together.items(), names, strict=True)
    ]


def options_key(options: Options) -> str:
    """A fingerprint of the options: of what the file of patterns says, not of where it is."""
    patterns = b"" if options.phases is None else options.phases.read_bytes()
    told = repr((options.iterations, options.samples_per_iteration, patterns))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _pattern(group: str | None) -> re.Pattern[str]:
    try:
        return re.compile(group or RANK, re.IGNORECASE if group is None else 0)
    except re.error as error:
        raise TracelensError(
            f"the pattern {group!r} for groups is no regular expression ({error})",
            hint=r"for example: '(job[0-9]+)\.rank'",
        ) from None


def _shared_name(file: str, group: str | None, pattern: re.Pattern[str]) -> str:
    """What the files of one run have in common."""
    if group == "":
        return file
    folder, slash, name = file.rpartition("/")
    if group is None:
        return folder + slash + pattern.sub("", name)
    found = pattern.search(file)
    if found is None:
        return file
    return "/".join(filter(None, found.groups())) or found[0]


def _absolute(file: str) -> str:
    return file if is_url(file) else str(Path(os.path.abspath(file)))  # noqa: PTH100  keeps links


def _short(names: Sequence[str]) -> list[str]:
    """Names without the folder that all paths among them lie in."""
    paths = [name for name in names if name.startswith("/")]
    common = os.path.commonpath([path.rpartition("/")[0] or "/" for path in paths] or ["/"])
    return [os.path.relpath(name, common) if name.startswith("/") else name for name in names]
