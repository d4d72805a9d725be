"""Read a long trace in parts, each in a process of its own.

Python makes columns of events on one processor at a time. So a helper reads from a place in the
file that looks like the border of two events, while this process reads up to there. Whether it is
one, this process says: what it has left before that place must be a list of whole events. Where
that fails, or a helper meets text that needs repair, or cannot be started, this process reads on
as if it were alone: what comes out is the same.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa

from tracelens.loaders import kineto_handover
from tracelens.loaders.kineto_stream import GZIP_MAGIC, TraceStream
from tracelens.loaders.kineto_tables import Tables
from tracelens.loaders.kineto_values import InexactTimesError

SMALLEST_BYTES = 48 << 20
"""A part of this size takes half a second to read, and a helper half of that to start."""
_MOST_PARTS = 4
_AHEAD_BYTES = 40 << 20
"""So much this process reads while a helper starts, and while it hands over what it read."""
_HELPER = "from tracelens.loaders.kineto_parts import main; main()"


def read(path: Path) -> tuple[TraceStream, Tables]:
    """A trace's events as tables, and the stream that they came from, with the header.

    Raises TracelensError where the file is no trace, or cut short.
    """
    stream, tables = TraceStream(path), Tables()
    borders = _borders(path)
    with _no_garbage_collection(), _Helpers(path, borders) as helpers:
        until = helpers.begin[0] if helpers.begin else None
        for events in stream.blocks(until=until):
            _add(events, stream, tables)
            if stream.is_at_border and (found := helpers.results()) is not None:
                for part, header in found:
                    tables.extend(part)
                    stream.header = header
                break
    return stream, tables


def main() -> None:
    """Read the part that the arguments tell (file, begin, end or 0), and write it to stdout."""
    path, begin, end = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    gc.disable()
    stream, tables = TraceStream(path), Tables()
    for events in stream.blocks(begin, end or None):
        _add(events, stream, tables)
        if stream.repairs:
            sys.exit("text that needs repair")
        if stream.is_at_border:
            break
    if end and not stream.is_at_border:
        sys.exit("no border at the end of the part")
    kineto_handover.send(tables, stream.header, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _add(events: list[dict[str, Any]], stream: TraceStream, tables: Tables) -> None:
    try:
        tables.add(events)
    except InexactTimesError:
        tables.add(stream.exact_block())


def _borders(path: Path) -> list[int]:
    """About where the parts behind the first begin, in bytes of the unzipped text."""
    size = _unzipped_bytes(path)
    count = max(1, min(_processors(), size // SMALLEST_BYTES, _MOST_PARTS))
    ahead = min(_AHEAD_BYTES, size // 4)
    share = (size - ahead) // count
    return [ahead + share * i for i in range(1, count)]


def _processors() -> int:
    """How many this process may use: where others share them, Arrow was told so."""
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:
        usable = os.cpu_count() or 1
    allowed: int = pa.cpu_count()
    return min(usable, allowed)


def _unzipped_bytes(path: Path) -> int:
    """The length of the text; of a gzip file what its end says, which may be too little."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(2) != GZIP_MAGIC or size < 4:
            return size
        file.seek(-4, os.SEEK_END)
        return max(size, int.from_bytes(file.read(4), "little"))


class _Helpers:
    """Processes that read the parts that begin at these places, the last one to the end."""

    def __init__(self, path: Path, begin: Sequence[int]) -> None:
        self.begin = begin
        self._path = path
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> _Helpers:
        if not Path(sys.executable).name.lower().startswith(("python", "pypy")):
            self.begin = []  # a program with a Python inside: who knows what it would start
        # the same modules as here, and none from the folder that the user stands in
        places = [*filter(None, sys.path), str(Path(__file__).resolve().parents[2])]
        command = [sys.executable, "-P", "-c", _HELPER, str(self._path)]
        try:
            for begin, end in zip(self.begin, (*self.begin[1:], 0), strict=False):
                self._processes.append(
                    subprocess.Popen(
                        [*command, str(begin), str(end)],
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE,
                        pipesize=1 << 20,
                        stderr=subprocess.DEVNULL,
                        env=os.environ | {"PYTHONPATH": os.pathsep.join(places)},
                    )
                )
        except OSError:  # no interpreter of its own, no memory, no processes left
            self.begin = []
        return self

    def results(self) -> list[tuple[Tables, dict[str, Any]]] | None:
        """What they read, in the order of the file; None if one of them could not."""
        found = []
        for process in self._processes:
            assert process.stdout is not None
            try:
                found.append(kineto_handover.received(process.stdout))
            except EOFError:
                return None
        return found

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Millions of young dictionaries make the collector run all the time, and find nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
