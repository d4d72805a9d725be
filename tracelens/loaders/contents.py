"""What a file holds, as far as its loader can count that without reading all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class RecordedDevice:
    """A device that ran at least one operation, in the words of the recording."""

    process_name: str | None
    ordinal: int
    rank: int | None
    name: str | None
    operations: int


@dataclass(frozen=True)
class Contents:
    """How many records of each kind there are, and what they span."""

    rows: Mapping[str, int]
    """By the name of the kind, as in ``tracelens.contents.KINDS``."""
    start_ns: int | None
    """The first event on the trace's clock, None where there is none."""
    end_ns: int | None
    devices: tuple[RecordedDevice, ...]
    """In the order in which reports number them."""
    launches_graphs: bool
    """Whether a call launches a CUDA graph. May stay False where nodes of graphs are counted."""
    has_several_streams: bool
    """Whether operations ran on several streams. May stay False where waits are counted."""
