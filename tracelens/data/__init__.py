"""Tables that ship with tracelens: roles of names, domains of libraries, kernels of
communication."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tracelens.errors import TracelensError

_HERE = Path(__file__).resolve().parent


def shipped(name: str) -> dict[str, Any]:
    """The content of one shipped table, such as ``shipped("roles")``."""
    return tomllib.loads((_HERE / f"{name}.toml").read_text(encoding="utf-8"))


def of_user(path: Path | None) -> dict[str, Any]:
    """The content of a user's table, empty where there is none. Raises TracelensError for an
    unusable file."""
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        hint = "see docs/definitions.md, Roles"
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise TracelensError(f"{path} cannot be used ({why})", hint=hint) from None
