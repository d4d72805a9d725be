"""Redact a torch.profiler trace: a new trace with the events and arguments that are read."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, cast

import orjson

from tracelens.loaders.kineto import rank_of
from tracelens.loaders.kineto_schema import TABLE_OF_CATEGORY
from tracelens.loaders.kineto_stream import TraceStream, open_unzipped
from tracelens.redact import Redaction, refuse_leaks
from tracelens.redact.names import Masker, users_of_paths
from tracelens.redact.nsys_sqlite import communication

Event = dict[str, Any]
_ARGUMENTS = {
    "device", "context", "stream", "original_stream", "correlation", "bytes", "grid", "block",
    "graph node id", "name", "autograd_phase", "Collective name", "In msg nelems", "dtype",
    "Process Group Name", "Process Group ID", "Process Group Description", "Group size", "Seq",
    "Sequence number", "Fwd thread id", "Input Dims", "Input dims", "finished", "Device Id",
    "Device Type", "Bytes", "Addr", "Total Allocated", "Total Reserved", "wait_on_cuda_event_id",
    "wait_on_stream", "wait_on_cuda_event_record_corr_id", "event_id", "labels", "sort_index",
}  # fmt: skip
"""What the loader reads of an event, and what orders it in a viewer."""
_STACKS = "python_frame"
"""Left out though it is read: source files and functions tell more than the analysis needs."""
_PLACE = ("ph", "cat", "pid", "tid", "id")
_HEADER = {
    "schemaVersion", "displayTimeUnit", "baseTimeNanoseconds", "cuda_runtime_version",
    "cuda_driver_version", "hip_runtime_version", "hip_driver_version", "with_stack",
    "with_modules", "with_flops", "record_shapes", "profile_memory",
}  # fmt: skip
_DEVICE = {
    "id", "name", "totalGlobalMem", "computeMajor", "computeMinor", "numSms", "warpSize",
    "maxThreadsPerBlock", "sharedMemPerBlock", "regsPerBlock",
}  # fmt: skip
_DISTRIBUTED = ("backend", "rank", "world_size")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_HOST = re.compile(rb'"(?:host_?name|host|user(?:_?name)?)"\s*:\s*"([^"]{3,64})"', re.IGNORECASE)
_SCANNED_BYTES = 1 << 20
_OVERLAP_BYTES = 512


def write(source: Path, target: Path, rename_kernels: bool, *, is_zipped: bool) -> Redaction:
    """Write the redacted trace, zipped or not, under whatever layers of gzip the source is."""
    masker = Masker(_people(source))
    copy = _Copy(TraceStream(source), masker, rename_kernels)
    with ExitStack() as stack:
        file: IO[bytes] = stack.enter_context(target.open("xb"))
        if is_zipped:
            # without the name and the time that gzip would put into its own header
            zipped = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
            file = cast(IO[bytes], stack.enter_context(zipped))
        copy.write(file, source)
    refuse_leaks(source, _leaks(target, masker))
    return Redaction(masker.masked, tuple(sorted(copy.left_out)))


class _Copy:
    """One copy under way, block by block."""

    def __init__(self, stream: TraceStream, masker: Masker, rename_kernels: bool) -> None:
        # doubles of the size of a Unix time would lose digits
        stream.exact_times = True
        self.stream = stream
        self.masker = masker
        self.rename_kernels = rename_kernels
        self.left_out: Counter[str] = Counter()
        self._public: dict[str, bool] = {}

    def write(self, file: IO[bytes], source: Path) -> None:
        """Write the events, and behind them the header, as Kineto itself may do."""
        file.write(b'{"traceEvents": [\n')
        separator = b""
        for events in self.stream.blocks():
            for event in events:
                if text := self._event(event):
                    file.write(separator + text)
                    separator = b",\n"
        header = orjson.dumps(self._header(self.stream.header, source))
        file.write(b"\n]" + (b", " if header != b"{}" else b"") + header[1:])

    def _event(self, event: Event) -> bytes | None:
        category = event.get("cat")
        table = TABLE_OF_CATEGORY.get(str(category).lower())
        is_name = event.get("ph") == "M"
        if table == _STACKS or not (table or is_name or category == "Trace"):
            self.left_out[str(category or event.get("ph"))] += 1
            return None
        kept: Event = {key: event[key] for key in _PLACE if key in event}
        kept["name"] = self._name(event.get("name"), table, is_name)
        if isinstance(args := event.get("args"), dict):
            kept["args"] = {k: self._argument(v) for k, v in args.items() if k in _ARGUMENTS}
        times = b"".join(
            b'"%s":%s,' % (key.encode(), _as_written(event[key]))
            for key in ("ts", "dur")
            if key in event
        )
        return b"{" + times + orjson.dumps(kept)[1:]

    def _name(self, name: Any, table: str | None, is_keyword: bool) -> Any:
        if not isinstance(name, str) or is_keyword:
            return name
        if table == "kernel" and self.rename_kernels and not self._is_public(name):
            return self.masker.kernel(name)
        return self.masker.mask(name)

    def _is_public(self, name: str) -> bool:
        if name not in self._public:
            self._public[name] = bool(communication([name]))
        return self._public[name]

    def _argument(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.masker.mask(value)
        if isinstance(value, list):
            return [self._argument(v) for v in value]
        return None if isinstance(value, dict) else value

    def _header(self, header: Event, source: Path) -> Event:
        kept = {key: value for key, value in header.items() if key in _HEADER}
        devices = header.get("deviceProperties")
        if isinstance(devices, list):
            kept["deviceProperties"] = [
                {k: self._argument(v) for k, v in d.items() if k in _DEVICE} | _any_gpu(d, i)
                for i, d in enumerate(devices)
                if isinstance(d, dict)
            ]
        told = header.get("distributedInfo")
        told = told if isinstance(told, dict) else {}
        distributed = {key: told[key] for key in _DISTRIBUTED if key in told}
        rank = rank_of(header, source)
        if rank is not None:
            distributed["rank"] = rank  # it may have been in the name of the file alone
        return kept | ({"distributedInfo": distributed} if distributed else {})


def _any_gpu(device: Event, index: int) -> Event:
    return {"uuid": f"GPU-{index + 1}"} if device.get("uuid") else {}


def _as_written(time: Any) -> bytes:
    """A time digit for digit."""
    if isinstance(time, str) and _NUMBER.fullmatch(time):
        return time.encode()
    return orjson.dumps(time)


def _people(source: Path) -> set[str]:
    """Names of users in paths, and of hosts, anywhere in the trace."""
    found: set[str] = set()
    for text in _pieces(source):
        found |= users_of_paths(text.decode("utf-8", "replace").replace("\\\\", "\\"))
        found |= {name.decode("utf-8", "replace") for name in _HOST.findall(text)}
    return found


def _leaks(target: Path, masker: Masker) -> set[str]:
    """What was taken out and is still in the trace."""
    needles = {orjson.dumps(text)[1:-1]: text for text in masker.telling()}
    return {
        text for piece in _pieces(target) for needle, text in needles.items() if needle in piece
    }


def _pieces(path: Path) -> Iterator[bytes]:
    """The unzipped text in pieces that overlap."""
    with open_unzipped(path) as file:
        before = b""
        while chunk := file.read(_SCANNED_BYTES):
            yield before + chunk
            before = chunk[-_OVERLAP_BYTES:]
