"""Recordings behind URLs, fetched to local disk before they are read (fsspec, extra ``remote``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracelens.errors import TracelensError
from tracelens.inputs._folders import SUFFIXES, is_exported
from tracelens.inputs._names import shown
from tracelens.inputs._store import Store

if TYPE_CHECKING:
    from tracelens.inputs import Progress

_EXTRA = "pip install 'tracelens-gpu[remote]', and the fsspec package for this kind of URL"
_SIGN = "StringIds.parquet"
"""What tells a folder that is an export as Parquet."""


def expand(url: str) -> Iterator[str]:
    """The recordings that a URL means: itself, or what lies in it or matches it, sorted."""
    with _explained(url):
        fs, path = _opened(url)
        if _is_pattern(path):
            names = [str(name) for name in fs.glob(path)]
        elif not fs.isfile(path) and fs.isdir(path):
            names = [str(name) for name in fs.find(path)]
        else:
            yield url
            return
    found = _recordings(names)
    if not found:
        raise TracelensError(
            f"{shown(url)} holds no recordings", hint="check the URL or the pattern"
        )
    yield from (fs.unstrip_protocol(name) for name in sorted(found))


def _is_pattern(path: str) -> bool:
    # the path of a web address is the whole address, with its query
    return "://" not in path and has_magic(path)


def _recordings(names: list[str]) -> set[str]:
    """The recordings among the names of files: folders of Parquet files are one each."""
    folders = {n.rpartition("/")[0] for n in names if n.endswith(f"/{_SIGN}")}
    loose = {n for n in names if n.rpartition("/")[0] not in folders and n.endswith(SUFFIXES)}
    known = {*names, *folders}
    exported = {n for n in loose if n.endswith(".nsys-rep") and is_exported(n, known)}
    return folders | loose - exported


def identity_of(url: str) -> str:
    """Sizes, tags and times of what a URL names; ``missing`` where it cannot be asked."""
    try:
        fs, path = _opened(url)
        names = [path] if fs.isfile(path) else sorted(fs.find(path))
        return ";".join(_identity("", fs.info(name)) for name in names) or "missing"
    except Exception:  # whatever it is, analysing the run will say so
        return "missing"


def fetch(url: str, store: Store, progress: Progress | None) -> Path:
    """A local copy of a file, or of a folder of Parquet files."""
    with _explained(url):
        fs, path = _opened(url)
        name = path.partition("?")[0].rstrip("/").rpartition("/")[2] or "recording"
        if fs.isfile(path):
            info = fs.info(path)
            return store.get(_identity(url, info), name, lambda to: _get(fs, path, to, progress))
        if not fs.exists(path):
            raise TracelensError(f"{shown(url)} does not exist", hint="check the URL")
        files = sorted(str(f) for f in fs.find(path))
        key = " ".join(_identity(file, fs.info(file)) for file in files)

        def get_all(target: Path) -> None:
            target.mkdir()
            for file in files:
                _get(fs, file, target / file.rpartition("/")[2], progress)

        return store.get(f"{url} {key}", name, get_all)


def _opened(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise TracelensError(f"{shown(url)} needs fsspec", hint=_EXTRA) from None
    try:
        fs, path = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise TracelensError(f"{shown(url)} cannot be opened ({error})", hint=_EXTRA) from None
    return fs, str(path)


def _get(fs: Any, path: str, target: Path, progress: Progress | None) -> None:
    from fsspec.callbacks import Callback

    class Told(Callback):  # type: ignore[misc]
        def call(self, *_: Any, **__: Any) -> None:
            if progress is not None:
                progress(target.name, self.value, self.size)

    fs.get_file(path, str(target), callback=Told())
    if progress is not None:  # not every protocol tells
        size = target.stat().st_size
        progress(target.name, size, size)


def _identity(url: str, info: dict[str, Any]) -> str:
    """What a remote file is known by: a new version has another size, tag or time."""
    marks = ("size", "ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created")
    return f"{url} {[str(info[mark]) for mark in marks if mark in info]}"


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """Whatever goes wrong on the way is an error with the URL and the reason."""
    try:
        yield
    except TracelensError:
        raise
    except FileNotFoundError:
        raise TracelensError(f"{shown(url)} does not exist", hint="check the URL") from None
    except Exception as error:  # every protocol has errors of its own
        reason = (str(error).partition("\n")[0] or type(error).__name__).replace(url, shown(url))
        raise TracelensError(
            f"{shown(url)} cannot be fetched ({reason})", hint="check the URL and your credentials"
        ) from None
