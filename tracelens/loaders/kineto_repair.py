"""Parse JSON as profilers really write it: Windows paths, bare NaN, raw control characters.

Nothing is repaired in text that parses; what is repaired is counted, by kind.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import orjson

_MAX_JOINED_PIECES = 8
_BORDER = re.compile(rb"\}\s*,\s*(?=\{)")
_TOKEN = re.compile(
    rb'"(?:[^"\\]|\\.)*"'
    rb"|(?P<bare>(?<![\w.])-?(?:NaN|nan|inf|Infinity|N/A)(?![\w.]))"
    rb"|(?P<comma>,(?=\s*[\]}]))",
    re.DOTALL,
)
_ESCAPE = re.compile(rb'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')
_CONTROL = re.compile(rb"[\x00-\x1f]")
# A quote with no bracket, colon or comma on either side stands inside a string.
_INNER_QUOTE = re.compile(rb'(?<=[^\s\[{,:\\])(\s*)"(?=\s*[^\s,:}\]])')


def parse_list(text: bytes, repairs: Counter[str] | None) -> list[dict[str, Any]] | None:
    """The events in a comma-separated text, repaired if a count is given; None if no JSON."""
    value = _parse(b"[" + text + b"]", repairs)
    if not isinstance(value, list):
        return None
    return value if set(map(type, value)) <= {dict} else [e for e in value if isinstance(e, dict)]


def parse_object(text: bytes, repairs: Counter[str]) -> dict[str, Any] | None:
    """A JSON object, repaired where it must be, or None."""
    value = _parse(text, None)
    if value is None:
        value = _parse(text, repairs)
    return value if isinstance(value, dict) else None


def is_json(text: bytes) -> bool:
    """Whether a text is a JSON object or list, repaired where it must be."""
    return isinstance(_parse(text, Counter()), dict | list)


def parse_piecewise(text: bytes, repairs: Counter[str]) -> tuple[list[dict[str, Any]], bool]:
    """Every event that can be read by itself, the others counted, and whether the last one can."""
    borders = [m.span() for m in _BORDER.finditer(text)] + [(len(text) - 1, len(text))]
    events: list[dict[str, Any]] = []
    start = piece = 0
    is_readable = False
    while piece < len(borders):
        for last in range(piece, min(piece + _MAX_JOINED_PIECES, len(borders))):
            found = _parse_event(text[start : borders[last][0] + 1], repairs)
            if is_readable := found is not None:
                events += found or []
                break
        else:
            last = piece
            repairs["events that cannot be read"] += 1
        start, piece = borders[last][1], last + 1
    return events, is_readable


def _parse_event(text: bytes, repairs: Counter[str]) -> list[dict[str, Any]] | None:
    found = parse_list(text, None)
    if found is None:
        found = parse_list(text, repairs)
    if found is None:
        unquoted, count = _INNER_QUOTE.subn(rb'\1\\"', text)
        found = parse_list(unquoted, repairs) if count else None
        if found is not None:
            repairs["unescaped quotes"] += count
    return found


def _parse(text: bytes, repairs: Counter[str] | None) -> Any:
    try:
        if repairs is None:
            return orjson.loads(text)
        repaired, counts = _repaired(text)
        value = orjson.loads(repaired)
    except orjson.JSONDecodeError:
        return None
    repairs.update(counts)
    return value


def _repaired(text: bytes) -> tuple[bytes, Counter[str]]:
    counts: Counter[str] = Counter()

    def escape(match: re.Match[bytes]) -> bytes:
        if match[1]:
            return match[0]
        counts["invalid escapes"] += 1
        return b"\\\\"

    def control(match: re.Match[bytes]) -> bytes:
        counts["raw control characters"] += 1
        return b"\\u%04x" % match[0][0]

    def token(match: re.Match[bytes]) -> bytes:
        if match["bare"]:
            counts["bare NaN, inf or N/A"] += 1
            return b"null"
        if match["comma"]:
            counts["stray commas"] += 1
            return b""
        string = match[0]
        return _CONTROL.sub(control, _ESCAPE.sub(escape, string) if b"\\" in string else string)

    text = text if _is_utf8(text) else _as_utf8(text, counts)
    return _TOKEN.sub(token, text), counts


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _as_utf8(text: bytes, counts: Counter[str]) -> bytes:
    counts["characters that are not UTF-8"] += 1
    return text.decode("utf-8", "replace").encode()
