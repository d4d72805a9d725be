"""The replay: its model on steps drawn in microseconds, and worths on small recordings."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.exports import PAGEABLE, PINNED, Call, Copy, Kernel, Range, make_export
from tracelens.engine import Engine
from tracelens.loaders import open_source
from tracelens.steps._replay import LAUNCH, STEP, UNLINKED, WAIT, State, replay

US = 1_000
IDLE = State(host_ns=0, stream_ends=(0, 0), pending_ends=((), ()), queue_depth=1_000)
DEFAULTS = {
    "kind": LAUNCH, "think_ns": 10, "call_ns": 5, "stream": 0, "unit_ns": 20, "latency_ns": 2,
    "from_start": False, "gap_ns": 1, "after": -1, "after_ns": 0, "also_on": [], "waits_for": [],
    "waits_step": -1, "waits_own": False, "return_ns": 0,
}  # fmt: skip


def steps(*rows: dict[str, object]) -> pl.DataFrame:
    """Steps from what differs from an ordinary launch (10 thinking, 5 calling, 20 running)."""
    return pl.DataFrame([DEFAULTS | row for row in rows], schema=STEP)


def test_a_launch_starts_after_its_call_where_the_stream_is_free():
    assert replay(steps({}, {"think_ns": 50}), IDLE) == [17, 72]


def test_a_queued_unit_follows_the_one_before_on_its_stream():
    assert replay(steps({}, {}), IDLE) == [17, 38]


def test_streams_run_beside_each_other_unless_one_waits():
    assert replay(steps({}, {"stream": 1}), IDLE) == [17, 32]
    assert replay(steps({}, {"stream": 1, "after": 0, "after_ns": 3}), IDLE) == [17, 40]


def test_a_synchronise_returns_after_its_streams_and_the_host_goes_on():
    wait = {"kind": WAIT, "waits_for": [0], "return_ns": 4}
    # the unit runs 17-37, the wait returns at 41, the next launch thinks 10 and calls 5
    assert replay(steps({}, wait, {}), IDLE) == [17, 41, 58]


def test_a_synchronise_with_nothing_to_wait_for_takes_its_own_time():
    wait = {"kind": WAIT, "waits_for": [0], "return_ns": 4, "think_ns": 100}
    assert replay(steps({}, wait), IDLE) == [17, 120]


def test_a_wait_for_an_event_waits_for_that_unit_only():
    wait = {"kind": WAIT, "waits_step": 0, "return_ns": 4}
    assert replay(steps({}, {"unit_ns": 500}, wait), IDLE) == [17, 38, 45]


def test_a_blocking_copy_holds_the_host_until_it_ends():
    copy = {"waits_own": True, "return_ns": 3, "from_start": True, "call_ns": 0}
    # called at 10, runs 12-32, the call returns at 35
    assert replay(steps(copy, {}), IDLE) == [12, 52]


def test_a_full_queue_holds_up_the_launch():
    state = State(host_ns=0, stream_ends=(0,), pending_ends=((),), queue_depth=1)
    # the second launch finds one pending until 117, calls until 122
    assert replay(steps({"unit_ns": 100}, {"unit_ns": 100}), state) == [17, 124]


def test_launches_before_the_first_step_fill_the_queue():
    state = State(host_ns=0, stream_ends=(90,), pending_ends=((40, 90),), queue_depth=2)
    # room at 40, called until 45, and the stream is busy until 90
    assert replay(steps({}), state) == [91]


def test_a_unit_without_a_launch_keeps_its_distance_to_the_one_before():
    unlinked = {"kind": UNLINKED, "think_ns": 0, "call_ns": 0, "gap_ns": 7}
    assert replay(steps({}, unlinked, {}), IDLE) == [17, 44, 65]


def test_a_graph_occupies_all_its_streams():
    assert replay(steps({"also_on": [0, 1]}, {"stream": 1}), IDLE) == [17, 38]


@settings(deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "think_ns": st.integers(0, 100),
                "call_ns": st.integers(0, 50),
                "unit_ns": st.integers(0, 100),
                "stream": st.integers(0, 1),
                "waits_own": st.booleans(),
            }
        ),
        max_size=20,
    )
)
def test_taking_host_time_away_never_delays_a_unit(rows):
    before = replay(steps(*rows), IDLE)
    after = replay(steps(*({**row, "think_ns": 0} for row in rows)), IDLE)
    assert all(a <= b for a, b in zip(after, before, strict=True))


# -- on recordings -------------------------------------------------------------------------------

PERIOD, ITERATIONS = 4_000, 8
KERNEL, LAUNCHES = 100, 20


class Recording:
    """Iterations of 20 kernels of 100 us, one launch every 50 us: the device is the slower one.

    What a test adds to the host between iterations delays everything behind it.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.kernels: list[Kernel] = []
        self.copies: list[Copy] = []
        self.ranges: list[Range] = []
        self.host = self.device = 0
        self.correlation = 0

    def launch(self, kernel_us: int = KERNEL, dispatch_us: int = 45) -> None:
        self.correlation += 1
        self.host += dispatch_us
        self.calls.append(Call(self.host * US, (self.host + 5) * US, self.correlation))
        self.host += 5
        start = max(self.host + 2, self.device + 1)
        self.kernels.append(Kernel(start * US, (start + kernel_us) * US, self.correlation))
        self.device = start + kernel_us

    def synchronise(self) -> None:
        returned = max(self.host, self.device) + 10
        self.calls.append(Call(self.host * US, returned * US, None, "cudaDeviceSynchronize"))
        self.host = returned

    def free(self) -> None:
        returned = max(self.host, self.device) + 100
        self.calls.append(Call(self.host * US, returned * US, None, "cudaFree"))
        self.host = returned

    def copy(self, copy_us: int, source: int) -> None:
        self.correlation += 1
        start = max(self.host + 10, self.device + 5)
        ended = start + copy_us
        returned = ended if source == PAGEABLE else self.host + 8
        self.calls.append(Call(self.host * US, returned * US, self.correlation, "cudaMemcpyAsync"))
        size = copy_us * 20_000
        self.copies.append(Copy(start * US, ended * US, self.correlation, size, source=source))
        self.host, self.device = returned, ended

    def iterations(self, body) -> Recording:
        for i in range(ITERATIONS):
            begin = self.host
            body()
            self.ranges.append(Range(begin * US, self.host * US, f"iter_{i}"))
        return self

    def open(self, folder: Path) -> Engine:
        path = make_export(
            folder / "run.sqlite",
            calls=self.calls,
            kernels=self.kernels,
            copies=self.copies,
            ranges=self.ranges,
        )
        return Engine([open_source(path)])


def worths(engine: Engine) -> dict[str, float]:
    """What each finding is worth in microseconds an iteration, without the worthless."""
    check = engine.frame("replay_check")
    assert check["error_share"].max() < 0.03
    rows = engine.frame("what_if")
    assert not rows["is_upper_bound"].any()
    assert (rows["recoverable_ns"] >= 0).all()
    assert (rows["recoverable_ns"] <= check["measured_period_ns"][0]).all()
    return {
        scenario: ns / US
        for scenario, ns in rows.select("scenario", "recoverable_ns").iter_rows()
        if ns > 5 * US
    }


def test_a_run_that_the_device_bounds_gains_nothing(tmp_path: Path):
    run = Recording()
    run.iterations(lambda: [run.launch() for _ in range(LAUNCHES)])
    assert worths(run.open(tmp_path)) == {}


def test_slow_dispatch_is_worth_what_kernels_alone_would_take(tmp_path: Path):
    run = Recording()
    run.iterations(lambda: [run.launch(kernel_us=20) for _ in range(LAUNCHES)])
    # one launch every 50 us instead of one kernel every 21
    assert worths(run.open(tmp_path)) == {"launch-bound": pytest.approx(20 * 29, rel=0.1)}


def test_waiting_for_data_is_worth_the_silence_less_the_lead(tmp_path: Path):
    run = Recording()

    def iteration() -> None:
        run.host += 3_000
        for _ in range(LAUNCHES):
            run.launch()

    run.iterations(iteration)
    # the host is 1,000 us ahead of the device when 3,000 us of silence begin
    assert worths(run.open(tmp_path)) == {"input-starved": pytest.approx(2_000, rel=0.1)}


def test_a_synchronise_is_worth_its_return_and_the_refill(tmp_path: Path):
    run = Recording()

    def iteration() -> None:
        for _ in range(LAUNCHES):
            run.launch()
        run.synchronise()

    run.iterations(iteration)
    assert worths(run.open(tmp_path)) == {"host-sync": pytest.approx(10 + 50 + 2, rel=0.1)}


def test_freeing_memory_is_worth_its_time_and_the_refill(tmp_path: Path):
    run = Recording()

    def iteration() -> None:
        for _ in range(LAUNCHES):
            run.launch()
        run.free()

    run.iterations(iteration)
    assert worths(run.open(tmp_path)) == {"allocator-churn": pytest.approx(100 + 50 + 2, rel=0.1)}


def test_a_blocking_copy_is_worth_its_own_time_and_the_refill(tmp_path: Path):
    run = Recording()

    def iteration() -> None:
        run.copy(500, PAGEABLE)
        for _ in range(LAUNCHES):
            run.launch()

    run.iterations(iteration)
    assert worths(run.open(tmp_path)) == {"transfer-bound": pytest.approx(555, rel=0.1)}


def test_a_queued_copy_that_nothing_hides_is_worth_its_own_time(tmp_path: Path):
    run = Recording()

    def iteration() -> None:
        run.copy(500, PINNED)
        for _ in range(LAUNCHES):
            run.launch()

    run.iterations(iteration)
    assert worths(run.open(tmp_path)) == {"transfer-bound": pytest.approx(500, rel=0.1)}


def test_nothing_is_priced_without_iterations(tmp_path: Path):
    run = Recording()
    for _ in range(2):
        run.launch(kernel_us=20)
    engine = run.open(tmp_path)
    assert engine.frame("what_if").is_empty()
    assert engine.frame("replay_check").is_empty()


def test_a_clock_that_puts_operations_before_their_launches_breaks_nothing(tmp_path: Path):
    run = Recording()
    run.iterations(lambda: [run.launch() for _ in range(LAUNCHES)])
    late = 10**9
    run.calls = [Call(c.start + late, c.end + late, c.correlation, c.name) for c in run.calls]
    run.ranges = [Range(r.start + late, r.end + late, r.name) for r in run.ranges]
    rows = run.open(tmp_path).frame("what_if")
    assert (rows["recoverable_ns"] == 0).all()


def test_a_long_capture_is_replayed_over_whole_iterations_from_its_middle(tmp_path: Path):
    from dataclasses import replace

    run = Recording()
    run.iterations(lambda: [run.launch() for _ in range(LAUNCHES)])
    engine = run.open(tmp_path)
    engine.settings = replace(engine.settings, replay_ops=3 * LAUNCHES)
    check = engine.frame("replay_check").row(0, named=True)
    assert (check["first_iteration"], check["last_iteration"]) == (2, 4)
    assert check["error_share"] < 0.03
