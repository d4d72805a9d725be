"""Compressed exports and reports of the recorder, as files that a loader opens."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from tracelens.errors import TracelensError
from tracelens.inputs._store import Store
from tracelens.loaders import nsys_sqlite

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_REPORTS = (".nsys-rep", ".qdrep")
_BLOCK = 1 << 20


def readable(path: Path, head: bytes, store: Store) -> Path:
    """The file itself where a loader opens it, else what was unpacked or exported from it."""
    if head.startswith(_ZSTD):
        return _unpacked(path, "zstd", store)
    # zipped traces are read as they are; a zipped database has to lie on disk
    if head.startswith(_GZIP) and _is_zipped_database(path):
        return _unpacked(path, "gzip", store)
    if path.suffix in _REPORTS and not head.startswith(nsys_sqlite.HEADER):
        return _exported(path, store)
    return path


def _is_zipped_database(path: Path) -> bool:
    import pyarrow as pa

    try:
        with pa.input_stream(str(path), compression="gzip") as file:
            return bytes(file.read(len(nsys_sqlite.HEADER))) == nsys_sqlite.HEADER
    except (OSError, pa.ArrowException):
        return False


def _unpacked(path: Path, compression: str, store: Store) -> Path:
    import pyarrow as pa

    def unpack(target: Path) -> None:
        try:
            with (
                pa.input_stream(str(path), compression=compression) as packed,
                target.open("wb") as file,
            ):
                while block := packed.read(_BLOCK):
                    file.write(block)
        except (OSError, pa.ArrowException) as error:
            if getattr(error, "errno", None):
                raise  # of the disk, not of the content
            raise TracelensError(
                f"{path} is a damaged {compression} file ({str(error).partition(chr(10))[0]})",
                hint="copy it again",
            ) from None

    name = path.stem if path.suffix in (".gz", ".zst") else path.name
    return store.get(_identity(path), name, unpack)


def _exported(path: Path, store: Store) -> Path:
    """What nsys makes of its report, where there is an nsys that can read it."""
    target = f"{path.stem}.sqlite"
    advice = f"nsys export --type sqlite --output {shlex.quote(target)} {shlex.quote(str(path))}"
    nsys = shutil.which("nsys")
    if nsys is None:
        raise TracelensError(
            f"{path} is the report that nsys records, not an export of it, and there is no nsys "
            "on the PATH",
            hint=f"where there is one, run: {advice}",
        )

    def export(made: Path) -> None:
        command: list[str | Path] = [
            nsys,
            "export",
            "--type",
            "sqlite",
            "--output",
            made,
            path.absolute(),
        ]
        import subprocess

        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode or not made.is_file():
            said = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()
            raise TracelensError(
                f"nsys cannot export {path} ({said[-1].strip()})",
                hint=f"with an nsys as new as the recorder's, run: {advice}",
            )

    return store.get(_identity(path), target, export)


def times(path: Path) -> str:
    """What a file is known by without reading it: another one at its place has another time."""
    status = path.stat()
    return f"{status.st_size},{status.st_mtime_ns},{status.st_ctime_ns}"


def _identity(path: Path) -> str:
    return f"{path.resolve()} {times(path)}"
