"""tracelens: where each iteration's time went, from a recorded GPU profile.

>>> import tracelens as tl
>>> trace = tl.open("run.sqlite")           # several files are the ranks of one run
>>> trace.diagnose()                        # what to fix first, and what it is worth
>>> trace.iterations(), trace.phases()      # polars frames
>>> trace.sql("SELECT name, total_ms FROM kernels LIMIT 10")
>>> tl.compare("before.sqlite", "after.sqlite")         # what got faster, and how sure that is
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tracelens._version import __version__

if TYPE_CHECKING:
    from tracelens.archives import Archive, archive
    from tracelens.comparison import Comparison, compare
    from tracelens.diagnosis import CoverageWarning, Diagnosis, Evidence, Findings, NotChecked
    from tracelens.errors import TracelensError
    from tracelens.trace import Trace, open

__all__ = [
    "Archive",
    "Comparison",
    "CoverageWarning",
    "Diagnosis",
    "Evidence",
    "Findings",
    "NotChecked",
    "Trace",
    "TracelensError",
    "__version__",
    "archive",
    "compare",
    "open",
]

_HOMES = {
    "Archive": "archives",
    "Comparison": "comparison",
    "CoverageWarning": "diagnosis",
    "Diagnosis": "diagnosis",
    "Evidence": "diagnosis",
    "Findings": "diagnosis",
    "NotChecked": "diagnosis",
    "Trace": "trace",
    "TracelensError": "errors",
    "archive": "archives",
    "compare": "comparison",
    "open": "trace",
}
"""Where each public name lives: imported on first use, so that the command line starts at once."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tracelens' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"tracelens.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
