"""NumberSequenceSource."""

from __future__ import annotations

import pytest
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

from compat_tests.running import collect, collect_sorted


def numbers(env, start, end):
    source = NumberSequenceSource(start, end)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())


def test_both_ends_belong_to_it(env):
    assert collect(numbers(env, -2, 2)) == [-2, -1, 0, 1, 2]


@pytest.mark.parametrize("parallelism", [2])
def test_in_parallel(env):
    assert collect_sorted(numbers(env, 1, 101).map(lambda v: v)) == list(range(1, 102))


def test_one_number(env):
    assert collect(numbers(env, 7, 7).map(lambda v: v + 1)) == [8]


def test_wrong_order(env):
    with pytest.raises(Exception, match=r"(?i)'?from'? must be"):
        numbers(env, 2, 1)


def test_keyed(env):
    sums = numbers(env, 1, 6).key_by(lambda v: v % 2, Types.LONG()).reduce(lambda a, b: a + b)
    assert collect_sorted(sums) == [1, 2, 4, 6, 9, 12]
