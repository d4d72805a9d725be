"""Read a Chrome trace in blocks of whole events: memory stays small however long the trace is.

A block is cut at a place that looks like the border of two events. Whether it is one, the parser
says: text from an event's start to a place inside another event has open brackets, or an open
string, and never parses.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

from tracelens.errors import TracelensError
from tracelens.loaders.kineto_repair import is_json, parse_list, parse_object, parse_piecewise

BLOCK_BYTES = 512 << 10
"""Small enough that the events of a block stay in the processor's cache while columns are made."""
DAMAGED_BYTES = 16 << 20
"""As much text as this, and no cut gives JSON: it is damaged, not an event still incomplete."""
GZIP_MAGIC = b"\x1f\x8b"
_HEADER_LIMIT_BYTES = 64 << 20
_MAX_GZIP_LAYERS = 4
_GZIP_BUFFER_BYTES = 256 << 10
_BORDER_TRIES = 4
_END_TRIES = 64
_LONGEST_EVENT_BYTES = 256 << 20
_EVENTS_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')
_BARE_LIST = re.compile(rb"\s*\[(?=\s*[{\]])")
_EXACT_TIME = re.compile(rb'("(?:ts|dur)"\s*:\s*)(-?[0-9][0-9.eE+-]*)')
_EVENT_BORDER = re.compile(rb"\}\s*,\s*(?=\{)")
_PART_BORDER_BYTES = 256 << 10
"""Two processes that look for the border of two parts look through so much text."""
_LIST_END = re.compile(rb'(\}\s*,?\s*|\A\s*)\]\s*(?=,\s*"[^"]*"\s*:|\}|\Z)')

Event = dict[str, Any]


@contextmanager
def open_unzipped(path: Path) -> Iterator[io.BufferedReader]:
    """The file's bytes, with every layer of gzip taken off. The name of the file says nothing."""
    with ExitStack() as stack:
        file: io.BufferedReader = stack.enter_context(path.open("rb"))
        for _ in range(_MAX_GZIP_LAYERS):
            if not file.peek(2).startswith(GZIP_MAGIC):
                break
            unzipped = stack.enter_context(gzip.GzipFile(fileobj=file, mode="rb"))
            file = io.BufferedReader(cast(io.RawIOBase, unzipped), _GZIP_BUFFER_BYTES)
        yield file


class TraceStream:
    """The events of one trace, block by block, and the header once the last block was read."""

    def __init__(
        self, path: Path, block_bytes: int = BLOCK_BYTES, damaged_bytes: int = DAMAGED_BYTES
    ) -> None:
        self.header: Event = {}
        self.repairs: Counter[str] = Counter()
        self.events_read = 0
        self.bytes_read = 0
        self.exact_times = False
        """Whether ``ts`` and ``dur`` come as text: doubles of their size would lose digits."""
        self.is_at_border = False
        """Whether the last block ends where another part begins."""
        self._path = path
        self._block_bytes = block_bytes
        self._damaged_bytes = damaged_bytes
        self._block = b""
        self._damage = ""
        self._is_bare_list = False

    def blocks(self, begin: int = 0, until: int | None = None) -> Iterator[list[Event]]:
        """Events in file order. Raises TracelensError where the file is no trace, or cut short.

        Those of a part begin and end where first, from these bytes of the unzipped text on, a
        border of two events seems to be. ``is_at_border`` tells when the end is reached, and that
        it is a border indeed; whoever goes on is given the events behind it too.
        """
        with open_unzipped(self._path) as file:
            head, buffer = self._read_head(file)
            if begin:
                buffer = self._skip(file, begin)
            at_end = False
            while True:
                chunk = self._read(file)
                buffer, is_final = buffer + chunk, not chunk
                if until is not None and self.bytes_read > until:
                    if not is_final and self.bytes_read - until < _PART_BORDER_BYTES:
                        continue
                    events, buffer = self._take_until(buffer, until)
                    until = None
                    if events:
                        self.events_read += len(events)
                        self.is_at_border = True
                        yield events
                        self.is_at_border = False
                if not is_final and len(buffer) < self._block_bytes:
                    continue
                events, buffer, at_end = self._take(buffer, is_final)
                self.events_read += len(events)
                yield events
                if at_end or is_final:
                    break
            if not at_end:
                raise self._cut()
            self._read_header(head, buffer + self._read_rest(file))

    def exact_block(self) -> list[Event]:
        """The last block again, its times as text; the following blocks have theirs so at once."""
        self.exact_times = True
        text, counted_before = self._as_text(self._block), Counter[str]()
        events = parse_list(text, None) or parse_list(text, counted_before)
        return events or parse_piecewise(text, counted_before)[0]

    def _read(self, file: io.BufferedReader) -> bytes:
        """The next block of bytes, as far as they can be had: damage is told if events miss."""
        parts, size = [], 0
        while size < self._block_bytes and not self._damage:
            try:
                part = file.read1(self._block_bytes - size)
            except (EOFError, zlib.error, OSError) as error:
                self._damage = f" ({error})"
                break
            if not part:
                break
            parts.append(part)
            size += len(part)
        self.bytes_read += size
        return b"".join(parts)

    def _read_rest(self, file: io.BufferedReader) -> bytes:
        parts = []
        while chunk := self._read(file):
            parts.append(chunk)
        return b"".join(parts)

    def _read_head(self, file: io.BufferedReader) -> tuple[bytes, bytes]:
        """What stands before the events, and what was read of them. A bare list has no header."""
        text = b""
        while True:
            chunk = self._read(file)
            text = (text + chunk).removeprefix(b"\xef\xbb\xbf")
            if bare_list := _BARE_LIST.match(text):
                self._is_bare_list = True
                return b"{", text[bare_list.end() :]
            if key := _EVENTS_KEY.search(text):
                return text[: key.start()], text[key.end() :]
            if not chunk or len(text) > _HEADER_LIMIT_BYTES:
                break
        if len(text) < _HEADER_LIMIT_BYTES and not is_json(text):
            raise self._cut()
        raise self.no_trace("has no list of traceEvents")

    def _skip(self, file: io.BufferedReader, begin: int) -> bytes:
        """What is read first of a part that begins there."""
        self.bytes_read = file.seek(begin)
        text = b""
        while len(text) < _PART_BORDER_BYTES and (chunk := self._read(file)):
            text += chunk
        border = _EVENT_BORDER.search(text, 0, _PART_BORDER_BYTES)
        if border is None:
            raise self.no_trace("holds no events that can be told apart")
        return text[border.end() :]

    def _take_until(self, buffer: bytes, until: int) -> tuple[list[Event], bytes]:
        """Events up to the border of two parts, if they are whole there, and what is left."""
        place = until - (self.bytes_read - len(buffer))
        if place < 0:
            return [], buffer
        border = _EVENT_BORDER.search(buffer, place, place + _PART_BORDER_BYTES)
        events = border and self._parse(buffer[: border.start() + 1], is_repaired=False)
        return (events, buffer[border.end() :]) if border and events else ([], buffer)

    def _take(self, buffer: bytes, is_final: bool) -> tuple[list[Event], bytes, bool]:
        """Events from the front of the buffer, the rest of it, and whether the list ended."""
        if not buffer or buffer.isspace():
            return [], b"", False
        for is_repaired in (False, True):
            found = (None if is_final else self._cut_at_border(buffer, is_repaired)) or (
                self._cut_at_end(buffer, is_repaired)
            )
            if found:
                return found
        if not is_final and len(buffer) < self._damaged_bytes:
            return [], buffer, False
        end = _last_end(buffer, self._is_bare_list) if is_final else None
        if is_final and end is None:
            return self._cut_at_border(buffer, True) or ([], b"", False)
        place = end if end is not None else next(_borders(buffer), None)
        if place is None:
            if len(buffer) > _LONGEST_EVENT_BYTES:
                raise self.no_trace("holds no events that can be told apart")
            return [], buffer, False
        # What cannot be parsed as a whole is parsed event by event.
        self._block = buffer[:place]
        events, is_last_readable = parse_piecewise(self._as_text(self._block), self.repairs)
        # An end behind half an event is one of a list within it: the file was cut there.
        return events, buffer[place + 1 :], end is not None and is_last_readable

    def _cut_at_border(
        self, buffer: bytes, is_repaired: bool
    ) -> tuple[list[Event], bytes, bool] | None:
        for place, _ in zip(_borders(buffer), range(_BORDER_TRIES), strict=False):
            events = self._parse(buffer[:place], is_repaired)
            if events is not None:
                return events, buffer[place + 1 :], False
        return None

    def _cut_at_end(
        self, buffer: bytes, is_repaired: bool
    ) -> tuple[list[Event], bytes, bool] | None:
        for end, _ in zip(_LIST_END.finditer(buffer), range(_END_TRIES), strict=False):
            events = self._parse(buffer[: end.end(1)], is_repaired)
            if events is not None:
                return events, buffer[end.end() :], True
        return None

    def _parse(self, text: bytes, is_repaired: bool = True) -> list[Event] | None:
        events = parse_list(self._as_text(text), self.repairs if is_repaired else None)
        if events is not None:
            self._block = text
        return events

    def _as_text(self, text: bytes) -> bytes:
        return _EXACT_TIME.sub(rb'\1"\2"', text) if self.exact_times else text

    def _read_header(self, head: bytes, tail: bytes) -> None:
        tail = tail.strip().removeprefix(b",")
        if self._is_bare_list:
            return
        if not tail.endswith(b"}"):
            raise self._cut(" and the header behind them is incomplete")
        before = head.rstrip().removesuffix(b",")
        comma = b"," if before.strip() != b"{" and tail.strip() != b"}" else b""
        header = parse_object(before + comma + tail, self.repairs)
        if header is None:
            self.repairs["headers that cannot be read"] += 1
        self.header = header or {}

    def no_trace(self, why: str) -> TracelensError:
        """The refusal of a file that is JSON, but no trace."""
        return TracelensError(
            f"{self._path} is JSON, but no torch.profiler trace: it {why}",
            hint="write one with prof.export_chrome_trace('trace.json')",
        )

    def _cut(self, why: str = "") -> TracelensError:
        return TracelensError(
            f"{self._path} was cut off while it was written or copied: it ends after "
            f"{self.events_read:,} whole events, {self.bytes_read:,} bytes into the trace"
            f"{why}{self._damage}",
            hint="copy it again, or record again and let export_chrome_trace finish",
        )


def _borders(text: bytes) -> Iterator[int]:
    """Places of commas that look like the border of two events, the last first."""
    opening = text.rfind(b"{")
    while opening > 0:
        before = text[max(0, opening - 64) : opening].rstrip()
        if before.endswith(b",") and before[:-1].rstrip().endswith(b"}"):
            yield text.rfind(b",", 0, opening)
        opening = text.rfind(b"{", 0, opening)


def _last_end(text: bytes, is_bare_list: bool) -> int | None:
    """Where the events end in a text that cannot be parsed, if they do: a header follows."""
    for end in list(_LIST_END.finditer(text))[-_END_TRIES:]:
        rest = text[end.end() :].strip()
        if (is_bare_list and not rest) or parse_object(b'{"":0' + rest, Counter()) is not None:
            return end.end(1)
    return None
