"""Renderers: one file a format, each ``render(report, ...) -> str`` over plain data."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def formats() -> tuple[str, ...]:
    """Names of the formats: the modules of this folder."""
    return tuple(
        sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    )


def renderer(name: str) -> ModuleType:
    """The module of a format; what it needs is imported only here."""
    return importlib.import_module(f"{__name__}.{name}")
