"""The archive that a batch wrote, as lazy polars frames.

>>> import tracelens as tl
>>> archive = tl.archive("archive")
>>> archive.runs.filter(pl.col("idle_share") > 0.2).select("run", "period_ms").collect()
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracelens.batch._schema import TABLES
from tracelens.errors import TracelensError

if TYPE_CHECKING:
    import polars as pl


class Archive:
    """Tables by name, documented in ``docs/batch.md``. Nothing is read before it is collected."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def runs(self) -> pl.LazyFrame:
        """One row a run, analysed or not: status, recorded_at, period_ms, idle_share ..."""
        return self._table("runs")

    @property
    def iterations(self) -> pl.LazyFrame:
        """One row an iteration on one device: period_ms, gap_ms, is_steady ..."""
        return self._facts("iterations")

    @property
    def phases(self) -> pl.LazyFrame:
        """One row a phase of a run: gpu_span_ms, gpu_busy_ms, kernels, verdict ..."""
        return self._facts("phases")

    @property
    def findings(self) -> pl.LazyFrame:
        """One row a finding or a coverage warning: finding, severity, recoverable_ms ..."""
        return self._facts("findings")

    @property
    def budget(self) -> pl.LazyFrame:
        """One row a part of an ordinary iteration on one device: part, role, cause, ms, share."""
        return self._facts("budget")

    def _facts(self, name: str) -> pl.LazyFrame:
        # what a killed batch left of a run that it did not finish is not part of the archive
        finished = self.runs.select("run_key")
        return self._table(name).join(finished, on="run_key", how="semi")

    def _table(self, name: str) -> pl.LazyFrame:
        import polars as pl

        empty = pl.DataFrame(TABLES[name].schema.empty_table())
        if not any((self.root / name).glob("*.parquet")):
            return empty.lazy()
        return pl.scan_parquet(
            self.root / name / "*.parquet",
            schema=empty.schema,
            missing_columns="insert",
            extra_columns="ignore",
        )


def archive(root: str | Path) -> Archive:
    """Open the folder that ``tracelens batch --output`` wrote.

    Raises TracelensError where it is none.
    """
    path = Path(root)
    if not (path / "runs").is_dir():
        raise TracelensError(
            f"{path} is no archive", hint=f"make one: tracelens batch RUN... --output {path}"
        )
    return Archive(path)
