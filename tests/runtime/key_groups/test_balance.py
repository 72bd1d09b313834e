"""How evenly similar keys are spread."""

from __future__ import annotations

from uuid import UUID

import pytest

from pyflink_on_spark._runtime.elements.immutability import wrap_key
from pyflink_on_spark._runtime.key_groups import KeyGroups, key_groups_of

FAMILIES, SIZE, MAXIMUM = 1000, 200, 128
WORDS = ["user", "sensor", "device", "order", "host", "id", "k", "shop", "item", "Müller", "客"]
SIGNS = ["-", "_", "", "/", ":", "."]


def families():
    """Yield families of similar keys."""
    for family in range(FAMILIES):
        word, sign = WORDS[family % len(WORDS)], SIGNS[family // len(WORDS) % len(SIGNS)]
        start = family * 37 % 1000
        numbers = range(start, start + SIZE)
        yield _KINDS[family % len(_KINDS)](family, word, sign, numbers)


_KINDS = [
    lambda family, word, sign, numbers: [f"{word}{sign}{n}" for n in numbers],
    lambda family, word, sign, numbers: [f"{word}{sign}{n:05d}" for n in numbers],
    lambda family, word, sign, numbers: [f"{n}{sign}{word}{family}" for n in numbers],
    lambda family, word, sign, numbers: [f"{word}{chr(97 + n % 26)}{n // 26}" for n in numbers],
    lambda family, word, sign, numbers: [str(UUID(int=(family << 100) + n)) for n in numbers],
    lambda family, word, sign, numbers: [n * (1 + family % 97) for n in numbers],
    lambda family, word, sign, numbers: [
        (28_000_000 + 1440 * family + n) * 60_000 for n in numbers
    ],
    lambda family, word, sign, numbers: [(family << 20) + (n << family % 12) for n in numbers],
    lambda family, word, sign, numbers: [wrap_key((word, n)) for n in numbers],
    lambda family, word, sign, numbers: [wrap_key(family + n / 2) for n in numbers],
]


@pytest.mark.parametrize("parallelism", [2, 3, 7])
def test_similar_keys_are_spread_as_by_a_uniform_hash(parallelism):
    groups = KeyGroups(MAXIMUM)
    first = set(key_groups_of(0, parallelism, MAXIMUM))
    share = len(first) / MAXIMUM
    sigma = (SIZE * share * (1 - share)) ** 0.5
    deviations = [
        (sum(group in first for group in groups.of_all(keys)) - SIZE * share) / sigma
        for keys in families()
    ]
    assert len(deviations) == FAMILIES
    assert sum(z * z for z in deviations) / FAMILIES == pytest.approx(
        1, abs=3 * (2 / FAMILIES) ** 0.5
    )
    # Of 1,000 draws 2.7 lie beyond 3 sigma; the number of those has a sigma of its own, 1.6.
    assert sum(abs(z) > 3 for z in deviations) <= 7
    assert max(map(abs, deviations)) < 4


@pytest.mark.parametrize(
    ("keys", "least"),
    [([f"user-{n}" for n in range(10)], 3), ([f"sensor_{n}" for n in range(1, 21)], 6)],
)
def test_a_few_similar_keys_reach_both_subtasks(keys, least):
    first = sum(group < 64 for group in KeyGroups(128).of_all(keys))
    assert least <= first <= len(keys) - least
