"""How well the replay reproduces recordings with nothing taken away.

    python benchmarks/replay_selftest.py [RECORDING...]

Without arguments: the sample traces, and ../shared/traces where they are. Files named NAME.rank0,
NAME.rank1, … count as one run. Prints, for each device, the measured and the replayed period, the
error, the iterations replayed and the time taken; exits with 1 where an error exceeds 3 %.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tracelens.engine import Engine  # noqa: E402
from tracelens.errors import TracelensError  # noqa: E402
from tracelens.loaders import open_source  # noqa: E402

FOLDERS = ("sample_traces", "../shared/traces/nsys", "../shared/traces/kineto")


def recordings() -> list[Path]:
    """What there is beside and in this checkout."""
    found = [p for folder in FOLDERS for p in sorted((ROOT / folder).glob("*"))]
    return [p for p in found if p.suffix == ".sqlite" or p.name.endswith(".trace.json.gz")]


def runs(paths: Sequence[Path]) -> dict[str, list[Path]]:
    """Files by run: the ranks of one run belong together."""
    grouped: dict[str, list[Path]] = {}
    for path in paths:
        name = re.sub(r"\.rank\d+", "", f"{path.parent.name}/{path.name}")
        grouped.setdefault(name, []).append(path)
    return grouped


def check(name: str, paths: Sequence[Path]) -> float:
    """Print the self-test of one run, and return its largest error."""
    engine = Engine([open_source(p) for p in paths])
    engine.need("idle_cause", "op_class", "stream_wait")
    started = time.perf_counter()
    engine.need("replay_check", "what_if")
    took_s = time.perf_counter() - started
    rows = engine.frame("replay_check").rows(named=True)
    if not rows:
        print(f"{name:45} too few iterations to replay")
    for row in rows:
        print(
            f"{name:45} measured {row['measured_period_ns'] / 1e6:8.3f} ms"
            f"  replayed {row['replayed_period_ns'] / 1e6:8.3f} ms"
            f"  error {row['error_share']:7.2%}"
            f"  iterations {row['first_iteration']}-{row['last_iteration']}  in {took_s:.2f} s"
        )
    return max((row["error_share"] for row in rows), default=0.0)


def main() -> int:
    """Check the recordings named on the command line, or those that are there."""
    paths = [Path(argument) for argument in sys.argv[1:]] or recordings()
    worst = 0.0
    for name, files in runs(paths).items():
        try:
            worst = max(worst, check(name, files))
        except TracelensError as error:
            print(f"{name:45} {error}")
    print(f"largest error {worst:.2%}")
    return int(worst > 0.03)


if __name__ == "__main__":
    sys.exit(main())
