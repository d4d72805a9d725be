"""Recordings in folders: told by their names, and JSON by its first bytes."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from tracelens.errors import TracelensError
from tracelens.loaders import files

SUFFIXES = (
    ".sqlite", ".sqlite.gz", ".sqlite.zst", ".nsys-rep",
    ".pt.trace.json", ".pt.trace.json.gz", ".pt.trace.json.zst",
)  # fmt: skip
_MAYBE = (".json", ".json.gz")
_SIGNS = (b'"traceEvents"', b'"schemaVersion"', b'"deviceProperties"')
_SNIFFED_BYTES = 65_536
_LAYERS = 3


def recordings(folder: Path) -> list[Path]:
    """The recordings in a folder and the folders in it, sorted; the folder itself if it is one.

    Raises TracelensError where there are none.
    """
    found = sorted(_found(folder))
    if not found:
        raise TracelensError(
            f"{folder} is a folder without recordings", hint="name the files, or another folder"
        )
    return found


def is_exported(report: str, beside: set[str]) -> bool:
    """Whether an export of a recorder's report lies beside it: one run, not two."""
    stem = report.removesuffix(".nsys-rep")
    exports = {f"{stem}.sqlite", f"{stem}.sqlite.gz", f"{stem}.sqlite.zst", f"{stem}_pqtdir"}
    return bool(exports & beside)


def _found(folder: Path) -> Iterator[Path]:
    if files.is_parquet_export(folder):
        yield folder
        return
    for where, folders, names in os.walk(folder):
        here = Path(where)
        exports = [name for name in folders if files.is_parquet_export(here / name)]
        yield from (here / name for name in exports)
        folders[:] = sorted(set(folders) - set(exports))
        beside = {*names, *exports}
        yield from (here / name for name in names if _is_recording(here / name, beside))


def _is_recording(path: Path, beside: set[str]) -> bool:
    if path.name.startswith("."):
        return False
    if path.name.endswith(".nsys-rep"):
        return not is_exported(path.name, beside)
    if path.name.endswith(SUFFIXES):
        return True
    return path.name.endswith(_MAYBE) and _is_trace(path)


def _is_trace(path: Path) -> bool:
    """Whether a JSON file begins as a trace does, under any layers of gzip."""
    try:
        with path.open("rb") as file:
            head = file.read(_SNIFFED_BYTES)
    except OSError:
        return False
    for _ in range(_LAYERS):
        if not head.startswith(b"\x1f\x8b"):
            break
        head = _unzipped(head)
    return any(sign in head for sign in _SIGNS)


def _unzipped(head: bytes) -> bytes:
    """What the first bytes of a zipped file hold, as far as they go."""
    whole = io.BytesIO()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(head)) as file:
            while block := file.read1(_SNIFFED_BYTES):
                whole.write(block)
                if whole.tell() > _SNIFFED_BYTES:
                    break
    except (EOFError, OSError, zlib.error):
        pass  # it goes on beyond what was read
    return whole.getvalue()
