"""What earlier analyses computed, kept in the user's cache folder: bounded, shared, safe to delete.

One folder holds what was made of one set of files by one version of this tool: frames that reports
read, and from the second visit on also the staged tables, as Parquet. A file is written under
another name and then renamed, so that a reader sees it whole or not at all, whatever becomes of
the writer. Nothing here may fail an analysis: a folder that cannot be written is done without.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tracelens import sqlfiles
from tracelens._version import __version__
from tracelens.errors import heeding_ctrl_c

if TYPE_CHECKING:
    import polars as pl

LIMIT_BYTES = 4 << 30
"""What all folders together may hold; the least recently used go first."""


class Cache:
    """The folder of one set of files, analysed by this version of the tool.

    ``files`` are known by their content: a copy elsewhere finds the same folder, a file that
    changed does not. ``limit_bytes`` bounds the whole of ``root``, which other runs share.
    """

    def __init__(self, root: Path, files: Iterable[Path], limit_bytes: int = LIMIT_BYTES) -> None:
        digest = hashlib.sha256(tool_fingerprint().encode())
        for path in files:
            for part in sorted(path.iterdir()) if path.is_dir() else [path]:
                with part.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        self._root = root
        self._limit_bytes = limit_bytes
        self.folder = root / digest.hexdigest()[:32]
        self.was_here = self.folder.is_dir()
        """Whether an earlier run left something here."""

    def find(self, name: str) -> Path | None:
        """The file kept under a name, marked as used just now; None where there is none."""
        path = self.folder / f"{name}.parquet"
        try:
            os.utime(path)
            os.utime(self.folder)
        except OSError:
            return None
        return path

    def keep(self, name: str, write: Callable[[Path], object]) -> None:
        """Keep a file: ``write`` is given the path to write it to."""
        # whatever goes wrong, a disk that is full above all, the analysis goes on
        with suppress(Exception), self._unfinished() as path, heeding_ctrl_c():
            write(path)
            path.replace(self.folder / f"{name}.parquet")

    def frame(self, name: str) -> pl.DataFrame | None:
        """A frame kept under a name, or None where there is none that can be read."""
        import polars as pl

        path = self.find(name)
        try:
            return None if path is None else pl.read_parquet(path)
        except (OSError, pl.exceptions.PolarsError):
            return None

    def prune(self) -> None:
        """Remove the least recently used folders beyond the limit, this one last."""
        with suppress(OSError):
            folders = sorted(
                (f for f in self._root.iterdir() if f.is_dir()), key=lambda f: f.stat().st_mtime
            )
            sizes = {f: sum(p.stat().st_size for p in f.iterdir()) for f in folders}
            excess = sum(sizes.values()) - self._limit_bytes
            for folder in folders:
                if excess <= 0:
                    break
                shutil.rmtree(folder, ignore_errors=True)
                excess -= sizes[folder]

    @contextmanager
    def _unfinished(self) -> Iterator[Path]:
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=self.folder)
        os.close(handle)
        path = Path(name)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)


def default_root() -> Path:
    """Where the user's system keeps caches, and a folder for this tool in it."""
    import platformdirs

    return platformdirs.user_cache_path("tracelens")


def key_of(*parts: object) -> str:
    """A short name for whatever decides a result beside the files: options, settings."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


@cache
def tool_fingerprint() -> str:
    """A fingerprint of the tool: its version, and its code as it stands in a checkout."""
    digest = hashlib.sha256(__version__.encode())
    package = Path(__file__).resolve().parent
    shipped = [
        *package.rglob("*.py"),
        *package.rglob("*.toml"),
        *sqlfiles.sql_root().rglob("*.sql"),
    ]
    for path in sorted(set(shipped)):
        digest.update(path.read_bytes())
    return digest.hexdigest()
