"""The command line in a process of its own, as a user runs it."""

from __future__ import annotations

import subprocess
import sys


def tracelens(*arguments: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; its output comes back as text."""
    command = [sys.executable, "-m", "tracelens", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
