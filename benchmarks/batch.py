"""A batch over many copies of the sample traces: runs a second a core, memory, overhead.

    python benchmarks/batch.py [--copies 200] [--jobs 2] [--archive FOLDER]

Overhead is the time of all jobs beyond what the analyses took by their own clocks: starting
workers, looking at the archive, hashing files, handing out, writing tables. It holds on a busy
machine as well; so do runs a CPU second, which is what a core of its own would do.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from tracelens.batch import run_batch

ROOT = Path(__file__).resolve().parent.parent
_SAMPLE_SECONDS = 0.05


def copies(archive: Path, target: Path, count: int) -> list[Path]:
    """So many copies of the recordings of a folder, under names of their own."""
    sources = sorted(archive.glob("*.sqlite"))
    made = []
    for i in range(count):
        source = sources[i % len(sources)]
        made.append(target / f"{i:04}.{source.name.replace('rank', 'part')}")
        shutil.copy(source, made[-1])
    return made


@contextmanager
def peak_memory(found: dict[int, int]) -> Iterator[None]:
    """Watch this process's children: the most that each held, in bytes, by process id."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_SAMPLE_SECONDS):
            for pid, size in children():
                found[pid] = max(size, found.get(pid, 0))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def children() -> Iterator[tuple[int, int]]:
    """Process ids of this process's children, and what they hold in memory."""
    for path in Path("/proc/self/task").glob("*/children"):
        for pid in path.read_text().split():
            status = Path(f"/proc/{pid}/status")
            try:
                lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
                yield int(pid), 1024 * int(lines["VmRSS"].split()[0])
            except (OSError, KeyError):
                continue


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--copies", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--archive", type=Path, default=ROOT / "sample_traces")
    given = parser.parse_args()
    held: dict[int, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        runs = copies(given.archive, Path(folder), given.copies)
        archive = Path(folder) / "archive"
        started = time.monotonic()
        with peak_memory(held):
            summary = run_batch(runs, archive, jobs=given.jobs)
        wall = time.monotonic() - started
        started = time.monotonic()
        run_batch(runs, archive, jobs=given.jobs)
        again = time.monotonic() - started
        analyses = pl.read_parquet(f"{archive}/runs/*.parquet")["analysis_s"].sum()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    count = summary.analysed
    print(f"{count} runs at {given.jobs} jobs in {wall:.1f} s")
    print(f"runs a second a job {count / wall / given.jobs:.2f}, a CPU second {count / cpu:.2f}")
    print(f"analyses by their own clocks {analyses:.1f} s, {analyses / count:.2f} s each")
    print(f"overhead {100 * (wall * given.jobs / analyses - 1):.1f} %")
    print(f"most memory of a worker {max(held.values()) / 1e6:.0f} MB")
    print(f"a second batch, nothing changed: {again:.2f} s")


if __name__ == "__main__":
    main()
