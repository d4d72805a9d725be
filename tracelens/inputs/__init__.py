"""From what a user names to local files that a loader can open.

A name may be a file, a folder, a pattern or a URL. Compressed exports, reports of the recorder and
remote files are turned into local files in a store of their own, once; recordings themselves are
never written to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import TypeAlias

from tracelens.errors import TracelensError
from tracelens.inputs import _convert, _folders
from tracelens.inputs._names import is_url, shown
from tracelens.inputs._store import Store, user_store
from tracelens.loaders import files

__all__ = [
    "Progress", "Store", "content", "expand", "identity", "is_url", "localise", "shown",
    "user_store",
]  # fmt: skip

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Told of a file that is fetched: its name, the bytes here so far, and all of them where known."""


def expand(names: Iterable[str | Path]) -> list[str]:
    """The recordings that are meant: folders and patterns are replaced by what they hold, sorted.

    Raises TracelensError for a pattern that nothing matches, and for a folder without recordings.
    Other names come back as they are, whether or not there is such a file.
    """
    return [found for name in names for found in _expanded(str(name))]


def _expanded(name: str) -> Iterator[str]:
    if is_url(name):
        from tracelens.inputs import _remote

        yield from _remote.expand(name)
        return
    path = Path(name)
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError):  # a name that no file can have: the loader says so
        is_folder, exists = False, True
    if is_folder:
        yield from map(str, _folders.recordings(path))
    elif not exists and has_magic(name):
        matches = sorted(glob(name, recursive=True))  # noqa: PTH207  an absolute pattern is one too
        if not matches:
            raise TracelensError(f"no file matches {name}", hint="check the pattern")
        for match in map(Path, matches):
            yield from map(str, _folders.recordings(match) if match.is_dir() else [match])
    else:
        yield name


def localise(name: str, store: Store, progress: Progress | None = None) -> Path:
    """A local file or folder that a loader can open, made and kept in the store where need be.

    Raises TracelensError where a file cannot be fetched, unpacked, or exported.
    """
    if is_url(name):
        from tracelens.inputs import _remote

        path = _remote.fetch(name, store, progress)
    else:
        path = Path(name)
    if files.is_parquet_export(path):
        return path
    return _convert.readable(path, files.head(path), store)


def identity(name: str) -> str:
    """What a recording is known by without reading it: sizes, times, tags.

    ``missing`` where there is nothing of that name.
    """
    if is_url(name):
        from tracelens.inputs import _remote

        return _remote.identity_of(name)
    path = Path(name)
    try:
        parts = sorted(path.iterdir()) if path.is_dir() else [path]
        return ";".join(_convert.times(part) for part in parts)
    except (OSError, ValueError):
        return "missing"


def content(path: Path) -> str:
    """SHA-256 of a local recording: of all its files, where it is a folder."""
    whole = hashlib.sha256()
    for part in sorted(path.iterdir()) if path.is_dir() else [path]:
        with part.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()
