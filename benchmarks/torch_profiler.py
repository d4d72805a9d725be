"""How fast torch.profiler traces are read, against parsing alone and HolisticTraceAnalysis (HTA).

usage: torch_profiler.py TRACE.json.gz [COPIES] [--peer PYTHON]

Each measurement is a process of its own, once: wall clock, processor time of all threads, and peak
memory. With COPIES the trace is first made longer, by repeating its events at shifted times. PYTHON
is an interpreter that has HTA installed: its loading and temporal breakdown are set against the
whole of ``tracelens analyze --no-cache``. NOTES.md has results.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHIFT_US = 10_000_000
ID_SHIFT = 1_000_000
ORJSON = "import orjson, pathlib, sys; orjson.loads(pathlib.Path(sys.argv[1]).read_bytes())"
LOADER = (
    "import sys; from tracelens.loaders import open_source; "
    "open_source(sys.argv[1]).load(['gpu_op'])"
)
ANALYZE = (
    "import sys; from tracelens.cli import main; "
    "sys.argv[1:] = ['analyze', '--no-cache', *sys.argv[1:]]; main()"
)
PEER = """
import sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]})
print(analysis.get_temporal_breakdown(visualize=False).to_string())
"""


def lengthen(trace: Path, copies: int, path: Path) -> None:
    """Write the trace with its events repeated, times and correlation ids shifted in each copy."""
    text = gzip.decompress(trace.read_bytes())
    start = text.index(b"[", text.index(b'"traceEvents"')) + 1
    end = text.rindex(b"]", 0, text.rindex(b"}"))
    with path.open("wb") as file:
        file.write(text[:start])
        for copy in range(copies):
            file.write(b"," * bool(copy) + _shifted(text[start:end], copy))
        file.write(text[end:])


def _shifted(events: bytes, copy: int) -> bytes:
    def shift(match: re.Match[bytes]) -> bytes:
        step = SHIFT_US if match[1] == b"ts" else ID_SHIFT
        return b'"%s": %d' % (match[1], int(match[2]) + copy * step)

    return re.sub(rb'"(ts|correlation)": ?(\d+)', shift, events)


def measure(what: str, python: str, code: str, path: Path) -> tuple[float, float]:
    """Wall and processor seconds of a program that is given the trace: printed, with its peak
    memory, and returned."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [python, "-c", code, str(path)],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall, cpu = time.perf_counter() - begun, used.ru_utime + used.ru_stime
    failed = f"  exit status {process.returncode}" if process.returncode else ""
    peak_mb = used.ru_maxrss / 1e3
    print(f"{what:20} {wall:7.2f} s  {cpu:7.2f} s cpu  {peak_mb:7.0f} MB{failed}", flush=True)
    return wall, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("copies", type=int, nargs="?", default=1)
    parser.add_argument("--peer", help="a Python that has HolisticTraceAnalysis")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        lengthen(given.trace, given.copies, path)
        print(f"{path.stat().st_size / 1e6:.0f} MB")
        measure("orjson.loads", sys.executable, ORJSON, path)
        measure("tracelens, loading", sys.executable, LOADER, path)
        own = measure("tracelens analyze", sys.executable, ANALYZE, path)
        if given.peer:
            peer = measure("HTA, breakdown", given.peer, PEER, path)
            wall, cpu = (theirs / ours for theirs, ours in zip(peer, own, strict=True))
            print(f"HTA / tracelens      {wall:7.1f} x  {cpu:7.1f} x cpu")


if __name__ == "__main__":
    main()
