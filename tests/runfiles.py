"""Small recordings for tests of archives: enough iterations to be analysed, in a moment."""

from __future__ import annotations

from pathlib import Path

from exports import Call, Kernel, Range, make_export

_US = 1_000


def write_run(path: Path, kernel_us: int = 300, iterations: int = 6, utc_s: int = 0) -> Path:
    """Iterations of one kernel each, back to back; ``utc_s`` is when it was recorded."""
    ranges, kernels, calls = [], [], []
    at = 0
    for i in range(iterations):
        end = at + (3 + kernel_us) * _US
        calls.append(Call(at + _US, at + 2 * _US, i + 1))
        kernels.append(Kernel(at + 3 * _US, end, i + 1, "gemm"))
        ranges.append(Range(at, end + _US, f"iter_{i}"))
        ranges.append(Range(at, end + _US, "forward"))
        at = end + 2 * _US
    sql = [
        "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, cuDevice INTEGER)",
        "INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'NVIDIA H200', 0)",
    ]
    if utc_s:
        sql += [
            "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER)",
            f"INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ({utc_s * 10**9})",
        ]
    path.parent.mkdir(parents=True, exist_ok=True)
    return make_export(path, kernels=kernels, calls=calls, ranges=ranges, sql=sql)
