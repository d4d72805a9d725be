"""What recordings say is shown without moving the cursor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelens.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("gemm<float, 128>", "gemm<float, 128>"),
        ("café 日本 🚀", "café 日本 🚀"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_shown(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_one_line_without_control_characters(text: str) -> None:
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    assert all(ord(c) >= 32 and not 127 <= ord(c) < 160 for c in shown)
    shown.encode("utf-8")
