"""What the header of a SQLite file says of its length, held against the file.

SQLite itself notices a missing end only when a query happens to need a page of it, and reads up
to there: a table would come out short without an error. Layout: sqlite.org/fileformat.html, 1.3.
"""

from __future__ import annotations

from pathlib import Path

from tracelens.errors import TracelensError
from tracelens.loaders.files import EXPORT

_HEADER_BYTES = 100


def check(path: Path) -> None:
    """Raises TracelensError where the file is shorter than its header says, or has no pages."""
    with path.open("rb") as file:
        first = file.read(_HEADER_BYTES)
    again = f"copy it again, or export it again: {EXPORT}"
    page_bytes = int.from_bytes(first[16:18], "big")
    page_bytes = 65_536 if page_bytes == 1 else page_bytes
    if len(first) < _HEADER_BYTES or page_bytes < 512 or page_bytes & (page_bytes - 1):
        raise TracelensError(f"{path} is a damaged SQLite database (no valid header)", hint=again)
    actual = path.stat().st_size
    # old writers leave the count stale: it holds only if the counters at 24 and 92 agree
    if first[24:28] == first[92:96]:
        stated = int.from_bytes(first[28:32], "big") * page_bytes
        if actual < stated:
            raise TracelensError(
                f"{path} is cut short: it has {actual:,} of {stated:,} bytes", hint=again
            )
