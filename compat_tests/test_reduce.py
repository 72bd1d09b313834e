"""reduce: rolling, one result per element; the first element of a key as it is."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import ReduceFunction

from compat_tests.running import collect, collect_sorted

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Add(ReduceFunction):
    def open(self, runtime_context):
        self.extra = 100

    def reduce(self, value1, value2):
        return value1[0], value1[1] + value2[1] + self.extra


def test_lambda_is_rolling(env):
    stream = env.from_collection([("a", 1), ("b", 5), ("a", 2), ("a", 3)]).key_by(lambda v: v[0])
    assert collect(stream.reduce(lambda a, b: (a[0], a[1] + b[1]))) == [
        ("a", 1), ("b", 5), ("a", 3), ("a", 6),
    ]  # fmt: skip


def test_reduce_function(env):
    stream = env.from_collection([("a", 1), ("a", 2)], PAIR).key_by(lambda v: v[0], Types.STRING())
    reduced = stream.reduce(Add())
    assert reduced.get_type() == PAIR
    assert collect(reduced) == [("a", 1), ("a", 103)]


def test_first_element_does_not_see_the_function(env):
    stream = env.from_collection(["x", "y"]).key_by(lambda v: v)
    assert collect(stream.reduce(lambda a, b: 1 / 0)) == ["x", "y"]


def test_first_argument_is_the_result_so_far(env):
    stream = env.from_collection(["a", "b", "c"]).key_by(lambda v: 0)
    assert collect(stream.reduce(lambda a, b: f"({a}{b})")) == ["a", "(ab)", "((ab)c)"]


def test_a_result_with_another_key_stays_with_its_key(env):
    stream = env.from_collection([("a", 1), ("a", 2), ("b", 4), ("a", 8)]).key_by(lambda v: v[0])
    assert collect(stream.reduce(lambda a, b: ("b", a[1] + b[1]))) == [
        ("a", 1), ("b", 3), ("b", 4), ("b", 11),
    ]  # fmt: skip


@pytest.mark.parametrize("parallelism", [1, 2])
def test_several_reduces_in_a_row(env):
    totals = (
        env.from_collection([("a", 1), ("b", 1), ("a", 1), ("c", 1)], PAIR)
        .key_by(lambda v: v[0], Types.STRING())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .key_by(lambda v: v[1], Types.INT())
        .reduce(lambda a, b: ("".join(sorted(a[0] + b[0])), a[1]))
        .filter(lambda v: len(v[0]) == 3 or v[1] == 2)
    )
    assert collect_sorted(totals) == [("a", 2), ("abc", 1)]


def test_failure_in_the_function(env):
    stream = env.from_collection([1, 0]).key_by(lambda v: "k")
    with pytest.raises(Exception, match="ZeroDivisionError"):
        collect(stream.reduce(lambda a, b: a / b))
