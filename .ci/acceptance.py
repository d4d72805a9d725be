"""Run the acceptance cases that must pass: those named in acceptance.txt, which only grows."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ACCEPTANCE = HERE.parent.parent / "shared" / "acceptance"


def listed() -> list[str]:
    """Names in acceptance.txt, in its order."""
    lines = (HERE / "acceptance.txt").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def known() -> set[str]:
    """Names of all cases that there are."""
    manifests = (json.loads(p.read_text(encoding="utf-8")) for p in ACCEPTANCE.glob("*.json"))
    return {case["name"] for cases in manifests for case in cases}


def main(tracelens: str) -> int:
    """Check the listed cases with this tracelens, and return the exit status."""
    names = listed()
    if unknown := sorted(set(names) - known()):
        sys.exit("acceptance.txt names no such case: " + ", ".join(unknown))
    if not names:
        print("acceptance.txt lists no case")
        return 0
    check = [sys.executable, str(ACCEPTANCE / "check.py"), "--tracelens", shlex.quote(tracelens)]
    return subprocess.run([*check, "--only", ",".join(names)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
