"""One run analysed, in whatever process: a task in, a result out, and never an exception."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracelens._version import __version__
from tracelens.batch._facts import Rows, facts
from tracelens.batch._plan import Run, Task
from tracelens.cache import tool_fingerprint
from tracelens.errors import TracelensError
from tracelens.inputs import content, is_url, shown

if TYPE_CHECKING:
    from tracelens.trace import Trace

_LATEST_NS = 4_102_444_800 * 10**9
"""The year 2100: a clock beyond it was never set."""
OK, ERROR, FAILED, UNCHANGED = "ok", "error", "failed", "unchanged"


@dataclass(frozen=True)
class Result:
    """What became of a run: its status, and rows by table. ``unchanged`` has no rows of facts."""

    run: Run
    status: str
    rows: dict[str, Rows] = field(default_factory=dict)

    @property
    def row(self) -> dict[str, Any]:
        """The row in ``runs``."""
        return self.rows["runs"][0]


def analyse(task: Task) -> Result:
    """Analyse one run. What is wrong with its files, or goes wrong here, becomes its status."""
    known = _known(task)
    try:
        known["content"] = _content(task.run)
        if task.known_content is not None and known["content"] == task.known_content:
            return Result(task.run, UNCHANGED, {"runs": [known]})
        started = time.monotonic()
        with _opened(task) as trace:
            rows = facts(trace.report())
            known["recorded_at"] = _recorded_at(trace) or known["recorded_at"]
        known["analysis_s"] = time.monotonic() - started
    except TracelensError as error:
        return _unusable(task.run, ERROR, known, error.message, error.hint)
    except MemoryError:
        return _unusable(task.run, FAILED, known, _OUT_OF_MEMORY, _MORE_MEMORY)
    except OSError as error:
        said = f"{error.filename or 'input or output'}: {error.strerror or error}"
        return _unusable(task.run, FAILED, known, said, "")
    except Exception as error:  # one run must not end the others
        if type(error).__name__ == "OutOfMemoryException":
            return _unusable(task.run, FAILED, known, _OUT_OF_MEMORY, _MORE_MEMORY)
        said = f"unexpected {type(error).__name__}: {error}".partition("\n")[0]
        return _unusable(task.run, ERROR, known, said, "please report this with the recording")
    rows["runs"] = [{**known, **rows["runs"][0], "status": OK}]
    return Result(task.run, OK, rows)


_OUT_OF_MEMORY = "there is not enough memory for this run"
_MORE_MEMORY = "give each job more: --memory-limit, or fewer --jobs"


def lost(task: Task) -> Result:
    """The result of a run whose worker died over it."""
    said = "its worker died: it needed more memory than a job may take, or was killed"
    return _unusable(task.run, FAILED, _known(task), said, _MORE_MEMORY)


def _unusable(run: Run, status: str, known: dict[str, Any], error: str, hint: str) -> Result:
    return Result(
        run, status, {"runs": [{**known, "status": status, "error": error, "hint": hint}]}
    )


def _known(task: Task) -> dict[str, Any]:
    """What can be said of a run before it is opened."""
    return {
        "files": [shown(file) for file in task.run.files],
        "ranks": len(task.run.files),
        "recorded_at": _file_time(task.run.files[0]),
        "analysed_at": datetime.now(UTC),
        "tool_version": __version__,
        "tool": tool_fingerprint(),
        "options": task.options_key,
        "state": task.state,
        "content": None,
    }


def _content(run: Run) -> str | None:
    """What the files hold, or None where they are remote or not there."""
    if any(is_url(file) or not Path(file).exists() for file in run.files):
        return None
    return " ".join(content(Path(file)) for file in run.files)


@contextmanager
def _opened(task: Task) -> Iterator[Trace]:
    from tracelens.trace import open as open_trace

    trace = open_trace(
        task.run.files,
        iterations=task.options.iterations,
        phases=task.options.phases,
        samples_per_iteration=task.options.samples_per_iteration,
        cache=False,
        memory_limit=task.memory_limit,
    )
    connection = trace.engine.connection
    try:
        connection.execute(f"SET threads = {task.threads}")
        yield trace
    finally:
        connection.close()


def _recorded_at(trace: Trace) -> datetime | None:
    start_ns = trace.engine.frame("capture_info")["utc_start_ns"].min()
    return (
        datetime.fromtimestamp(start_ns / 1e9, UTC)
        if isinstance(start_ns, int) and 0 < start_ns < _LATEST_NS
        else None
    )


def _file_time(file: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(Path(file).stat().st_mtime, UTC)
    except (OSError, ValueError):
        return None
