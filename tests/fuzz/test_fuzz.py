"""Files that nobody wrote: an answer, or a refusal, and never anything else.

The short profile runs with all tests, always the same few examples of each kind. ``make fuzz``
goes on for ten minutes, or for FUZZ_SECONDS, with new ones.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bent import DROPPED, EDITS, NAMES, bend, loop
from exports import Call, Kernel, Node, Range, make_export
from hypothesis import given, seed
from hypothesis import strategies as st
from reports import SECONDS, check, check_damaged, examples
from traces import host, kernel, trace_text

from tracelens import contents
from tracelens.engine import Engine
from tracelens.loaders import open_source

KINDS = 4
"""The kinds of input below that take their share of the long run."""


@contextmanager
def scratch(name: str = "run.sqlite") -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / name


def for_a_while(test: Callable[[], None]) -> None:
    """Once in the short profile; in the long one again and again, until the kind's time is up."""
    until = time.monotonic() + SECONDS / KINDS
    while True:
        test()
        if time.monotonic() >= until:
            break


def test_bent_tables() -> None:
    def once() -> None:
        @seed(random.getrandbits(32) if SECONDS else 0)
        @examples(short=8, long=10)
        @given(EDITS, DROPPED)
        def bent_tables(edits: list[Any], dropped: list[tuple[str, str]]) -> None:
            with scratch() as path:
                check(bend(path, edits, dropped))
                check_contents(path)

        bent_tables()

    for_a_while(once)


def check_contents(path: Path) -> None:
    """`info` counts such an export in the database itself, and as staging would."""
    counted, staged = (
        open_source(path).contents(),
        contents.staged(Engine([open_source(path)])),
    )
    assert counted is not None
    assert dict(counted.rows) == dict(staged.rows)
    assert (counted.start_ns, counted.end_ns) == (staged.start_ns, staged.end_ns)
    assert counted.devices == staged.devices


def test_damaged_bytes(sample_traces: Path) -> None:
    whole = (sample_traces / "cudagraph.sqlite").read_bytes()

    def once() -> None:
        @seed(random.getrandbits(32) if SECONDS else 0)
        @examples(short=4, long=10)
        @given(st.randoms(use_true_random=False), st.booleans())
        def damaged_bytes(chance: random.Random, small: bool) -> None:
            with scratch() as path:
                content = bytearray(loop(path).read_bytes() if small else whole)
                path.write_bytes(damage(content, chance))
                check_damaged(path)

        damaged_bytes()

    for_a_while(once)


def damage(content: bytearray, chance: random.Random) -> bytes:
    """A few bytes, a page, or the end of a file gone."""
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(content))
        kind = chance.choice(("byte", "byte", "run", "page", "cut"))
        if kind == "byte":
            content[place] = chance.randrange(256)
        elif kind == "run":
            length = chance.randint(1, 64)
            content[place : place + length] = chance.randbytes(length)
        elif kind == "page":
            start = place // 4096 * 4096
            content[start : start + 4096] = chance.choice((bytes(4096), chance.randbytes(4096)))
        elif chance.random() < 0.3:
            del content[max(place, 200) :]
    return bytes(content)


EVENT_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**64), 2**64), st.floats(), st.sampled_from(NAMES),
    st.text(max_size=8), st.lists(st.integers(), max_size=3), st.just({"a": [1]}),
)  # fmt: skip
EVENT_KEYS = st.sampled_from(
    (
        *("ts", "dur", "pid", "tid", "name", "cat", "ph", "args", "id", "args.correlation"),
        *("args.stream", "args.device", "args.grid", "args.bytes", "args.Sequence number"),
        *("args.graph node id", "args.Input Dims"),
    )
)


def events() -> list[dict[str, Any]]:
    """Four steps of a profile."""
    made = []
    for i in range(4):
        at, number = 1000.5 + i * 100, i + 1
        made += [
            host("user_annotation", at, 90.0, f"ProfilerStep#{i}"),
            host("cpu_op", at + 1, 30.0, "aten::mm", Sequence_number=i),
            host("cuda_runtime", at + 2, 5.0, "cudaLaunchKernel", correlation=number),
            kernel(at + 10, 20.0, "gemm", correlation=number, grid=[1, 2, 3]),
        ]
    return made


def test_bent_events() -> None:
    def once() -> None:
        @seed(random.getrandbits(32) if SECONDS else 0)
        @examples(short=5, long=10)
        @given(st.lists(st.tuples(st.integers(0, 15), EVENT_KEYS, EVENT_VALUES), max_size=8))
        def bent_events(edits: list[tuple[int, str, Any]]) -> None:
            made = events()
            for place, key, value in edits:
                outer, _, inner = key.partition(".")
                if not inner:
                    made[place][outer] = value
                elif isinstance(made[place].get("args"), dict):
                    made[place]["args"][inner] = value
            with scratch("run.json") as path:
                path.write_text(trace_text(made), encoding="utf-8", errors="surrogatepass")
                check_damaged(path)

        bent_events()

    for_a_while(once)


def test_times_that_are_no_numbers() -> None:
    """Found by the long run: a single event of its kind whose time is an empty list."""
    for key in ("ts", "dur"):
        made = events()
        made[0][key] = []
        with scratch("run.json") as path:
            path.write_text(trace_text(made), encoding="utf-8")
            check(path)


def test_damaged_text() -> None:
    whole = trace_text(events(), deviceProperties=[{"id": 0, "name": "GPU"}]).encode()

    def once() -> None:
        @seed(random.getrandbits(32) if SECONDS else 0)
        @examples(short=5, long=10)
        @given(st.randoms(use_true_random=False))
        def damaged_text(chance: random.Random) -> None:
            with scratch("run.json") as path:
                path.write_bytes(damage(bytearray(whole), chance))
                check_damaged(path)

        damaged_text()

    for_a_while(once)


def test_names_of_every_kind(tmp_path: Path) -> None:
    """As a phase of unknown role, a registered string, a domain, a kernel and a call."""
    names = [name.replace("\x00", "") for name in NAMES]
    check(
        make_export(
            tmp_path / "run.sqlite",
            kernels=[
                Kernel(i * 100 + 30, i * 100 + 60, i + 1, name=n) for i, n in enumerate(names)
            ],
            calls=[Call(i * 100 + 20, i * 100 + 25, i + 1, name=n) for i, n in enumerate(names)],
            ranges=[
                *(Range(i * 100, i * 100 + 90, f"iter_{i}") for i in range(len(names))),
                *(Range(i * 100 + 10, i * 100 + 80, n, domain=i) for i, n in enumerate(names)),
                *(
                    Range(i * 100 + 15, i * 100 + 50, n, registered=True)
                    for i, n in enumerate(names)
                ),
            ],
            domains=dict(enumerate(names)),
        )
    )


def test_thousands_of_streams(tmp_path: Path) -> None:
    check(
        make_export(
            tmp_path / "run.sqlite",
            kernels=[Kernel(i, i + 500, i + 1, stream=i) for i in range(5000)],
            calls=[Call(i - 10, i - 5, i + 1) for i in range(5000)],
            ranges=[Range(i * 100 - 20, i * 100 + 70, f"iter_{i}") for i in range(50)],
        )
    )


def test_cycles_among_graph_nodes(tmp_path: Path) -> None:
    """Nodes cloned from each other, from themselves, and in a long chain."""
    chain = [Node(-1000 + n, 100 + n, original=101 + n) for n in range(400)]
    check(
        make_export(
            tmp_path / "run.sqlite",
            kernels=[Kernel(i * 10, i * 10 + 5, 1, node=n) for i, n in enumerate((1, 2, 3, 100))],
            calls=[Call(-10, -5, 1, name="cudaGraphLaunch_v10000")],
            nodes=[Node(-90, 1, 2), Node(-80, 2, 3), Node(-70, 3, 1), Node(-60, 4, 4), *chain],
            ranges=[Range(-100, -50, "forward"), Range(-20, 100, "iter_0")],
        )
    )


def test_a_thousand_levels_of_ranges_and_operations_of_no_length(tmp_path: Path) -> None:
    check(
        make_export(
            tmp_path / "run.sqlite",
            kernels=[Kernel(5000, 5000, i) for i in range(1, 50)],
            calls=[Call(1000 + i, 1000 + i, i) for i in range(1, 50)],
            ranges=[Range(i, 4000 - i, f"level {i}") for i in range(1000)],
        )
    )
