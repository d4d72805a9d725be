"""The runs of a batch in processes of this machine.

Processes are spawned, not forked: DuckDB and polars have threads, which a fork does not copy.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path

from tracelens.batch._plan import Task
from tracelens.batch._work import Result, analyse, lost

_QUEUED = 2
"""Tasks given out for each worker, so that none waits for its next one."""
_WATCH_SECONDS = 0.1
_END_SECONDS = 5.0
_TOO_LARGE = 137


def results(tasks: Sequence[Task], jobs: int, memory_bytes: int) -> Iterator[Result]:
    """Results as they come, of ``jobs`` processes that may take ``memory_bytes`` each.

    A worker that dies ends all of them, and takes with it the runs that were given out. Each of
    these is tried again alone, so that only the one to blame is lost.
    """
    pending = deque(tasks)
    while pending:
        threads = pending[0].threads
        given: dict[Future[Result], Task] = {}
        with _pool(min(jobs, len(pending)), threads, memory_bytes) as pool:
            try:
                while pending or given:
                    while pending and len(given) < _QUEUED * jobs:
                        given[pool.submit(_analysed, pending[0])] = pending[0]
                        pending.popleft()
                    for future in wait(given, return_when=FIRST_COMPLETED).done:
                        result = future.result()
                        del given[future]
                        yield result
            except BrokenProcessPool:
                pass  # what was given out is still known
        for future, task in given.items():
            is_there = future.done() and future.exception() is None
            yield future.result() if is_there else _alone(task, memory_bytes)


def _alone(task: Task, memory_bytes: int) -> Result:
    with _pool(1, task.threads, memory_bytes) as pool:
        try:
            return pool.submit(_analysed, task).result()
        except BrokenProcessPool:
            return lost(task)


@contextmanager
def _pool(jobs: int, threads: int, memory_bytes: int) -> Iterator[ProcessPoolExecutor]:
    """Workers that end with the block: at once where it is left by an error or an interrupt."""
    others = {child.pid for child in multiprocessing.active_children()}
    pool = ProcessPoolExecutor(
        jobs,
        multiprocessing.get_context("spawn"),
        _prepare,
        (os.getpid(), threads, memory_bytes),
    )
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        ours = [c for c in multiprocessing.active_children() if c.pid not in others]
        for child in ours:
            child.terminate()
        for child in ours:
            child.join(_END_SECONDS)
        raise
    pool.shutdown()


def _prepare(parent: int, threads: int, memory_bytes: int) -> None:
    """Set a worker up, before anything is imported that starts threads."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told as well, and ends us
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    import pyarrow as pa

    pa.set_cpu_count(threads)
    threading.Thread(target=_watch, args=(parent, memory_bytes), daemon=True).start()


def _watch(parent: int, memory_bytes: int) -> None:
    """End this process when its parent is gone, or when it holds more memory than it may."""
    while True:
        if os.getppid() != parent or _resident_bytes() > memory_bytes:
            os._exit(_TOO_LARGE)
        time.sleep(_WATCH_SECONDS)


def _resident_bytes() -> int:
    """Memory that this process holds; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_bytes().split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _analysed(task: Task) -> Result:
    """A result, and nothing left behind of how it was made."""
    import pyarrow as pa

    result = analyse(task)
    gc.collect()
    pa.default_memory_pool().release_unused()
    return result
