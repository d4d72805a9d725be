"""The report as JSON: the contract "tracelens/1" of the documentation."""

from __future__ import annotations

import json

from tracelens.report import Report


def render(report: Report, *, width: int = 80, color: bool = False) -> str:
    """One JSON object, indented, in ASCII. Raises ValueError on a number that JSON cannot hold."""
    return json.dumps(report, indent=2, allow_nan=False) + "\n"
