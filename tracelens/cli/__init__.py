"""The command line: one file a command, one error boundary."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    raise SystemExit(2)
