"""Many runs analysed into an archive of Parquet files, each once.

>>> from tracelens.batch import run_batch
>>> summary = run_batch(["profiles/"], "archive", jobs=4)
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tracelens.batch import _plan
from tracelens.batch._parts import Parts
from tracelens.batch._work import ERROR, FAILED, OK, UNCHANGED, Result
from tracelens.cache import tool_fingerprint
from tracelens.errors import TracelensError
from tracelens.inputs import expand, shown
from tracelens.options import Options

__all__ = ["Summary", "run_batch"]

Told: TypeAlias = Callable[[int, int, str], None]
"""Called before the first run and after each: runs done, runs to do, name of the last one."""
LEAST_BYTES = 512 << 20
"""A worker that has imported what it needs holds a good part of this already."""
_SHARE_OF_MACHINE = 0.8
"""What all workers together may take of the machine's memory, where the user does not say."""


@dataclass(frozen=True)
class Summary:
    """What a batch did: runs by what became of them, and the errors in the archive."""

    analysed: int = 0
    unchanged: int = 0
    errors: Sequence[tuple[str, str]] = ()
    """Names of the runs that could not be analysed, now or before, with the reason."""
    findings: Mapping[str, int] = field(default_factory=dict)
    """Runs by the first of their findings, of those analysed now."""


def run_batch(
    archive: Iterable[str | Path],
    output: str | Path,
    *,
    jobs: int | None = None,
    group: str | None = None,
    options: Options | None = None,
    memory_bytes: int | None = None,
    dask: str | None = None,
    told: Told | None = None,
) -> Summary:
    """Analyse the runs of an archive (files, folders, patterns, URLs) into the folder ``output``.

    A run that is there already is analysed again only if its files, the tool or the options
    changed; where only times of files did, it is not. ``group`` is a pattern that ranks of one run
    match alike. ``jobs`` processes work at a time, half of the cores where None, each of which may
    take ``memory_bytes``; with ``dask``, the workers of the cluster at this address.

    A run that cannot be analysed is a row with its error, and stops nothing. Raises TracelensError
    where there is nothing to do, where the folder cannot be written or another batch is at it, and
    where the cluster is of no use. In a script, call it under ``if __name__ == "__main__"``:
    workers import the script.
    """
    options = options or Options()
    runs = _plan.runs(expand(archive), group)
    count = min(jobs or max(1, (os.cpu_count() or 2) // 2), max(1, len(runs)))
    memory = _memory(memory_bytes, count)
    parts = Parts(Path(output))
    with parts.locked():
        done = parts.done()
        _forget_other_groupings(parts, done, runs)
        share = _Share(1 if dask else _threads(count), None if dask else memory)
        if dask is not None and memory_bytes is not None:
            share = _Share(1, memory_bytes)
        tasks = list(_tasks(runs, done, options, share))
        counted = _written(parts, _results(tasks, count, memory, dask), len(tasks), told)
        return _summary(parts, counted, len(runs) - len(tasks), runs)


def _threads(jobs: int) -> int:
    """Threads for each worker: all of them together have no more than there are cores."""
    return max(1, (os.cpu_count() or 1) // jobs)


def _memory(wanted: int | None, jobs: int) -> int:
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    memory = int(_SHARE_OF_MACHINE * whole / jobs) if wanted is None else wanted
    if memory < LEAST_BYTES:
        raise TracelensError(
            f"{memory >> 20} MB are too little for a job", hint="at least 512MB, or fewer --jobs"
        )
    return memory


@dataclass(frozen=True)
class _Share:
    """What one run may take of its machine; None: what a single analysis would."""

    threads: int
    memory_bytes: int | None


def _tasks(
    runs: Sequence[_plan.Run], done: Mapping[str, Mapping[str, Any]], options: Options,
    share: _Share,
) -> Iterator[_plan.Task]:  # fmt: skip
    """What is still to be analysed."""
    key, tool = _plan.options_key(options), tool_fingerprint()
    # tables in half of what a worker may take: the rest is for what is not in tables
    limit = None if share.memory_bytes is None else f"{share.memory_bytes // 2}B"
    for run in runs:
        state, known = run.state(), done.get(run.key, {})
        is_same = known.get("tool") == tool and known.get("options") == key
        is_same &= known.get("status") in (OK, ERROR)
        if is_same and known["state"] == state:
            continue
        content = known["content"] if is_same else None
        yield _plan.Task(run, options, key, state, limit, share.threads, content)


def _results(
    tasks: Sequence[_plan.Task], jobs: int, memory: int, dask: str | None
) -> Iterator[Result]:
    if not tasks:
        return iter(())
    if dask is not None:
        from tracelens.batch import _cluster

        return _cluster.results(tasks, dask)
    from tracelens.batch import _local

    return _local.results(tasks, jobs, memory)


def _written(
    parts: Parts, results: Iterator[Result], whole: int, told: Told | None
) -> Counter[str]:
    """Write results as they come, and count what became of the runs."""
    counted: Counter[str] = Counter()
    if told is not None:
        told(0, whole, "")
    for place, result in enumerate(results, 1):
        parts.write(result)
        counted[result.status] += 1
        if result.status == OK and result.row["top_finding"]:
            counted[f"finding {result.row['top_finding']}"] += 1
        if told is not None:
            told(place, whole, result.run.name)
    return counted


def _summary(
    parts: Parts, counted: Counter[str], skipped: int, runs: Sequence[_plan.Run]
) -> Summary:
    wanted = {run.key for run in runs}
    errors = [
        (row["run"], row["error"])
        for key, row in parts.done().items()
        if key in wanted and row["status"] != OK
    ]
    return Summary(
        analysed=counted[OK] + counted[ERROR] + counted[FAILED],
        unchanged=skipped + counted[UNCHANGED],
        errors=sorted(errors),
        findings={
            name.removeprefix("finding "): number
            for name, number in counted.most_common()
            if name.startswith("finding ")
        },
    )


def _forget_other_groupings(
    parts: Parts, done: Mapping[str, Mapping[str, Any]], runs: Sequence[_plan.Run]
) -> None:
    """Remove runs that earlier batches made of the same files in other groups."""
    keys = {run.key for run in runs}
    files = {shown(file) for run in runs for file in run.files}
    for key, row in done.items():
        if key not in keys and files.issuperset(row["files"]):
            parts.remove(key)
