"""filter: keeps what is truthy, and the type of the stream."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import FilterFunction

from compat_tests.running import collect, collect_sorted


class Longer(FilterFunction):
    def open(self, runtime_context):
        self.minimum = 2

    def filter(self, value):
        return len(value) >= self.minimum


def test_filter_functions_and_callables(env):
    stream = env.from_collection(["a", "bb", "ccc", "  "]).filter(Longer()).filter(str.strip)
    assert collect(stream.filter(lambda s: s != "bb")) == ["ccc"]


def test_truthiness(env):
    values = [0, 1, "", "x", [], [0], None, 0.0, "False"]
    assert collect(env.from_collection(values).filter(lambda v: v)) == [1, "x", [0], "False"]


def test_keeps_the_type(env):
    ints = env.from_collection([1, 2], Types.INT())
    assert ints.filter(lambda x: x > 1).get_type() == Types.INT()


@pytest.mark.parametrize("parallelism", [1, 2])
def test_every_element_is_asked_once(env):
    stream = env.from_collection(list(range(20)), Types.INT()).filter(lambda x: x % 3 == 0)
    assert collect_sorted(stream) == [0, 3, 6, 9, 12, 15, 18]
