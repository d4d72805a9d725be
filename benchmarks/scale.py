"""What large captures cost, stage by stage, beside the time that reading their tables takes.

usage: scale.py [--large] [--keep] [CASE ...]        (cases: kernels-1m, ranges-1.7m, nest-1000;
with --large kernels-10m)

Inputs are laid out once in benchmarks/work by ../shared/tools/scale_trace.py from the project's
own recordings. Every figure is a ratio to the read floor, measured in the same run: reading the
tables of kernels, calls, ranges and strings with connectorx, a thread each, and nothing else.
tracelens itself reads no column that it doesn't use, so that its loading takes less. Ratios are
compared with benchmarks/baseline.json; --keep writes it anew.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
WORK = ROOT / "benchmarks" / "work"
BASELINE = ROOT / "benchmarks" / "baseline.json"
FLOOR = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "StringIds")
SCALED = {
    "kernels-1m": ("optloop", 27),
    "ranges-1.7m": ("emitnvtx_shapes", 320),
    "kernels-10m": ("optloop", 270),
}
NEST = "nest-1000"
SLOWER = 1.2
"""A ratio that grew by more than this is told: less is the machine's own noise."""


def trace_of(case: str) -> Path:
    """The input of a case, made if it is not there yet."""
    WORK.mkdir(exist_ok=True)
    path = WORK / f"{case}.sqlite"
    if path.exists():
        return path
    if case == NEST:
        return nested(path)
    name, copies = SCALED[case]
    tool, source = SHARED / "tools" / "scale_trace.py", SHARED / "traces" / "nsys"
    subprocess.run([sys.executable, tool, source / f"{name}.sqlite", str(copies), path], check=True)
    return path


def nested(path: Path, depth: int = 1000, times: int = 22) -> Path:
    """An export whose ranges nest a thousand deep, with a launch in each of the innermost."""
    sys.path.insert(0, str(ROOT))
    from tests.exports import Call, Kernel, Range, make_export

    ranges, calls, kernels = [], [], []
    for turn in range(times):
        start = turn * 10_000_000
        ranges += [Range(start + i, start + 9_000_000 - i, f"level_{i}") for i in range(depth)]
        for i in range(50):
            at, number = start + 10_000 + i * 1000, turn * 50 + i + 1
            calls.append(Call(at, at + 500, correlation=number))
            kernels.append(Kernel(at + 600, at + 900, correlation=number))
    make_export(path, kernels=kernels, calls=calls, ranges=ranges)
    return path


def read_floor(path: Path) -> float:
    """Seconds to read whole tables, and do nothing with them."""
    import connectorx

    def read(table: str) -> None:
        connectorx.read_sql(f"sqlite://{path}", f"SELECT * FROM {table}", return_type="arrow")

    started = time.perf_counter()
    with ThreadPoolExecutor(len(FLOOR)) as pool:
        list(pool.map(read, FLOOR))
    return time.perf_counter() - started


def one_at_a_time(run, tasks, waits_for, do, _, interrupt):
    run(tasks, waits_for, do, 1, interrupt)


def measure(path: Path) -> dict[str, float]:
    """Seconds of each stage of one cold analysis in this process, and its peak memory."""
    from tracelens import sqlfiles, workers
    from tracelens.engine import Engine
    from tracelens.loaders import open_source
    from tracelens.reports import renderer
    from tracelens.staging import Stager
    from tracelens.trace import Trace

    spent: dict[str, float] = defaultdict(float, floor=read_floor(path))
    inner = [0.0]

    def timed(stage_of, run):
        def wrapped(self: object, name: object, *more: object) -> object:
            began = time.perf_counter()
            inner.append(0.0)
            made = run(self, name, *more)
            took = time.perf_counter() - began
            spent[stage_of(name)] += took - inner.pop()
            inner[-1] += took
            return made

        return wrapped

    def stage(name: object) -> str:
        module = sqlfiles.modules().get(str(name))
        if module is not None:
            return "metrics and views" if module.layer != "core" else "core"
        return "steps"

    # one relation at a time, so that each has its own time; the whole process is measured as it is
    workers.run = partial(one_at_a_time, workers.run)
    Engine.build = timed(stage, Engine.build)  # type: ignore[method-assign]
    Stager.fill = timed(lambda _: "staging", Stager.fill)  # type: ignore[method-assign]
    Stager._load = timed(lambda _: "load", Stager._load)  # type: ignore[method-assign]
    engine = Engine([open_source(path)])
    trace = Trace(engine)
    started = time.perf_counter()
    report = trace.report(in_passing=True)
    renderer("text").render(report, width=100, color=False)
    total = time.perf_counter() - started
    spent["rules and report"] = total - sum(s for n, s in spent.items() if n != "floor")
    spent["total"] = total
    return dict(spent)


def whole(path: Path, *arguments: str) -> tuple[float, float]:
    """Wall seconds and peak megabytes of a whole process, which must succeed."""
    command = [sys.executable, "-m", "tracelens", *arguments, str(path)]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT)
    _, status, used = os.wait4(process.pid, 0)
    took = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
    return took, used.ru_maxrss / 1e3


def run(case: str) -> dict[str, float]:
    """All figures of one case: seconds, and what they are as multiples of the floor."""
    path = trace_of(case)
    child = [sys.executable, __file__, "--measure", str(path)]
    done = subprocess.run(child, check=True, capture_output=True, text=True, cwd=ROOT)
    figures = json.loads(done.stdout)
    with tempfile.TemporaryDirectory() as cache:
        environment = ("analyze", "--format", "json", "--output", f"{cache}/report.json")
        figures["analyze, cold"], figures["peak_mb"] = whole(path, *environment, "--no-cache")
        whole(path, *environment)
        figures["analyze, cached"], _ = whole(path, *environment)
        figures["info"], _ = whole(path, "info", "--no-cache")
    return figures


def table(case: str, figures: dict[str, float], known: dict[str, float]) -> dict[str, float]:
    """Print a case, and give its ratios."""
    floor = figures["floor"]
    ratios = {n: s / floor for n, s in figures.items() if n not in ("floor", "peak_mb")}
    print(f"\n{case}: read floor {floor:.2f} s, peak {figures['peak_mb']:,.0f} MB")
    for name, ratio in ratios.items():
        slower = ratio > known.get(name, ratio) * SLOWER
        mark = f"   slower: was {known[name]:.2f}" if slower else ""
        print(f"  {name:20} {figures[name]:8.2f} s {ratio:8.2f} x floor{mark}")
    return ratios


def rows(path: Path) -> int:
    """Kernels in an input, for the size that a reader can check."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return int(db.execute(f"SELECT count(*) FROM {FLOOR[0]}").fetchone()[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--large", action="store_true", help="with ten million kernels")
    parser.add_argument("--keep", action="store_true", help="keep these ratios as the baseline")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    if given.measure:
        print(json.dumps(measure(given.measure)))
        return 0
    if not SHARED.is_dir():
        print("scale.py: ../shared is not here, and large inputs are made with its tools")
        return 0
    chosen = given.cases or [NEST, "kernels-1m", "ranges-1.7m"]
    if given.large:
        chosen.append("kernels-10m")
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    found, seconds = {}, {}
    for case in chosen:
        print(f"{case}: {rows(trace_of(case)):,} kernels", flush=True)
        seconds[case] = run(case)
        found[case] = table(case, seconds[case], baseline.get(case, {}))
    if {"kernels-1m", "kernels-10m"} <= seconds.keys():
        one, ten = (seconds[case]["analyze, cold"] for case in ("kernels-1m", "kernels-10m"))
        print(f"\nten million kernels take {ten / one:.1f} times as long as one")
    if given.keep:
        rounded = {c: {n: round(r, 2) for n, r in of.items()} for c, of in found.items()}
        BASELINE.write_text(json.dumps({**baseline, **rounded}, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
