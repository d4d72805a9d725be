"""A run, opened: its frames, its findings, its report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tracelens.errors import TracelensError
from tracelens.options import Options

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    from tracelens.cache import Cache
    from tracelens.details import Details
    from tracelens.diagnosis import Diagnoses, Findings
    from tracelens.engine import Engine
    from tracelens.inputs import Progress, Store
    from tracelens.loaders import Source
    from tracelens.plots import Plots
    from tracelens.report import Report

PathLike = str | Path


def open(
    *paths: PathLike | Sequence[PathLike],
    iterations: str | None = None,
    phases: PathLike | None = None,
    samples_per_iteration: float | None = None,
    cache: PathLike | bool = True,
    memory_limit: str | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Open a recording; several files, or a list of them, are the ranks of one run.

    A name may also be a folder or a pattern, which stand for all recordings in them, and a URL
    that fsspec opens (extra ``remote``); ``progress`` is told of what is fetched.

    ``iterations`` is a regular expression that the names of iteration ranges match (found by
    itself where None), ``phases`` a TOML file with more patterns for roles. ``cache`` is a folder
    for what is worth keeping between analyses: the user's own (True), another, or none (False).
    ``memory_limit`` bounds the tables in memory ("4GB"; half of the machine's where None): beyond
    it they spill to temporary files. Nothing is read before it is asked for, and the recordings
    are never written to.

    Raises TracelensError where a file is missing, damaged, or no recording.
    """
    from tracelens.engine import Engine
    from tracelens.inputs import expand

    named = [p for given in paths for p in ([given] if isinstance(given, str | Path) else given)]
    if not named:
        raise TracelensError("no file was named", hint='tracelens.open("run.sqlite")')
    options = Options(
        iterations=valid_pattern(iterations),
        phases=None if phases is None else Path(phases),
        samples_per_iteration=samples_per_iteration,
    )
    store = store_for(cache)
    sources = [opened(name, store, progress) for name in expand(named)]
    kept = cache_for([source.info.path for source in sources], cache)
    return Trace(Engine(sources, options, cache=kept, memory_limit=memory_limit), store)


class Trace:
    """One run. Frames are polars; times are on the trace's clock, in the unit that ends a name.

    Each frame is a documented view that ``sql`` can query as well:
    ``tracelens query FILE --tables`` lists their columns.
    """

    def __init__(self, engine: Engine, store: Store | None = None) -> None:
        self._engine = engine
        self._store = store  # local copies live as long as it does

    @property
    def engine(self) -> Engine:
        """The connection and the relations built so far, for work that the views do not cover."""
        return self._engine

    @property
    def files(self) -> list[Path]:
        """The recordings, in the order in which they were named."""
        return [source.info.path for source in self._engine.sources]

    @property
    def names(self) -> list[str]:
        """The recordings as they were named, where that differs: URLs, compressed files."""
        return [source.info.shown for source in self._engine.sources]

    def devices(self) -> pl.DataFrame:
        """One row a device that did something: device_index, rank, name, busy_ms, busy_pct ..."""
        return self._engine.frame("devices")

    def iterations(self) -> pl.DataFrame:
        """One row an iteration on one device: start_ms, end_ms, period_ms, gap_ms, is_steady ...

        ``period_ms`` and ``gap_ms`` are null for the last one.
        """
        return self._engine.frame("iterations")

    def phases(self) -> pl.DataFrame:
        """One row a phase over all devices: median gpu_span_ms, gpu_busy_ms, cpu_ms, kernels ..."""
        return self._engine.frame("phases")

    def phase_instances(self) -> pl.DataFrame:
        """One row each time that a phase ran on a device: what ``phases`` is the summary of."""
        return self._engine.frame("phase_instances")

    def kernels(self) -> pl.DataFrame:
        """One row a name of operation on one device: instances, total_ms, mean_us, share_pct ..."""
        return self._engine.frame("kernels")

    def ranges(self) -> pl.DataFrame:
        """One row a host range (NVTX or annotation): name, domain, role, start_ns, end_ns ..."""
        return self._engine.frame("ranges")

    def projections(self) -> pl.DataFrame:
        """One row a range that launched work on the GPU: gpu_span_ms, operations, launches ...

        The definition is that of NVIDIA's ``nvtx_gpu_proj_trace``.
        """
        return self._engine.frame("projections")

    def range_summary(self, fold: bool = True) -> pl.DataFrame:
        """One row a name of ranges: instances, p50_ms, p99_ms, most_open, payload_median ...

        ``fold`` replaces numbers in names by ``#``, so that ``request_0`` and ``request_1`` share
        a row. Ranges that were never closed are counted, but have no part in the times.
        """
        summary = self._engine.frame("range_summary")
        return summary.filter(summary["is_folded"] == fold).drop("is_folded")

    def marks(self) -> pl.DataFrame:
        """One row a mark that a program set: name, at_ns, domain, color, category, payload ..."""
        return self._engine.frame("marks")

    def tree(self) -> pl.DataFrame:
        """One row a path of nested ranges (``iter_# > forward``), numbers in names folded.

        Parents come before what lies in them. ``instances, cpu_ms, self_cpu_ms, gpu_span_ms,
        gpu_busy_ms, operations, self_operations`` are sums over the run. ``is_main`` is false for
        processes that used no GPU, such as data-loader workers.
        """
        return self._engine.frame("tree")

    def operations(self) -> pl.DataFrame:
        """One row a GPU operation: name, start_ns, end_ns, its launch, phase and iteration."""
        return self._engine.frame("operations")

    def graph_operations(self) -> pl.DataFrame:
        """One row an operation in a CUDA graph: where it was launched, and where captured.

        ``launched_in`` and ``captured_in`` name the innermost ranges, ``launch_phase`` and
        ``capture_phase`` the phases; ``phases`` counts the second.
        """
        return self._engine.frame("graph_operations")

    def budget(self) -> pl.DataFrame:
        """One row a part of an ordinary iteration on one device: part, role, cause, ms, share_pct.

        The parts of a device sum to the iteration exactly.
        """
        return self._engine.frame("budget")

    def gaps(self) -> pl.DataFrame:
        """One row a cause of one idle gap: start_ns, end_ns, cause, idle_ms, the blocking call."""
        return self._engine.frame("gaps")

    def operators(self, by_shapes: bool = False) -> pl.DataFrame:
        """One row an operator of the framework: calls, self_cpu_ms, self_gpu_ms, shapes ...

        The one with most GPU time of its own first; ``by_shapes``: one row for each set of input
        shapes. Empty where no operators were recorded (torch.profiler, or emit_nvtx).
        """
        return self._engine.frame("operator_shapes" if by_shapes else "operators")

    def memory(self) -> pl.DataFrame:
        """One row an iteration on one device: allocations, allocated_mb, peak_mb, growth_mb ...

        Empty where allocations were not recorded.
        """
        return self._engine.frame("memory")

    def ranks(self) -> pl.DataFrame:
        """One row a rank: period_ms, busy_ms, exposed_ms, wait_ms, lost_ms, clock_offset_ms ...

        ``lost_ms`` is what the run loses by the rank's coming late to collectives.
        """
        return self._engine.frame("ranks")

    def collectives(self) -> pl.DataFrame:
        """One row a rank's part of a collective: start_ms, end_ms (on the first file's clock),
        wait_ms, exposed_ms, is_last, message_mb, bus_gb_per_s ..."""
        return self._engine.frame("collectives")

    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """Ask the documented views anything; they are built when a query names them.

        Raises TracelensError where DuckDB does not take the query.
        """
        import duckdb

        self._engine.need(*_named(query, self._engine.names()))
        # a name that is no view must be an error, not a variable of the calling Python code
        self._engine.connection.execute("SET python_enable_replacements = false")
        try:
            return self._engine.connection.sql(query)
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            raise TracelensError(
                f"the query was not understood ({_first_line(error)})",
                hint="tracelens query FILE --tables lists the views and their columns",
            ) from None

    @cached_property
    def findings(self) -> Findings:
        """What the rules say: diagnoses by urgency, coverage warnings, what was not checked."""
        from tracelens.rules import relations
        from tracelens.rules._runner import find

        frames = self._engine.frames(relations())
        return find(frames.__getitem__)

    def diagnose(self) -> Diagnoses:
        """Findings, the most urgent first: a list. A healthy run has none above ``low``."""
        from tracelens.diagnosis import Diagnoses

        return Diagnoses(self.findings.diagnoses)

    def report(self, *, in_passing: bool = False) -> Report:
        """The whole report as plain dicts, lists, strings and finite numbers ("tracelens/1").

        ``in_passing`` lets go of tables as soon as the report has no more use for them, which
        takes half of the memory; what is asked afterwards has to be computed again.
        """
        from tracelens import report
        from tracelens.rules import relations
        from tracelens.rules._runner import find

        frames = self._engine.frames([*report.READS, *relations()], in_passing=in_passing)
        findings = find(frames.__getitem__)
        return report.build(frames, self.names, findings, self._engine.options)

    def details(self) -> Details:
        """What the HTML report shows beside the report: a timeline, the tree, more kernels.

        The timeline is of the device with the most urgent finding, or of the first one.
        """
        from tracelens import details

        places = (d.where.get("device") for d in self.findings.diagnoses)
        return details.collect(self._engine, next((p for p in places if p is not None), None))

    @cached_property
    def plot(self) -> Plots:
        """Pictures as Altair charts: ``trace.plot.budget()``, ``iterations()``, ``timeline()``,
        ``tree()``, ``gaps()``. They need the extra ``report``."""
        from tracelens.plots import Plots

        return Plots(self._engine, self.report)

    def to_perfetto(self, path: PathLike) -> None:
        """Write a Chrome JSON trace for ui.perfetto.dev, gzipped where the name ends in ``.gz``.

        Beside what was recorded it has iterations, phases, operations of CUDA graphs by phase,
        idle time by cause and findings as lanes of each GPU.
        """
        from tracelens import events
        from tracelens.reports import _perfetto

        found = [d.to_dict() for d in self.findings.diagnoses]
        _perfetto.write(events.collect(self._engine), found, Path(path))

    def to_file(self, table: str, path: PathLike, form: Literal["csv", "parquet"]) -> None:
        """Write a view, or a relation beneath, as CSV or Parquet.

        Raises TracelensError where there is none of that name.
        """
        from tracelens.reports import _tables

        if table not in self._engine.names():
            from difflib import get_close_matches

            near = get_close_matches(table, self._engine.names(), 1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise TracelensError(
                f"there is no table {table!r}",
                hint=f"{meant}tracelens query FILE --tables lists them",
            )
        _tables.write(self._engine.frame(table), Path(path), form)

    def __repr__(self) -> str:
        return f"Trace({', '.join(repr(name) for name in self.names)})"

    def _repr_html_(self) -> str:
        from tracelens.reports import _notebook

        return _notebook.render(self.report())


def store_for(cache: PathLike | bool) -> Store:
    """Where local copies are kept: beside the cache, or nowhere for longer than needed."""
    from tracelens.inputs import Store, user_store

    if cache is True:
        return user_store()
    return Store(None if cache is False else Path(f"{cache}-inputs"))


def opened(name: str, store: Store, progress: Progress | None) -> Source:
    """One recording of any format and from anywhere, opened; its content is not read yet."""
    from tracelens.inputs import localise, shown
    from tracelens.loaders import open_source

    path = localise(name, store, progress)
    source = open_source(path)
    if path != Path(name):
        source.info = replace(source.info, origin=shown(name))
    return source


def cache_for(files: Sequence[Path], wanted: PathLike | bool) -> Cache | None:
    """Where what these files give is kept: the user's cache, another folder, or nowhere."""
    from tracelens.cache import Cache, default_root

    if wanted is False:
        return None
    return Cache(default_root() if wanted is True else Path(wanted), files)


def _named(query: str, known: Sequence[str]) -> list[str]:
    """Relations that a query may name: words of it, outside of strings and comments."""
    bare = re.sub(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", " ", query, flags=re.DOTALL)
    words = {word.lower() for word in re.findall(r"\w+", bare)}
    return [name for name in known if name in words]


def valid_pattern(pattern: str | None) -> str | None:
    """The pattern itself. Raises TracelensError where it is no regular expression."""
    if pattern is not None:
        try:
            re.compile(pattern)
        except re.error as error:
            raise TracelensError(
                f"the pattern {pattern!r} for iterations is no regular expression ({error})",
                hint="for example: 'iter_[0-9]+'",
            ) from None
    return pattern


def _first_line(error: Exception) -> Any:
    return str(error).strip().partition("\n")[0]
