"""union: all elements of streams of one type."""

from __future__ import annotations

import pytest
from pyflink.common import Types

from compat_tests.running import collect_sorted


def test_union_of_several(env):
    one, two, three = (env.from_collection([i], Types.INT()) for i in (1, 2, 3))
    assert collect_sorted(one.union(two, three).map(lambda x: x * 10)) == [10, 20, 30]


def test_union_with_itself_gives_every_element_twice(env):
    stream = env.from_collection([1, 2], Types.INT())
    assert collect_sorted(stream.union(stream).map(lambda x: x)) == [1, 1, 2, 2]


def test_types_must_agree(env):
    ints = env.from_collection([1], Types.INT())
    with pytest.raises(Exception, match="Cannot union streams of different types"):
        ints.union(env.from_collection(["a"], Types.STRING()))
    with pytest.raises(Exception, match="Cannot union streams of different types"):
        ints.union(ints.map(lambda x: x))


def test_keeps_the_type(env):
    ints = env.from_collection([1], Types.INT())
    assert ints.union(env.from_collection([2], Types.INT())).get_type() == Types.INT()


def test_a_keyed_stream_gives_its_elements(env):
    stream = env.from_collection([1, 2], Types.INT())
    keyed = env.from_collection([3], Types.INT()).key_by(lambda x: x % 2)
    assert collect_sorted(stream.union(keyed)) == [1, 2, 3]


def test_a_branch_that_splits_and_comes_together(env):
    numbers = env.from_collection([1, 2, 3, 4]).map(lambda x: x, Types.INT())
    evens = numbers.filter(lambda x: x % 2 == 0).map(lambda x: x * 10, Types.INT())
    odds = numbers.filter(lambda x: x % 2 == 1)
    assert collect_sorted(evens.union(odds).map(lambda x: x)) == [1, 3, 20, 40]
