"""Every tunable number that SQL or an analysis step uses, in one place, with its reason.

SQL reads them as DuckDB variables: ``getvariable('helper_role_share')``. Thresholds of findings are
not here: each rule holds its own, but for those that a step decides by as well, which it takes from
here (``Settings.small_kernels``).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Tunable numbers. Times are nanoseconds, shares are of one."""

    helper_role_share: float = 0.9
    """A thread with no phases of its own works for the phase open elsewhere only where this share
    of its launches falls into phases of one role: nearly all of autograd's do, a prefetcher's
    fall everywhere."""
    warmup_factor: float = 1.3
    """Leading iterations slower than this many medians are warm-up (DESIGN.md, steady state)."""
    min_iterations: int = 3
    """Below this many, nothing periodic is claimed."""
    min_coverage: float = 0.3
    """A family of ranges that holds less of the process's GPU time than this does not mark its
    iterations."""
    sure_coverage: float = 0.8
    """From this share of the GPU time on, a family of enough ranges is surely the iterations."""
    min_match: float = 0.8
    """A sequence of kernels is periodic from this share of kernels that stand again one period
    later."""
    sure_match: float = 0.97
    """From this share on, surely."""
    match_slack: float = 0.005
    """A shorter period wins only if it matches as well as the best up to this: layers within an
    iteration match nearly as well as iterations, but for their ends."""
    input_silence_ns: int = 200_000
    """A host that makes no CUDA call for this long between iterations, or in a data phase, fetches
    input. Python dispatch alone pauses up to a millisecond, but hardly ever there, where nothing is
    dispatched."""
    host_silence_ns: int = 1_000_000
    """A host that makes no CUDA call for this long elsewhere computes something else; shorter
    pauses are dispatch."""
    host_silence_factor: float = 10.0
    """And no less than this many times the usual distance of two calls in its phase."""
    dispatch_dominates: float = 3.0
    """Where dispatch costs so many times as much idle as silences do, short ones count with it."""
    host_stall_ns: int = 20_000_000
    """A silence of this length is no framework's bookkeeping, whatever else is slow."""
    launch_latency_ns: int = 300_000
    """An operation that starts later than this after its launch returned waited for something else.
    Kernels take a few microseconds; a large pageable copy takes 250, in which the driver fills its
    staging buffer."""
    staged_copy_bytes: int = 65_536
    """Pageable copies to the device up to this size return once they are staged (CUDA's documented
    behaviour)."""
    blocking_copy_share: float = 0.8
    """A copy call that covers this share of its copy waited for it: large pageable calls return a
    little early."""
    repeated_copies: int = 8
    """So many small copies of one size an iteration are one value sent again and again: a batch
    brings a few small tensors, and hardly ever so many of one size."""
    small_kernels: int = 200
    """An optimizer with so many kernels an iteration runs them parameter by parameter: fused and
    foreach ones handle all tensors of a group in a few launches, and need tens."""
    small_kernel_ns: int = 10_000
    """Dispatching one operator from Python takes about this long: the GPU finishes a shorter kernel
    before the next arrives."""
    edge_late_ns: int = 15_000
    """An operation that starts so long after its launch and its stream allow waited for another
    stream."""
    edge_window_ns: int = 60_000
    """What it waited for ended within this time before its start."""
    no_room_ns: int = 1_000_000
    """A collective that starts late by less, with nothing to wait for, had no room on the device
    beside a kernel: few kernels last longer."""
    queue_depth: int = 1_024
    """Launches that a stream holds before the next launch call waits."""
    backpressure_factor: float = 4.0
    """A launch call that lasts so many times its usual time, on a full queue, waits and does no
    work."""
    replay_ops: int = 30_000
    """The replay runs over as many whole iterations as hold so many operations: a second's work."""
    replay_streams: int = 256
    """A run on more streams is not replayed: what waits for what among them is guesswork, and takes
    long. A GPU has 128 queues; what is on more streams than that shares them."""
    replay_tolerance: float = 0.03
    """A replay that misses the measured period by more has missed a dependency: what it promises
    is an upper bound."""
    collective_slack_ns: int = 100_000
    """The ranks of one collective are done within this of each other: what the last message takes
    to go round, and what the clocks of the GPUs are read apart."""
    max_clock_spread_ns: int = 250_000
    """Ends that scatter more than this about one offset of the clocks don't belong to the same
    collectives: it leaves room for clocks that drift some microseconds a second."""
    min_overlap: float = 0.8
    """Two ranks run collectives together where at least this share of them overlaps in time: all
    would, but for lost records."""
    clock_tolerance_ns: int = 100_000
    """Clocks of host and GPU are matched to within microseconds (seven, at worst, in the recordings
    of fifty programs)."""
    clock_skew_share: float = 0.001
    """Operations before their launches, from this share on, are no glitch of single records."""
    longest_backlog_ns: int = 10_000_000_000
    """A queue holds seconds of work, but not this much over a whole capture."""
    checked_waits: int = 8
    """Waits for the device that are held against the clocks: if those disagree, all show it."""
    compared_iterations: int = 32
    """Iterations that a kernel's durations are compared over: more of them tell nothing new."""
    examined_ops: int = 100_000
    """Operations of a device whose idle time is looked at: of a longer capture, iterations that
    hold about so many. More of the same change no median, and cost time and memory."""
    examined_apart: int = 12
    """The longest of these iterations are so many, and so many are spread over the capture: each is
    looked at by itself, which takes longer than a run of them."""
