"""One colour for each thing in all pictures: seen on white and on black, and apart when printed."""

from __future__ import annotations

from collections.abc import Iterable

_FIXED = {
    "forward": "#4178be",
    "backward": "#d9712b",
    "optimizer": "#2f9e62",
    "data": "#8a7a2e",
    "evaluation": "#7d6bc4",
    "communication": "#b5479b",
    "copy": "#2b93a3",
    "no phase": "#8b8f98",
    "other compute": "#8b8f98",
    "range": "#8b8f98",
    "call": "#8b8f98",
    "dependency": "#a9adb5",
    "sync": "#d64550",
    "alloc": "#8e5bd0",
    "free": "#8e5bd0",
    "allocator": "#8e5bd0",
    "launch": "#c98a00",
    "input": "#c2185b",
    "host": "#9c5a3c",
    "profiler": "#6f7680",
    "unknown": "#8b8f98",
}
_OTHERS = ("#5a8f29", "#3f8fd2", "#b0603a", "#6a7fdb", "#a3568a", "#32907e", "#97824a", "#7a6aa8")


def color(name: str) -> str:
    """The colour of a phase, a part or a cause; the same name has the same one everywhere."""
    return _FIXED.get(name) or _OTHERS[sum(name.encode()) % len(_OTHERS)]


def colors(names: Iterable[str]) -> dict[str, str]:
    """Names in order, each once, with their colours."""
    return {name: color(name) for name in dict.fromkeys(names)}
