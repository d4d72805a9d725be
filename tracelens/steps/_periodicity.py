"""Find the period of a sequence of kernels, and where each period begins."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tracelens.settings import Settings

_RARE_WORDS = 64
_GAP_SHARE = 0.05


@dataclass(frozen=True)
class Period:
    """A period: its length in kernels, the share of kernels that recur after it, and the places of
    its beginnings."""

    length: int
    match: float
    starts: list[int]


def find(sequence: pl.DataFrame, settings: Settings) -> Period | None:
    """The shortest period of the whole sequence, or None where there is none.

    ``sequence`` has one row a kernel in order of launch: ``word`` (equal for equal kernels),
    ``start_ns``, ``end_ns``. A layer repeats within an iteration, and the sequence of layers
    breaks at its ends: a shorter period that misses those is no period of the whole.
    """
    words = sequence["word"]
    places = _places(words, settings.min_iterations)
    lags = {lag for spots in places.values() if (lag := _usual_step(spots)) <= len(words) // 2}
    matches = {lag: _match(words, lag) for lag in lags}
    best = max(matches.values(), default=0.0)
    if best < settings.min_match:
        return None
    length = min(lag for lag, match in matches.items() if match >= best - settings.match_slack)
    anchors = [
        s for s in places.values() if _usual_step(s) == length and len(s) >= settings.min_iterations
    ]
    once = [s for s in anchors if abs(len(s) - len(words) / length) <= 1]
    if not once:
        return None
    return Period(length, matches[length], _beginning(once, sequence).to_list())


def _places(words: pl.Series, at_least: int) -> dict[int, pl.Series]:
    """Where each of the rarest words stands, for words that recur."""
    frame = pl.DataFrame({"word": words, "place": pl.int_range(len(words), eager=True)})
    rare = (
        frame.group_by("word")
        .agg(pl.col("place"), pl.len().alias("count"), pl.col("place").min().alias("first"))
        .filter(pl.col("count") >= at_least)
        .sort("count", "first")
        .head(_RARE_WORDS)
    )
    return dict(zip(rare["word"].to_list(), rare["place"], strict=True))


def _usual_step(places: pl.Series) -> int:
    return int(places.diff().drop_nulls().mode().min())  # type: ignore[arg-type]


def _match(words: pl.Series, lag: int) -> float:
    """The share of kernels that stand again one lag later."""
    same = words.head(len(words) - lag) == words.tail(len(words) - lag)
    return float(same.mean() or 0.0)  # type: ignore[arg-type]


def _beginning(candidates: list[pl.Series], sequence: pl.DataFrame) -> pl.Series:
    """The kernel to begin with: the one behind the longest pause where that stands out, else the
    first there is."""
    idle = (sequence["start_ns"] - sequence["end_ns"].cum_max().shift(1)).fill_null(0)
    period_ns = sequence["start_ns"].gather(candidates[0]).diff().median() or 1
    pauses = [float(idle.gather(s).median() or 0) for s in candidates]  # type: ignore[arg-type]
    longest = max(range(len(candidates)), key=pauses.__getitem__)
    if pauses[longest] >= _GAP_SHARE * float(period_ns):  # type: ignore[arg-type]
        return candidates[longest]
    return min(candidates, key=lambda s: s[0])
