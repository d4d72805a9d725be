"""Turn JSON values into typed columns: exact nanoseconds, integers, dense ids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_MAX_EXACT_US = 2.0**43
"""Below this, a double of microseconds tells every nanosecond from the next."""
_MAX_US = 9.2e15
_TID_BITS = 24
_WHOLE = {int, bool}


class InexactTimesError(Exception):
    """Times that a double cannot hold: parse them as text."""


class Ids(dict[Any, int]):
    """Dense numbers for values, in the order in which they are met."""

    def __missing__(self, value: Any) -> int:
        self[value] = number = len(self)
        return number


class ThreadIds(dict[Any, int]):
    """Keys ``pid24 << 24 | tid24`` for (pid, tid) pairs: numbers of any size and sign, or texts."""

    def __init__(self) -> None:
        super().__init__()
        self.processes = Ids()
        self.threads = Ids()

    def __missing__(self, pair: tuple[Any, Any]) -> int:
        process, thread = as_number(pair[0]), as_number(pair[1])
        number = self.threads[process, thread]
        self[pair] = key = self.processes[process] << _TID_BITS | number
        return key


def as_number(value: Any) -> Any:
    """An id that is written as a text, as the number that it is elsewhere; other texts stay."""
    if isinstance(value, str) and value.removeprefix("-").isdecimal():
        return int(value)
    return value if isinstance(value, int | str) else str(value)


def nanoseconds(values: Sequence[Any]) -> npt.NDArray[np.int64] | None:
    """Microseconds, with up to three decimals, as exact integers; None if some value is no number.

    Raises InexactTimesError for doubles too large to tell nanoseconds apart.
    """
    try:
        numbers = np.array(values)
    except ValueError:
        return None
    if numbers.ndim != 1:
        return None
    if numbers.dtype.kind == "i" and np.abs(numbers).max(initial=0) < _MAX_US:
        return numbers.astype(np.int64) * 1000
    if numbers.dtype.kind == "f":
        if np.abs(numbers).max(initial=0) < _MAX_EXACT_US:
            whole_ns: npt.NDArray[np.int64] = np.rint(numbers * 1000).astype(np.int64)
            return whole_ns
        if any(isinstance(v, float) and not -_MAX_EXACT_US < v < _MAX_EXACT_US for v in values):
            raise InexactTimesError
    exact = [exact_nanoseconds(v) for v in values]
    return None if None in exact else np.array(exact, np.int64)


def exact_nanoseconds(value: Any) -> int | None:
    """A time in microseconds (a number, or its text) as integer nanoseconds; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    whole, _, decimals = str(value).partition(".")
    if (
        whole.isdecimal()
        and len(whole) < 16
        and len(decimals) <= 3
        and (decimals or "0").isdecimal()
    ):
        return int(whole) * 1000 + int(decimals.ljust(3, "0"))
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    return round(number * 1000) if number.is_finite() and abs(number) < Decimal(_MAX_US) else None


def integers(values: list[Any]) -> pa.Array:
    """A BIGINT column; texts of numbers are read as such, anything else is NULL."""
    try:
        return pa.array(values, pa.int64())
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([as_integer(v) for v in values], pa.int64())


def as_integer(value: Any) -> int | None:
    """A value as a 64-bit integer, or None."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if number >= 1 << 63:
        number -= 1 << 64  # unsigned ids and addresses keep their bits
    return number if -(1 << 63) <= number < 1 << 63 else None


def volume(value: Any) -> int | None:
    """Blocks of a grid or threads of a block, from its three sides."""
    if value.__class__ is not list or not {*map(type, value)} <= _WHOLE:
        return None
    product = math.prod(value)
    return product if value and product < 1 << 63 else None
