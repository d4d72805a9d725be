"""What any file can be wrong with before its format matters."""

from __future__ import annotations

import stat
from pathlib import Path

from tracelens.errors import TracelensError

SNIFFED_BYTES = 4096
EXPORT = "nsys export --type sqlite REPORT.nsys-rep"
_ALWAYS = ("StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA")
"""Tables of which every export has one."""
_REPORTS = (".nsys-rep", ".qdrep", ".qdstrm")


def is_parquet_export(path: Path) -> bool:
    """Whether a path is a folder of tables as Parquet, which is one recording."""
    try:
        return any((path / f"{table}.parquet").is_file() for table in _ALWAYS)
    except (OSError, ValueError):  # a path that no file can have
        return False


def head(path: Path) -> bytes:
    """The first bytes of a regular file. Raises TracelensError where there are none to read."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise TracelensError(f"{path} is a folder", hint="name the files in it")
        if not stat.S_ISREG(mode):
            # a pipe would block, and be empty when it is read the second time
            raise TracelensError(f"{path} is a pipe or a device", hint="save it as a file first")
        with path.open("rb") as file:
            first = file.read(SNIFFED_BYTES)
    except FileNotFoundError:
        raise _missing(path) from None
    except PermissionError:
        raise TracelensError(
            f"{path} may not be read", hint="ask its owner for the permission, or copy it"
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise TracelensError(
            f"{path} cannot be read ({reason})", hint="check the path and the disk"
        ) from None
    _refuse_placeholder(path, first)
    return first


def unknown_format(path: Path, first: bytes) -> TracelensError:
    """The error for content that no loader knows, with the likeliest reason."""
    if path.suffix in _REPORTS:
        return TracelensError(
            f"{path} is the report that nsys records, not an export of it",
            hint=f"nsys export --type sqlite {path}",
        )
    if not any(first[:16]):
        return TracelensError(
            f"{path} begins with zeros: it is damaged, or was not copied to the end",
            hint=f"copy it again, or export it again: {EXPORT}",
        )
    if b"\0" in first and not first.startswith(b"\x1f\x8b"):
        return TracelensError(
            f"{path} is neither an Nsight Systems SQLite export nor a torch.profiler trace",
            hint=f"if it is an Nsight Systems report, export it: nsys export --type sqlite {path}",
        )
    return TracelensError(
        f"{path} is neither an Nsight Systems SQLite export nor a torch.profiler trace",
        hint=f"export a report with: {EXPORT}",
    )


def _missing(path: Path) -> TracelensError:
    if path.is_symlink():
        return TracelensError(
            f"{path} is a link to a file that does not exist", hint="check where it points"
        )
    return TracelensError(f"{path} does not exist", hint="check the path")


def _refuse_placeholder(path: Path, first: bytes) -> None:
    if not first:
        raise TracelensError(f"{path} is empty", hint="the export was cut short: run it again")
    if first.startswith(b"version https://git-lfs"):
        raise TracelensError(
            f"{path} is a Git LFS pointer, not the file itself", hint="git lfs pull"
        )
