"""Tell a file's format by its content, and open it with the loader of that format."""

from __future__ import annotations

from pathlib import Path

from tracelens.errors import TracelensError
from tracelens.loaders.base import Source, SourceInfo

__all__ = ["Source", "SourceInfo", "open_source"]

_SNIFFED_BYTES = 4096


def open_source(path: str | Path) -> Source:
    """Open one recording, whatever its format. Raises TracelensError where that can't be done."""
    path = Path(path)
    head = _head(path)
    from tracelens.loaders import kineto, nsys_sqlite

    if head.startswith(nsys_sqlite.HEADER):
        return nsys_sqlite.NsysSqlite(path)
    if kineto.is_json(path, head):
        return kineto.Kineto(path)
    raise TracelensError(
        f"{path} is neither an Nsight Systems SQLite export nor a torch.profiler trace",
        hint="export a report with: nsys export --type sqlite REPORT.nsys-rep",
    )


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            head = file.read(_SNIFFED_BYTES)
    except FileNotFoundError:
        raise TracelensError(f"{path} does not exist", hint="check the path") from None
    except IsADirectoryError:
        raise TracelensError(f"{path} is a folder", hint="name the files in it") from None
    except OSError as error:
        raise TracelensError(f"{path} cannot be read", hint=error.strerror or str(error)) from None
    if not head:
        raise TracelensError(f"{path} is empty", hint="the export was cut short: run it again")
    if head.startswith(b"version https://git-lfs"):
        raise TracelensError(
            f"{path} is a Git LFS pointer, not the file itself", hint="git lfs pull"
        )
    return head
