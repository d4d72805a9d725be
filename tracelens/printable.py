"""Text from recordings, made safe to show: what a file says must not move the cursor."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control and format characters (escapes, direction overrides), lone surrogates, line ends."""


def printable(text: str) -> str:
    """The text on one line, each character that is not seen but does something shown as an escape.

    Ordinary text, emoji included, comes back as it is.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(c) if unicodedata.category(c) in _HIDDEN else c for c in text)


def _shown(character: str) -> str:
    if character in "\u200d\ufe0f":  # joins emoji, and does nothing else
        return character
    return character.encode("unicode_escape").decode("ascii")
