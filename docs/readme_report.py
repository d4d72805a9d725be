"""Put a report into the README as the command prints it today.

usage: readme_report.py [--check]

With --check nothing is written: exits with status 1 where the README shows another report.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
SHOWN = re.compile(
    r"(?P<head><!-- report: tracelens (?P<arguments>.*?) -->\n).*?(?=<!-- end of report -->)",
    re.DOTALL,
)


def printed(arguments: str) -> str:
    """What the command prints into a pipe, 80 columns wide."""
    command = [sys.executable, "-m", "tracelens", *arguments.split()]
    env = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(
        command, cwd=ROOT, env=env, check=True, capture_output=True, encoding="utf-8"
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())


def shown(match: re.Match[str]) -> str:
    """The block of the README with the command and its output."""
    arguments = match["arguments"]
    return f"{match['head']}```console\n$ tracelens {arguments}\n{printed(arguments)}\n```\n"


def main(check: bool) -> int:
    """Bring the README up to date, or say whether it is."""
    old = README.read_text(encoding="utf-8")
    new, blocks = SHOWN.subn(shown, old)
    if not blocks:
        sys.exit("README.md has no place for a report")
    if check and new != old:
        print("README.md shows a report that is no longer printed: run make readme")
        return 1
    if not check:
        README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
