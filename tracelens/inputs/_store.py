"""Local files made of inputs that no loader opens: in the user's cache folder, or thrown away."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tracelens.errors import TracelensError

LIMIT_BYTES = 32 << 30
"""What kept files may take together; the least recently used go first."""
_IN_USE_SECONDS = 6 * 3600
"""A file that was asked for so lately may be open: it stays, limit or not."""


class Store:
    """A folder of local copies, each in a folder named for what it was made of.

    With no ``root`` they live in a temporary folder, which goes with the store.
    """

    def __init__(self, root: Path | None, limit_bytes: int = LIMIT_BYTES) -> None:
        self._root = root
        self._limit_bytes = limit_bytes

    @property
    def root(self) -> Path:
        """The folder of all copies."""
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix="tracelens-"))
            weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
        return self._root

    def get(self, key: str, name: str, make: Callable[[Path], object]) -> Path:
        """The copy called ``name`` of what ``key`` stands for; ``make(path)`` writes it, once.

        It appears as a whole or not at all, whatever becomes of the process that makes it.
        """
        folder = self.root / hashlib.sha256(key.encode()).hexdigest()[:24]
        kept = folder / name
        if not kept.exists():
            self._make(folder, name, make)
            self._prune(keep=folder)
        with suppress(OSError):
            os.utime(folder)
        return kept

    def _make(self, folder: Path, name: str, make: Callable[[Path], object]) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(
                prefix=".part-", dir=self.root, ignore_cleanup_errors=True
            ) as part:
                made = Path(part) / "made"
                made.mkdir()
                make(made / name)
                with suppress(OSError):  # another process was quicker
                    made.rename(folder)
        except OSError as error:
            raise TracelensError(
                f"{name} cannot be unpacked in {self.root} ({error.strerror or error})",
                hint="make room there, or set XDG_CACHE_HOME to another disk",
            ) from None

    def _prune(self, keep: Path) -> None:
        with suppress(OSError):
            folders = [f for f in self.root.iterdir() if f.is_dir() and f != keep]
            sizes = {f: _size(f) for f in [*folders, keep]}
            excess = sum(sizes.values()) - self._limit_bytes
            for folder in sorted(folders, key=lambda f: f.stat().st_mtime):
                if excess <= 0 or time.time() - folder.stat().st_mtime < _IN_USE_SECONDS:
                    break
                shutil.rmtree(folder, ignore_errors=True)
                excess -= sizes[folder]


def user_store() -> Store:
    """The store in the user's cache folder, beside the cache of analyses."""
    import platformdirs

    return Store(platformdirs.user_cache_path("tracelens-inputs"))


def _size(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
