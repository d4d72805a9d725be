"""One side of a comparison, and how far two sides can be compared at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tracelens.errors import TracelensError
from tracelens.settings import Settings

if TYPE_CHECKING:
    import polars as pl

FEWEST = Settings.min_iterations
"""Below this many periods nothing periodic is claimed."""
FEW = 6
"""Below this many only large differences can show."""


@dataclass(frozen=True)
class Reason:
    """Why two runs can't be compared fully. A ``serious`` one makes their times incomparable."""

    code: str
    message: str
    serious: bool

    def to_dict(self) -> dict[str, Any]:
        """``{"code", "message", "serious"}``."""
        return asdict(self)


@dataclass(frozen=True)
class Window:
    """How many steady iterations of each side count: with a period, and for phases."""

    periods: int
    phases: int


@dataclass(frozen=True)
class Kernel:
    """One name of operation in the iterations that count: means an iteration, and values."""

    short_name: str
    instances: float
    values_ms: Sequence[float]

    @property
    def mean_ms(self) -> float:
        """Mean over the iterations."""
        return sum(self.values_ms) / len(self.values_ms)


class Side:
    """What a comparison needs of one run. Values are means over its devices."""

    READS: ClassVar = (
        "budget_parts", "devices", "iteration", "iterations", "kernel_iteration",
        "phase_instances", "source",
    )  # fmt: skip

    def __init__(self, files: Sequence[str], frames: Mapping[str, pl.DataFrame]) -> None:
        self.files = files
        self._frames = frames
        steady = frames["iterations"].filter("is_steady")
        whole = steady.filter(steady["period_ms"].is_not_null())
        self.steady = sorted(set(steady["iteration_index"]))
        self.whole = sorted(set(whole["iteration_index"]))
        self._devices = max(1, steady["device_index"].n_unique())

    @property
    def gpus(self) -> list[str]:
        """Models of its GPUs, one for each device that did something."""
        return sorted(name or "unknown" for name in self._frames["devices"]["name"])

    @property
    def name(self) -> str:
        """Its files, by name."""
        return ", ".join(Path(file).name for file in self.files)

    @property
    def formats(self) -> list[str]:
        """The formats of its files."""
        return sorted(set(self._frames["source"]["format"]))

    def described(self) -> dict[str, Any]:
        """The side in a report: files, recorders, GPUs, iterations."""
        return {
            "files": list(self.files),
            "producers": sorted(set(self._frames["source"]["producer"])),
            "gpus": self.gpus,
            "iterations": self._frames["iteration"].height,
            "steady_periods": len(self.whole),
            "method": next(iter(self._frames["iteration"]["method"]), None),
        }

    def periods(self, count: int) -> list[float]:
        """Periods of its first steady iterations, in milliseconds."""
        frame = self._frames["iterations"]
        return self._values(frame, "period_ms", self.whole[:count])

    def phases(self, count: int) -> dict[str, list[float]]:
        """For each phase its GPU span in each iteration, summed where it runs several times."""
        frame = self._frames["phase_instances"]
        chosen = self.steady[:count]
        return {
            str(phase): self._values(rows, "gpu_span_ms", chosen)
            for (phase,), rows in frame.filter(frame["iteration_index"].is_in(chosen)).group_by(
                "phase", maintain_order=True
            )
        }

    def times(self) -> dict[str, float]:
        """How often each phase runs in a steady iteration."""
        frame = self._frames["phase_instances"]
        inside = frame.filter(frame["iteration_index"].is_in(self.steady))
        counts = inside["phase"].value_counts().rows()
        return {phase: n / len(self.steady) / self._devices for phase, n in counts}

    def parts(self, count: int) -> dict[tuple[Any, ...], list[float]]:
        """For each part, role and cause of the budget its milliseconds in each iteration."""
        frame = self._frames["budget_parts"]
        chosen = self.whole[:count]
        return {
            key: self._values(rows, "ms", chosen)
            for key, rows in frame.filter(frame["iteration_index"].is_in(chosen)).group_by(
                "part", "role", "cause", maintain_order=True
            )
        }

    def kernels(self, count: int) -> dict[str, Kernel]:
        """Operations by full name."""
        frame = self._frames["kernel_iteration"]
        chosen = self.whole[:count]
        frame = frame.filter(frame["iteration_index"].is_in(chosen))
        frame = frame.with_columns(ms=frame["total_ns"] / 1e6)
        return {
            str(name): Kernel(
                rows["short_name"][0],
                float(rows["instances"].sum()) / len(chosen) / self._devices,
                self._values(rows, "ms", chosen),
            )
            for (name,), rows in frame.group_by("name", maintain_order=True)
        }

    def _values(self, rows: pl.DataFrame, column: str, chosen: Sequence[int]) -> list[float]:
        sums = dict.fromkeys(chosen, 0.0)
        for index, value in rows.select("iteration_index", column).iter_rows():
            if index in sums and value is not None:
                sums[index] += value
        return [value / self._devices for value in sums.values()]


def shared_window(base: Side, new: Side) -> Window:
    """As many iterations of one side as of the other. Raises TracelensError where too few."""
    for side in (base, new):
        if len(side.whole) < FEWEST:
            raise TracelensError(
                f"{side.name} has {len(side.whole)} steady periods, and a comparison needs "
                f"{FEWEST} or more",
                hint="record more iterations, or say which ranges they are with --iterations",
            )
    return Window(min(len(base.whole), len(new.whole)), min(len(base.steady), len(new.steady)))


def level(found: Sequence[Reason]) -> str:
    """``full``, ``limited``, or ``none`` where the times are not of one kind of work."""
    if any(reason.serious for reason in found):
        return "none"
    return "limited" if found else "full"


def reasons(base: Side, new: Side) -> list[Reason]:
    """What stands in the way of comparing two runs, the most serious first."""
    return sorted(_reasons(base, new), key=lambda reason: not reason.serious)


def _reasons(base: Side, new: Side) -> Iterator[Reason]:
    if len(base.gpus) != len(new.gpus):
        message = f"{len(base.gpus)} GPUs against {len(new.gpus)}: each has other work to do"
        yield Reason("other-device-count", message, serious=True)
    if set(base.gpus) != set(new.gpus):
        models = (" and ".join(sorted(set(side.gpus))) for side in (base, new))
        message = f"other GPUs ({' against '.join(models)}): differences are theirs as well"
        yield Reason("other-gpu", message, serious=True)
    if base.formats != new.formats:
        message = "other recorders, which slow the host down each in its own way"
        yield Reason("other-recorder", message, serious=True)
    yield from _shape(base.times(), new.times())
    periods = min(len(base.whole), len(new.whole))
    if periods < FEW:
        message = f"{periods} steady periods to compare: only large differences can show"
        yield Reason("few-iterations", message, serious=False)


def _shape(base: Mapping[str, float], new: Mapping[str, float]) -> Iterator[Reason]:
    """Whether an iteration is made of the same phases, as often."""
    both = [phase for phase in base if phase in new]
    if not both and (base or new):
        message = "no phase is in both runs: their iterations may be other work"
        yield Reason("other-phases", message, serious=bool(base and new))
        return
    for phase in both:
        if round(base[phase]) != round(new[phase]):
            message = (
                f"{phase} runs {base[phase]:.3g} times an iteration against {new[phase]:.3g}: "
                "an iteration is not the same work"
            )
            yield Reason("other-iteration-shape", message, serious=True)
    only = sorted(set(base) ^ set(new))
    if only:
        message = f"only one run has {', '.join(only)}"
        yield Reason("other-phases", message, serious=False)
