"""A distributed run by hand: every rank computes, then all meet in a collective, again and again.

What is recorded of each rank is on a clock of its own. Times are nanoseconds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from exports import Call, Kernel, Range, make_export

MS = 1_000_000
NCCL = "ncclDevKernel_{}_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
COMMUNICATION_STREAM = 22


@dataclass(frozen=True)
class Program:
    """What each rank does in an iteration: so many layers, each computed and then exchanged."""

    ranks: int
    iterations: int = 8
    kinds: Sequence[str] = ("AllGather", "AllGather", "ReduceScatter")
    compute_ns: int = 3 * MS
    transfer_ns: int = 400_000


def simulate(
    program: Program,
    late_ns: Callable[[int, int], int],
    clock_ns: Sequence[int],
    groups: Callable[[int], int] = lambda rank: 0,
) -> list[tuple[list[Kernel], list[Call], list[Range]]]:
    """Kernels, launches and ranges of each rank, on its own clock.

    ``late_ns(rank, iteration)`` is what its host is held up before an iteration, ``groups`` the
    communicator of a rank: only ranks of one group wait for each other.
    """
    chance = random.Random(7)
    now = [10 * MS] * program.ranks
    rows: list[tuple[list[Kernel], list[Call], list[Range]]] = [
        ([], [], []) for _ in range(program.ranks)
    ]
    number = 0
    for iteration in range(program.iterations):
        begun = list(now)
        now = [t + late_ns(rank, iteration) for rank, t in enumerate(now)]
        for kind in program.kinds:
            number += 2
            starts = []
            for rank, begin in enumerate(now):
                end = begin + program.compute_ns + chance.randrange(50_000)
                _add(rows[rank], begin, end, "gemm", 7, number, clock_ns[rank])
                starts.append(end + 2_000)
            for rank, start in enumerate(starts):
                same = [s for r, s in enumerate(starts) if groups(r) == groups(rank)]
                end = max(same) + program.transfer_ns + chance.randrange(4_000)
                stream = COMMUNICATION_STREAM + (kind != "AllGather")
                name = NCCL.format(kind)
                _add(rows[rank], start, end, name, stream, number + 1, clock_ns[rank])
                now[rank] = end + 3_000
        for rank, start in enumerate(begun):
            shift = clock_ns[rank]
            rows[rank][2].append(Range(start + shift, now[rank] + shift, f"iter_{iteration}"))
    return rows


def _add(
    rows: tuple[list[Kernel], list[Call], list[Range]],
    start: int,
    end: int,
    name: str,
    stream: int,
    correlation: int,
    clock: int,
) -> None:
    kernels, calls, _ = rows
    kernels.append(Kernel(start + clock, end + clock, correlation, name, stream))
    calls.append(Call(start + clock - 2_000, start + clock - 1_000, correlation))


def export(
    folder: Path,
    rows: Sequence[tuple[list[Kernel], list[Call], list[Range]]],
    without_head: Sequence[int] = (),
) -> list[Path]:
    """One file a rank. Of those in ``without_head`` the first 20 ms were not captured."""
    paths = []
    for rank, (kernels, calls, ranges) in enumerate(rows):
        begin = kernels[0].start + 20 * MS if rank in without_head else 0
        paths.append(
            make_export(
                folder / f"run.rank{rank}.sqlite",
                kernels=[k for k in kernels if k.start >= begin],
                calls=[c for c in calls if c.start >= begin],
                ranges=[r for r in ranges if r.start >= begin],
            )
        )
    return paths
