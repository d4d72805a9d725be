"""What a user may ask for beside the files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """Choices of one analysis. The defaults suit a run nobody knows anything about."""

    iterations: str | None = None
    """Regular expression that the names of iteration ranges match; None finds them."""
    phases: Path | None = None
    """TOML file with more patterns for roles."""
    samples_per_iteration: float | None = None
    """Samples in one iteration, for samples a second."""
