"""Wall time of whole processes, start to exit: what a person at a terminal waits for.

usage: startup.py [RUNS]

Prints the shortest of RUNS runs of each command (7 unless given), since anything else that the
machine does only ever adds to it, and exits with status 1 where a target is missed. Modules are
compiled, as those of an installation are, whatever PYTHONDONTWRITEBYTECODE says.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRACELENS = [sys.executable, "-m", "tracelens"]
SAMPLE = str(ROOT / "sample_traces" / "starved.sqlite")

ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

# Command, and the seconds it may take.
COMMANDS = [
    (["--help"], 0.2),
    (["info", SAMPLE], 0.2),
    (["analyze", "--no-cache", SAMPLE], 1.0),
]


def seconds(arguments: list[str]) -> float:
    """Wall time of one run, which must succeed."""
    started = time.perf_counter()
    command = [*TRACELENS, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT, env=ENVIRONMENT)
    return time.perf_counter() - started


def main(runs: int) -> int:
    print(f"{'command':48} {'shortest':>9} {'target':>9}")
    missed = 0
    for arguments, target in COMMANDS:
        shortest = min(seconds(arguments) for _ in range(runs))
        missed += shortest > target
        shown = " ".join(["tracelens", *arguments]).replace(f"{ROOT}/", "")
        print(f"{shown:48} {shortest:7.3f} s {target:7.3f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 7))
