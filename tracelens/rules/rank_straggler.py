"""rank-straggler: one rank comes late to the collectives, and the others wait for it.

The finding: in nearly every iteration the same rank arrives last, and what the others lose by
waiting for it is more than what it loses by waiting for them. Waiting that computing hides costs
the multiprocessors that the waiting kernel holds; waiting that nothing hides costs all of its time.

The cause: that rank has more to compute (uneven batches or sequence lengths, a slower GPU), or its
host is slower to launch or to bring a batch (its CPU cores are shared, it logs, it evaluates, its
storage is slow). What it does instead of arriving is told by comparing its computing and its idle
time with the other ranks'.

The cure: even out the work, or give that rank's host what the others have. Faster communication
does not help: the data is not what the others wait for.

Not this finding: lateness that goes from rank to rank, and collectives that take long though all
ranks are there (exposed-communication). The times of different ranks are compared after their
clocks were aligned on the ends of collectives.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracelens import rules
from tracelens.diagnosis import MEDIUM_SHARE, Diagnosis, Evidence, severity_of
from tracelens.rules._shared import NOISE_SHARE, ms, rows, share_evidence
from tracelens.settings import Settings

if TYPE_CHECKING:
    from tracelens.rules import Frames

    Row = dict[str, Any]

ID = "rank-straggler"
SCOPE = "run"
READS = ("rank_straggler", "rank_idle")
MIN_SHARE = MEDIUM_SHARE
"""Ranks are never in step to the last microsecond: below a few percent of the period, lateness is
scatter of their hosts."""
MIN_ITERATIONS = Settings.min_iterations
_DOING = {
    "compute": "its own kernels take longer than the other ranks'",
    "input": "its GPU waits for the next batch",
    "launch": "its host launches kernels more slowly than its GPU runs them",
    "sync": "blocking calls drain its queue",
    "host": "its host is busy elsewhere",
    "allocator": "its allocator calls cudaMalloc and cudaFree",
    "dependency": "its operations wait for other GPU work",
    "profiler": "the profiler takes its host's time",
}
_STEPS = {
    "compute": "Compare its batches (samples, sequence lengths, padding) and its GPU's clocks and "
    "temperature with the others': nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE.",
    "input": "Give that rank's DataLoader the same workers, storage and cores as the others; "
    "compare the time of next(iter(loader)) on each rank.",
    "launch": "Look at what else runs on that rank's cores (numactl --show, taskset -p, htop): "
    "data-loader workers or other processes there. Fewer launches help all ranks: "
    "torch.compile, CUDA graphs.",
    "sync": "Look for .item(), .cpu() or printing done by that rank alone, such as "
    "logging under `if rank == 0`.",
    "host": "Look for work done by that rank alone, such as logging, checkpoints or metrics under "
    "`if rank == 0`; move it to a background thread.",
}


@dataclass(frozen=True)
class _Reason:
    """What the late rank does more of than the others, in an iteration."""

    kind: str
    more_ms: float
    open_range: str | None = None

    @property
    def words(self) -> str:
        return _DOING.get(self.kind, "its GPU is idle")


def not_checked(frames: Frames) -> str | None:
    """It takes collectives with more than one of their ranks in the recording."""
    found = rows(frames, "rank_straggler")
    if len(found) < 2:
        return (
            "no collective has a second rank in this recording: record every rank, and name all "
            "files of the run"
        )
    if max(row["steady_iterations"] for row in found) < MIN_ITERATIONS:
        return "fewer than three steady iterations were found"
    return None


def check(frames: Frames) -> Iterator[Diagnosis]:
    """The rank that costs the run most, where it is the same one in most iterations."""
    ranks = rows(frames, "rank_straggler")
    late = max(ranks, key=lambda row: row["median_lost_ns"])
    others = [row for row in ranks if row is not late]
    period = statistics.median(row["median_period_ns"] for row in ranks)
    share = late["median_lost_ns"] / period
    if share < MIN_SHARE or not _is_usual(late, ranks, period):
        return
    reason = _reason(late, others, frames)
    waits = sorted((row["median_wait_ns"] for row in others), reverse=True)
    lost_ms = ms(late["median_lost_ns"])
    yield Diagnosis(
        id=ID,
        severity=severity_of(share),
        title=f"Rank {late['rank']} is late: the others lose {lost_ms:.1f} ms of each "
        f"{ms(period):.1f} ms iteration waiting for it",
        recoverable_ms=lost_ms,
        share_of_period=share,
        evidence=list(_evidence(late, others, reason, share, waits)),
        where=_where(late, others, reason),
        explanation=f"In {late['last_share']:.0%} of the collectives rank {late['rank']} comes "
        f"last, and the others stay up to {ms(waits[0]):.1f} ms of an iteration in collectives "
        f"that cannot begin without it. Meanwhile {_instead(reason)}.",
        hypothesis=f"Rank {late['rank']} is held up before the collectives: {reason.words}.",
        next_steps=[
            f"Confirm: exchange the hosts, GPUs or data shards of rank {late['rank']} and another "
            "rank. What the lateness moves with is its cause.",
            _STEPS.get(reason.kind, "Analyse that rank's file alone, and treat its first finding."),
        ],
        caveats=list(_caveats(late, ranks, reason)),
    )


def _is_usual(late: Row, ranks: Sequence[Row], period: float) -> bool:
    """Whether the rank is late in two of three iterations, and by more than the clocks may be
    off."""
    residual = max(row["clock_residual_ns"] or 0 for row in ranks)
    least = max(NOISE_SHARE * period, residual * late["collectives"])
    return bool(late["usual_lost_ns"] >= least)


def _reason(late: Row, others: Sequence[Row], frames: Frames) -> _Reason:
    """What the late rank does more of than a typical other one."""
    computes = late["compute_ns"] - statistics.median(row["compute_ns"] for row in others)
    idle = late["idle_ns"] - statistics.median(row["idle_ns"] for row in others)
    own = rows(frames, "rank_idle", device_id=late["device_id"])
    reasons = [_Reason("compute", ms(computes))]
    reasons += [_more_idle(cause, others, frames) for cause in own]
    best = max(reasons, key=lambda reason: reason.more_ms)
    # without causes, idle time is all that can be said
    return best if own or computes >= idle else _Reason("unknown", ms(idle))


def _more_idle(cause: Row, others: Sequence[Row], frames: Frames) -> _Reason:
    same = rows(frames, "rank_idle", cause=cause["cause"])
    by_device = {row["device_id"]: row["mean_ns"] for row in same}
    usual = statistics.median(by_device.get(row["device_id"], 0) for row in others)
    return _Reason(cause["cause"], ms(cause["mean_ns"] - usual), cause["open_range"])


def _instead(reason: _Reason) -> str:
    at = f", in {reason.open_range}" if reason.open_range else ""
    return f"{reason.words}{at} ({reason.more_ms:.1f} ms an iteration more than on the others)"


def _evidence(
    late: Row, others: Sequence[Row], reason: _Reason, share: float, waits: Sequence[int]
) -> Iterator[Evidence]:
    yield Evidence("lost_waiting_for_it", ms(late["median_lost_ns"]), "ms/iteration")
    yield share_evidence("share_of_period", share, MIN_SHARE)
    yield Evidence("comes_last", late["last_share"] * 100, "% of collectives")
    yield Evidence("others_wait_at_most", ms(waits[0]), "ms/iteration")
    yield Evidence("others_wait_at_least", ms(waits[-1]), "ms/iteration")
    yield Evidence("it_waits", ms(late["median_wait_ns"]), "ms/iteration")
    yield Evidence("doing_instead", reason.kind)
    yield Evidence("more_of_it_than_others", reason.more_ms, "ms/iteration")
    yield Evidence("it_computes", ms(late["compute_ns"]), "ms/iteration")
    usual = statistics.median(row["compute_ns"] for row in others)
    yield Evidence("others_compute", ms(usual), "ms/iteration")
    if late["clock_residual_ns"] is not None:
        yield Evidence("clocks_agree_within", late["clock_residual_ns"] / 1e3, "µs")


def _where(late: Row, others: Sequence[Row], reason: _Reason) -> dict[str, Any]:
    return {
        "rank": late["rank"],
        "device": late["device_index"],
        "iterations": [late["first_iteration"], late["last_iteration"]],
        "doing": reason.kind,
        "waiting_ranks": [row["rank"] for row in others],
        **({"ranges": [reason.open_range]} if reason.open_range else {}),
    }


def _same_time(reason: _Reason) -> str | None:
    """The finding that tells the same time from the late rank's own side."""
    return next((r.id for r in rules.all_rules() if r.roots.get(ID) == reason.kind), None)


def _caveats(late: Row, ranks: Sequence[Row], reason: _Reason) -> Iterator[str]:
    yield (
        "The worth counts waiting that nothing hides in full, and hidden waiting by the share of "
        "multiprocessors that the waiting kernel holds. It ends where the next rank is late."
    )
    if same := _same_time(reason):
        yield (
            f"Where {same} is reported for device {late['device_index']}, it tells the same time "
            "from that rank's side: the two don't add up."
        )
    if late["steady_iterations"] < 2 * MIN_ITERATIONS:
        yield f"Only {late['steady_iterations']} iterations were compared."
    if len(ranks) == 2:
        yield "With two ranks, the late one may as well be the usual one, and the other fast."
