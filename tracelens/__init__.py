"""tracelens: where each iteration's time went, from a recorded GPU profile."""

from __future__ import annotations

from tracelens._version import __version__

__all__ = ["__version__"]
