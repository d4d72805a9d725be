"""Tasks that wait for one another, done several at a time."""

from __future__ import annotations

import signal
import threading
from collections.abc import Mapping, Set

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelens import workers

WAIT_S = 20


def no_interrupt() -> None:
    raise AssertionError("nothing went wrong")


@st.composite
def graphs(draw: st.DrawFn) -> Mapping[str, Set[str]]:
    """Tasks, each with what it waits for among those before it."""
    names = [f"t{n}" for n in range(draw(st.integers(0, 12)))]
    return {
        name: draw(st.sets(st.sampled_from(names[:place]))) if place else set()
        for place, name in enumerate(names)
    }


@given(graphs(), st.integers(1, 3))
def test_everything_is_done_once_and_after_what_it_waits_for(
    graph: Mapping[str, Set[str]], count: int
) -> None:
    begun: list[str] = []
    ended: set[str] = set()

    def do(task: str, worker: int) -> None:
        assert graph[task] <= ended
        assert 0 <= worker < count
        begun.append(task)
        ended.add(task)

    workers.run(list(graph), graph, do, count, no_interrupt)
    assert sorted(begun) == sorted(graph)


def test_two_that_wait_for_nothing_are_done_at_once() -> None:
    together = threading.Barrier(2)
    seen: set[int] = set()

    def do(_: str, worker: int) -> None:
        together.wait(WAIT_S)
        seen.add(worker)

    workers.run(["a", "b"], {"a": set(), "b": set()}, do, 2, no_interrupt)
    assert seen == {0, 1}


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_of_any_worker_ends_all_and_is_raised(failing: int) -> None:
    together = threading.Barrier(2)
    interrupted = threading.Event()
    done: list[str] = []

    def do(task: str, worker: int) -> None:
        done.append(task)
        together.wait(WAIT_S)
        if worker == failing:
            raise KeyboardInterrupt
        assert interrupted.wait(WAIT_S)

    def interrupt() -> None:
        interrupted.set()

    tasks = ["a", "b", "never"]
    with pytest.raises(KeyboardInterrupt):
        workers.run(tasks, dict.fromkeys(tasks, frozenset()), do, 2, interrupt)
    assert set(done) == {"a", "b"}


def test_ctrl_c_is_heard_while_another_does_the_last_task() -> None:
    main = threading.main_thread().ident
    begun = threading.Event()
    interrupted = threading.Event()

    def do(task: str, worker: int) -> None:
        if worker == 1:
            begun.set()
            assert interrupted.wait(WAIT_S)
        else:
            assert begun.wait(WAIT_S)
            threading.Timer(0.1, signal.pthread_kill, [main, signal.SIGINT]).start()

    with pytest.raises(KeyboardInterrupt):
        workers.run(["a", "b"], {"a": set(), "b": set()}, do, 2, interrupted.set)
    assert interrupted.is_set()
