"""How iterations are told, on ranges and kernels that a reader can check by eye: times in µs."""

from __future__ import annotations

import polars as pl
import pytest

from tracelens.errors import TracelensError
from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import _periodicity, iteration

PROCESS, MAIN = 1, 11
ROLES = {
    "forward": "forward",
    "backward": "backward",
    "optim": "optimizer",
    "Optimizer.step": "optimizer",
    "clip_grad_norm": "optimizer",
    "zero_grad": "zero_grad",
}


def ranges(*rows: tuple[int, int, str], style: str = "push_pop", calls: int = 10) -> pl.DataFrame:
    """Ranges (start, end, name) of one thread, each with ten launches meanwhile."""
    return pl.DataFrame(
        [
            {
                "range_id": i,
                "process_id": PROCESS,
                "thread_id": MAIN,
                "style": style,
                "domain": "",
                "name": name,
                "family": "".join("#" if c.isdigit() else c for c in name).replace("##", "#"),
                "role": ROLES.get(name),
                "start_ns": start * 1000,
                "end_ns": end * 1000,
                "is_open": False,
                "launching_calls": calls,
                "launched_ns": calls * 1000,
            }
            for i, (start, end, name) in enumerate(rows)
        ],
        schema_overrides={"role": pl.String},
    )


def launched(calls: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "process_id": [PROCESS],
            "at_ns": [0],
            "calls": [calls],
            "gpu_ns": [calls * 1000],
        }
    )


def no_kernels() -> pl.DataFrame:
    names = ("process_id", "device_id", "position", "word", "start_ns", "end_ns", "call_start_ns")
    return pl.DataFrame(schema=dict.fromkeys(names, pl.Int64))


def found(candidates: pl.DataFrame, calls: int, options: Options | None = None) -> pl.DataFrame:
    frames = {
        "range_candidate": candidates,
        "launch_clock": launched(calls),
        "kernel_sequence": no_kernels(),
    }
    return iteration.build(frames, options or Options(), Settings())


def test_names_that_differ_by_a_number_are_iterations() -> None:
    told = found(ranges((0, 10, "iter_7"), (10, 20, "iter_8"), (20, 30, "iter_9")), calls=30)
    assert told["name"].to_list() == ["iter_7", "iter_8", "iter_9"]
    assert told["iteration_index"].to_list() == [0, 1, 2]
    assert told["method"].unique().to_list() == ["numbered ranges"]
    assert told["confidence"].unique().to_list() == ["high"]


def test_one_repeated_name_is_iterations() -> None:
    told = found(
        ranges((0, 10, "train_step"), (10, 20, "train_step"), (20, 30, "train_step")), calls=30
    )
    assert told["name"].to_list() == ["train_step"] * 3
    assert told["method"].unique().to_list() == ["repeated range"]


def test_layers_inside_a_phase_are_not_iterations() -> None:
    told = found(
        ranges(
            (0, 9, "step 1"),
            (1, 4, "forward"),
            (1, 2, "layer_0"),
            (2, 3, "layer_1"),
            (3, 4, "layer_2"),
            (10, 19, "step 2"),
            (11, 14, "forward"),
            (11, 12, "layer_3"),
            (12, 13, "layer_4"),
            (13, 14, "layer_5"),
        ),
        calls=20,
    )
    assert told["name"].to_list() == ["step 1", "step 2"]


def test_requests_that_overlap_are_not_iterations() -> None:
    requests = ranges((0, 15, "request_0"), (10, 25, "request_1"), (20, 35, "request_2"))
    assert found(requests, calls=30).is_empty()


def test_ranges_that_hold_little_of_the_work_are_not_iterations() -> None:
    rare = ranges((0, 10, "step_0"), (10, 20, "step_1"), (20, 30, "step_2"), calls=1)
    assert found(rare, calls=100).is_empty()


def test_phases_that_nothing_encloses_cycle() -> None:
    told = found(
        ranges(
            (0, 3, "forward"),
            (3, 8, "backward"),
            (8, 9, "optim"),
            (10, 13, "forward"),
            (13, 18, "backward"),
            (18, 19, "optim"),
            (20, 23, "forward"),
            (23, 28, "backward"),
            (28, 29, "optim"),
        ),
        calls=90,
    )
    assert told["start_ns"].to_list() == [0, 10_000, 20_000]
    assert told["method"].unique().to_list() == ["cycle of phases"]


def cycles(*each: tuple[int, int, str]) -> list[int]:
    """Where cycles begin, of three like this one, 20 µs apart."""
    rows = [(20 * i + start, 20 * i + end, name) for i in range(3) for start, end, name in each]
    return [start // 1000 for start in found(ranges(*rows), calls=10 * len(rows))["start_ns"]]


def test_ranges_within_an_update_begin_no_cycle() -> None:
    """A profiler's own Optimizer.step within the program's optim, and gradients zeroed there."""
    steps = [(0, 3, "forward"), (3, 8, "backward"), (8, 14, "optim")]
    assert cycles(*steps, (9, 11, "Optimizer.step"), (12, 13, "zero_grad")) == [0, 20, 40]


def test_an_update_in_several_ranges_is_one() -> None:
    steps = [(0, 3, "forward"), (3, 8, "backward"), (8, 9, "clip_grad_norm"), (10, 12, "optim")]
    assert cycles(*steps, (13, 14, "zero_grad")) == [0, 20, 40]
    assert cycles((0, 1, "zero_grad"), *[(s + 1, e + 1, n) for s, e, n in steps]) == [0, 21, 41]


def test_accumulated_gradients_are_one_cycle() -> None:
    halves = [(0, 3, "forward"), (3, 6, "backward"), (6, 9, "forward"), (9, 12, "backward")]
    assert cycles(*halves, (12, 14, "optim")) == [0, 20, 40]


def test_a_pattern_of_the_user_decides() -> None:
    candidates = ranges((0, 10, "iter_0"), (1, 3, "gather"), (10, 20, "iter_1"), (11, 13, "gather"))
    told = found(candidates, calls=40, options=Options(iterations="^gather$"))
    assert told["start_ns"].to_list() == [1000, 11_000]


@pytest.mark.parametrize(
    ("pattern", "words"), [("nothing", "ranges here: iter_#"), ("(", "no regular expression")]
)
def test_a_pattern_of_no_use_is_refused(pattern: str, words: str) -> None:
    with pytest.raises(TracelensError, match=words):
        found(ranges((0, 10, "iter_0")), calls=10, options=Options(iterations=pattern))


def sequence(
    words: str, kernel_us: int = 10, pause_before: str = "", pause_us: int = 0
) -> pl.DataFrame:
    """Kernels named by letters, back to back but for a pause before one of them."""
    now, rows = 0, []
    for position, word in enumerate(words):
        now += pause_us * 1000 if word == pause_before else 0
        rows.append((PROCESS, 1, position, ord(word), now, now + kernel_us * 1000, now))
        now += kernel_us * 1000
    return pl.DataFrame(rows, schema=no_kernels().schema, orient="row")


def test_period_of_a_sequence_is_the_iteration_and_not_the_layer() -> None:
    period = _periodicity.find(sequence("eabababh" * 5), Settings())
    assert period is not None
    assert (period.length, period.starts) == (8, [0, 8, 16, 24, 32])


def test_a_period_begins_behind_the_longest_pause() -> None:
    period = _periodicity.find(sequence("abcd" * 4, pause_before="c", pause_us=50), Settings())
    assert period is not None
    assert period.starts == [2, 6, 10, 14]


@pytest.mark.parametrize("words", ["", "a", "abcdefgh", "abcab"])
def test_no_period_is_claimed_below_three_of_them(words: str) -> None:
    assert _periodicity.find(sequence(words), Settings()) is None
