"""What every loader offers: the raw tables of one file, read when asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from tracelens.loaders.contents import Contents


@dataclass(frozen=True)
class SourceInfo:
    """What a file is, before anything in it is read."""

    path: Path
    format: str
    """"nsys-sqlite", "nsys-parquet" or "torch-profiler"."""
    staging: str
    """The folder of ``sql/staging`` that knows its tables: "nsys" or "kineto"."""
    producer: str = ""
    """The tool and version that recorded or exported it, as far as the file says."""
    origin: str = ""
    """What the user named, where that is another file: compressed, remote, or not yet exported."""
    notes: tuple[tuple[str, str, str], ...] = field(default=())
    """Oddities met while reading, for the coverage warnings: (code, message, advice)."""

    @property
    def shown(self) -> str:
        """The name to show for it."""
        return self.origin or str(self.path)

    @property
    def rank_in_name(self) -> int | None:
        """The rank that the file's name tells, as in ``run.rank3.sqlite``."""
        found = re.search(r"rank[_.-]?(\d+)", self.path.name, re.IGNORECASE)
        return int(found[1]) if found else None


class Source(Protocol):
    """An opened file of some format. Nothing in it is ever written."""

    info: SourceInfo

    def load(self, tables: Iterable[str]) -> dict[str, pa.Table]:
        """Read raw tables: every column that staging may name, typed, and empty where absent."""

    def contents(self) -> Contents | None:
        """What the file holds, where that can be counted sooner than by loading it; else None."""
