"""Tables on the terminal."""

from __future__ import annotations

from tracelens.cli._tables import table


def test_numbers_to_the_right_and_names_to_the_left() -> None:
    rows = [("gemm", 2, 0.123456789), ("a longer name", None, 63_676_199.4)]
    assert table(["name", "n", "ns"], rows) == [
        "name           n        ns",
        "gemm           2  0.123457",
        "a longer name     63676199",
    ]


def test_long_names_are_cut_and_none_steers_the_terminal() -> None:
    (_, line) = table(["name"], [("\x1b[31m" + "x" * 100,)])
    assert len(line) == 80
    assert line.endswith("…")
    assert "\x1b" not in line


def test_numbers_that_are_text_already() -> None:
    lines = table(("ms", "name"), [("1.5", "a"), ("-", "b")], right=("ms",))
    assert lines == [" ms  name", "1.5  a", "  -  b"]


def test_no_rows() -> None:
    assert table(["a", "b"], []) == ["a  b"]
