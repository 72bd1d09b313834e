"""map: one result per element, from any kind of callable."""

from __future__ import annotations

import functools
from operator import itemgetter

import pytest
from pyflink.common import Types
from pyflink.datastream import MapFunction

from compat_tests.running import Journal, collect, collect_sorted


class Times(MapFunction):
    def __init__(self, factor):
        self.factor = factor

    def map(self, value):
        return value * self.factor


class OpenedTimes(MapFunction):
    def open(self, runtime_context):
        self.factor = 10

    def map(self, value):
        return value * self.factor


class Adder:
    def __init__(self, amount):
        self.amount = amount

    def __call__(self, value):
        return value + self.amount

    def add(self, value):
        return value + self.amount


def test_lambda(env):
    assert collect(env.from_collection([1, 2, 3]).map(lambda x: x + 1)) == [2, 3, 4]


def test_map_functions(env):
    stream = env.from_collection([1, 2]).map(Times(3)).map(OpenedTimes())
    assert collect(stream) == [30, 60]


def test_callables_of_all_kinds(env):
    adder = Adder(5)
    stream = (
        env.from_collection(["1", "2"])
        .map(int)
        .map(adder)
        .map(adder.add)
        .map(functools.partial(pow, 2))
        .map(str)
    )
    assert collect(stream) == ["2048", "4096"]


def test_methods_of_builtin_types(env):
    assert collect(env.from_collection(["a", "b"]).map(str.upper)) == ["A", "B"]


def test_itemgetter(env):
    assert collect(env.from_collection([("a", 1), ("b", 2)]).map(itemgetter(1))) == [1, 2]


def test_none_is_an_element(env):
    stream = env.from_collection([1, 2, 3]).map(lambda x: None if x == 2 else x)
    assert collect(stream.map(lambda x: (x,))) == [(1,), (None,), (3,)]


@pytest.mark.one_attempt("a restart forgets the counts in attributes")
def test_one_function_added_twice_is_two_copies(env):
    class Counting(MapFunction):
        def __init__(self):
            self.seen = 0

        def map(self, value):
            self.seen += 1
            return (value, self.seen)

    function = Counting()
    stream = env.from_collection(["a", "b"]).map(function).map(function)
    assert collect(stream) == [(("a", 1), 1), (("b", 2), 2)]
    assert function.seen == 0


@pytest.mark.parametrize("parallelism", [1, 2])
def test_every_element_once(env):
    stream = env.from_collection(list(range(20))).map(lambda x: x * x, Types.LONG())
    assert collect_sorted(stream) == [x * x for x in range(20)]


def test_elements_go_through_a_chain_one_by_one(env, tmp_path):
    journal = Journal(tmp_path / "calls")

    def log(name):
        def call(value):
            journal.write(f"{name}{value}")
            return value

        return call

    collect(env.from_collection([1, 2]).map(log("a")).map(log("b")))
    assert journal.lines() == ["a1", "b1", "a2", "b2"]


@pytest.mark.parametrize("not_a_function", [None, 1, "f"])
def test_not_a_function(env, not_a_function):
    with pytest.raises(TypeError):
        env.from_collection([1]).map(not_a_function)
