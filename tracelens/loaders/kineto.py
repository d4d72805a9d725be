"""torch.profiler (Kineto) traces: Chrome-trace JSON, plain or gzipped, read once and in blocks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tracelens.loaders import kineto_parts
from tracelens.loaders.base import SourceInfo
from tracelens.loaders.kineto_stream import GZIP_MAGIC, open_unzipped
from tracelens.loaders.kineto_tables import HOST_TABLES, Tables
from tracelens.loaders.kineto_values import as_integer, exact_nanoseconds

_BOM = b"\xef\xbb\xbf"
_UNIX_TIME_NS = 10**18
"""Times above this (the year 2001) count from 1970, not from a base time or from boot."""
_RANK_IN_NAME = re.compile(r"(?:^|[^a-z])rank[ _.-]?(\d+)(?!\d)", re.IGNORECASE)
_THREAD_NAME = re.compile(r"thread -?\w+ \((.*)\)")


def is_json(path: Path, head: bytes) -> bool:
    """Whether the file holds a JSON object or list, under any layers of gzip."""
    if head.startswith(GZIP_MAGIC):
        try:
            with open_unzipped(path) as file:
                head = file.read(4096)
        except (EOFError, OSError):
            return True  # damaged gzip: the loader says how far it can be read
    return head.removeprefix(_BOM).lstrip()[:1] in (b"{", b"[")


class Kineto:
    """One torch.profiler trace. It is parsed as a whole when the first table is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tables: dict[str, pa.Table] | None = None
        self.info = SourceInfo(path, "torch-profiler", "kineto", producer="torch.profiler")

    def load(self, tables: Iterable[str]) -> dict[str, pa.Table]:
        """The named raw tables. Raises TracelensError where the file is no trace, or cut short."""
        if self._tables is None:
            self._tables = self._parse()
        return {name: self._tables[name] for name in tables}

    def contents(self) -> None:
        """None: counting events takes as long as loading them."""

    def _parse(self) -> dict[str, pa.Table]:
        stream, tables = kineto_parts.read(self._path)
        if not tables.kinds & set("XiMBEsfCbe"):
            raise stream.no_trace("lists nothing that is an event")
        self._finish(tables, stream.header)
        notes = tuple(_notes(stream.repairs, tables.untimed))
        self.info = replace(self.info, producer=_producer(stream.header), notes=notes)
        return {name: tables.table(name) for name in tables.parts}

    def _finish(self, tables: Tables, header: dict[str, Any]) -> None:
        """Fill the tables that the header, the metadata events and the ids make up."""
        rank = rank_of(header, self._path)
        names = _Names(tables.metadata)
        main = _main_process(tables)
        hosts = {k >> 24 for t in HOST_TABLES for p in tables.parts[t] for k in _keys(p)}
        tables.put("process", _process_rows(tables, names, hosts, main, rank))
        tables.put("thread", _thread_rows(tables, names))
        tables.put("string", ({"id": i, "value": str(s)} for s, i in tables.strings.items()))
        tables.put("device", _device_rows(header))
        tables.put("capture", [_capture_row(tables, header, rank)])


class _Names:
    """Names that metadata events give to processes and threads."""

    def __init__(self, metadata: list[dict[str, Any]]) -> None:
        self.process: dict[str, str] = {}
        self.thread: dict[tuple[str, str], str] = {}
        for event in metadata:
            args = event.get("args")
            name = args.get("name") if isinstance(args, dict) else None
            if not isinstance(name, str):
                continue
            pid, tid = str(event.get("pid")), str(event.get("tid"))
            if event.get("name") == "process_name":
                self.process[pid] = re.split(r"[/\\]", name)[-1]
            elif event.get("name") == "thread_name":
                inner = _THREAD_NAME.fullmatch(name)
                self.thread[pid, tid] = inner[1] if inner else name


def _keys(part: pa.Table) -> list[int]:
    keys: list[int] = np.unique(part["thread"].to_numpy()).tolist()
    return keys


def _main_process(tables: Tables) -> int:
    """The process that GPU operations belong to: the one with most CUDA calls, or operators."""
    for table in HOST_TABLES:
        counts: Counter[int] = Counter()
        for part in tables.parts[table]:
            processes, calls = np.unique(part["thread"].to_numpy() >> 24, return_counts=True)
            counts.update(dict(zip(processes.tolist(), calls.tolist(), strict=True)))
        if counts:
            return counts.most_common(1)[0][0]
    return 0


def _process_rows(
    tables: Tables, names: _Names, hosts: set[int], main: int, rank: int | None
) -> Iterator[dict[str, Any]]:
    known = {number: pid for pid, number in tables.threads.processes.items()}
    for number in sorted(hosts | {main}):
        pid = known.get(number)
        yield {
            "key": number,
            "pid": as_integer(pid),
            "name": names.process.get(str(pid)),
            "rank": rank,
            "is_main": number == main,
        }


def _thread_rows(tables: Tables, names: _Names) -> Iterator[dict[str, Any]]:
    seen = set()
    for (pid, tid), key in tables.threads.items():
        if key not in seen:
            seen.add(key)
            name = names.thread.get((str(pid), str(tid)))
            yield {"key": key, "process": key >> 24, "tid": as_integer(tid), "name": name}


def _device_rows(header: dict[str, Any]) -> Iterator[dict[str, Any]]:
    devices = header.get("deviceProperties")
    for device in devices if isinstance(devices, list) else ():
        if isinstance(device, dict) and as_integer(device.get("id")) is not None:
            yield {
                "ordinal": as_integer(device["id"]),
                "name": str(device["name"]) if device.get("name") else None,
                "uuid": str(device["uuid"]) if device.get("uuid") else None,
                "sm_count": as_integer(device.get("numSms")),
            }


def _capture_row(tables: Tables, header: dict[str, Any], rank: int | None) -> dict[str, Any]:
    base = as_integer(header.get("baseTimeNanoseconds"))
    starts = [
        int(p["start"].to_numpy().min())
        for ps in tables.parts.values()
        for p in ps
        if "start" in p.column_names
    ]
    if base is None and max(starts, default=0) > _UNIX_TIME_NS:
        base = 0
    return {"utc_start": base, "end": max(_span_ends(tables.spans), default=None), "rank": rank}


def _span_ends(spans: list[dict[str, Any]]) -> Iterator[int]:
    for span in spans:
        start, length = exact_nanoseconds(span.get("ts")), exact_nanoseconds(span.get("dur"))
        if start is not None and length is not None:
            yield start + length


def rank_of(header: dict[str, Any], path: Path) -> int | None:
    """The rank that the trace names, else the one in its file name (``x_rank-3_y.json.gz``)."""
    distributed = header.get("distributedInfo")
    rank = as_integer(distributed.get("rank")) if isinstance(distributed, dict) else None
    if rank is None and (named := _RANK_IN_NAME.search(path.name)):
        rank = int(named[1])
    return rank


def _producer(header: dict[str, Any]) -> str:
    versions = (
        ("CUDA runtime", header.get("cuda_runtime_version")),
        ("HIP runtime", header.get("hip_runtime_version")),
    )
    known = [f"{what} {version}" for what, version in versions if isinstance(version, int | str)]
    return f"torch.profiler ({', '.join(known)})" if known else "torch.profiler"


def _notes(repairs: Counter[str], untimed: int) -> Iterator[tuple[str, str, str]]:
    lost = repairs.pop("events that cannot be read", 0) + untimed
    if repairs:
        found = ", ".join(f"{count:,} {kind}" for kind, count in sorted(repairs.items()))
        advice = "nothing to do: the numbers are not affected, names may look different"
        yield "repaired-json", f"the trace is not valid JSON and was repaired: {found}", advice
    if lost:
        message = f"{lost:,} events cannot be read or have no time, and are left out"
        yield (
            "unreadable-events",
            message,
            "export the trace again, with a newer PyTorch if there is one",
        )
