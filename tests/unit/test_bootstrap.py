"""The interval of a difference holds what it should, and says nothing where nothing can be said."""

from __future__ import annotations

import random

import pytest

from tracelens.bootstrap import difference


def test_value_is_new_less_base() -> None:
    found = difference([10, 11, 12], [20, 21, 25], "median")
    assert (found.base, found.new, found.value) == (11, 21, 10)


def test_samples_that_lie_apart_differ() -> None:
    found = difference([10.0, 10.1, 10.2, 10.3], [8.0, 8.1, 8.2, 8.3], "median")
    assert found.low < found.value < found.high < 0


def test_a_sample_against_itself_does_not() -> None:
    values = [10.0, 10.4, 9.7, 10.1, 9.9]
    found = difference(values, values, "mean")
    assert found.low < 0 < found.high


def test_one_value_in_four_shows_nothing() -> None:
    assert difference([1, 1, 1, 1], [1, 1, 1, 9], "mean").low <= 0


def test_same_seed_same_interval() -> None:
    one, two = [1.0, 2.0, 4.0, 8.0], [3.0, 1.0, 7.0, 2.0]
    assert difference(one, two, "mean", seed=1) == difference(one, two, "mean", seed=1)
    assert difference(one, two, "mean", seed=1) != difference(one, two, "mean", seed=2)


@pytest.mark.parametrize("size", [4, 8, 20])
def test_samples_of_one_source_seem_to_differ_no_more_often_than_they_may(size: int) -> None:
    """At 95 % one in twenty; plain percentiles of four values would claim one in six."""
    source = random.Random(size)
    wrong = 0
    for seed in range(300):
        one, two = ([source.gauss(100, 5) for _ in range(size)] for _ in range(2))
        found = difference(one, two, "mean", seed=seed, resamples=800)
        wrong += not found.low <= 0 <= found.high
    assert wrong <= 24  # 15 expected, and three standard deviations more are 26
