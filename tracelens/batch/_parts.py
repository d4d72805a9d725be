"""The files of an archive: for each run a Parquet file in each table's folder, written whole.

The file in ``runs`` is written last and removed first: without it a run does not count as done,
whatever else of it a killed batch left behind.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tracelens.batch._facts import Rows
from tracelens.batch._plan import Run
from tracelens.batch._schema import TABLES
from tracelens.batch._work import UNCHANGED, Result
from tracelens.errors import TracelensError

_FACTS = tuple(name for name in TABLES if name != "runs")
_REMEMBERED = ("run", "files", "status", "error", "tool", "options", "state", "content")


class Parts:
    """The folder of an archive, written by one batch at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        try:
            for table in TABLES:
                (root / table).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TracelensError(
                f"{root} cannot be written ({error.strerror})", hint="choose another --output"
            ) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other batches out. Raises TracelensError where one is at work here."""
        with (self.root / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise TracelensError(
                    f"another batch is writing to {self.root}", hint="wait for it, or stop it"
                ) from None
            yield

    def done(self) -> dict[str, dict[str, Any]]:
        """What is known of each run that was finished, by key; damaged files do not count."""
        found = {}
        for path in (self.root / "runs").glob("*.parquet"):
            try:
                (row,) = pq.read_table(
                    path, columns=list(_REMEMBERED), partitioning=None
                ).to_pylist()
            except (pa.ArrowException, OSError, ValueError):
                continue
            found[path.stem] = row
        return found

    def write(self, result: Result) -> None:
        """Put the rows of a run in the place of what was there."""
        run = result.run
        if result.status == UNCHANGED:
            self._touch(run, result.row)
            return
        self.remove(run.key)
        for table in _FACTS:
            if table in result.rows:
                self._write(table, run, result.rows[table])
        self._write("runs", run, result.rows["runs"])

    def remove(self, key: str) -> None:
        """Forget a run."""
        for table in ("runs", *_FACTS):
            self._path(table, key).unlink(missing_ok=True)

    def _touch(self, run: Run, row: dict[str, Any]) -> None:
        """Files that were touched and hold what they held: note their new times."""
        path = self._path("runs", run.key)
        (known,) = pq.read_table(path, partitioning=None).to_pylist()
        self._write("runs", run, [{**known, "files": row["files"], "state": row["state"]}])

    def _write(self, table: str, run: Run, rows: Rows) -> None:
        keyed = [{**row, "run_key": run.key, "run": run.name} for row in rows]
        path = self._path(table, run.key)
        unfinished = path.with_name(f".{path.name}.unfinished")
        data = pa.Table.from_pylist(keyed, TABLES[table].schema)
        # the facts of a run are one row group
        pq.write_table(data, unfinished, compression="zstd", row_group_size=max(1, len(keyed)))
        os.replace(unfinished, path)  # noqa: PTH105  as readers see it: whole, or as before

    def _path(self, table: str, key: str) -> Path:
        return self.root / table / f"{key}.parquet"
