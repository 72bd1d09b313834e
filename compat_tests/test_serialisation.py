"""Functions and data are taken as they are when they are added; elements are never shared."""

from __future__ import annotations

import threading

import pytest
from pyflink.common import Types
from pyflink.datastream import MapFunction

from compat_tests.running import collect


class Scale(MapFunction):
    def __init__(self):
        self.factor = 1

    def map(self, value):
        return value * self.factor


def test_function_is_copied_when_added(env):
    function = Scale()
    stream = env.from_collection([1, 2]).map(function)
    function.factor = 100
    assert collect(stream) == [1, 2]


def test_closure_is_copied_when_added(env):
    offset = 10

    def add(value):
        return value + offset

    stream = env.from_collection([1]).map(add)
    offset = 20
    assert collect(stream) == [11]


@pytest.mark.one_attempt("what a function closes over is no state")
def test_closure_over_a_list_is_a_copy(env):
    seen = []

    def remember(value):
        seen.append(value)
        return len(seen)

    assert collect(env.from_collection(["a", "b"]).map(remember)) == [1, 2]
    assert seen == []


def test_collection_is_copied(env):
    data = [[1], [2]]
    stream = env.from_collection(data)
    data[0].append(9)
    data.append([3])
    assert collect(stream.map(lambda v: v)) == [[1], [2]]


@pytest.mark.parametrize("add", [
    lambda stream, f: stream.map(f),
    lambda stream, f: stream.flat_map(f),
    lambda stream, f: stream.filter(f),
    lambda stream, f: stream.key_by(f).map(lambda v: v),
    lambda stream, f: stream.key_by(lambda v: v).reduce(lambda a, b: f(a)),
])  # fmt: skip
def test_what_cannot_be_pickled_raises_at_once(env, add):
    lock = threading.Lock()
    stream = env.from_collection([1])

    def locked(value):
        with lock:
            return value

    with pytest.raises(TypeError, match="pickle"):
        add(stream, locked)


def test_mutation_after_emission_changes_nothing_emitted(env):
    def reuse(value):
        element = []
        for i in range(value):
            element.append(i)
            yield element

    for boundary in (lambda s: s, lambda s: s.rebalance()):
        stream = boundary(env.from_collection([3]).flat_map(reuse)).map(lambda v: v)
        assert collect(stream) == [[0], [0, 1], [0, 1, 2]]


def test_siblings_do_not_see_each_other_s_changes(env, run_printed):
    def spoil(value):
        value.append("spoilt")
        return value

    source = env.from_collection([["a"], ["b"]]).map(lambda v: v)
    source.map(spoil).map(str, Types.STRING()).print("x")
    source.map(lambda v: v).map(str, Types.STRING()).print("y")
    assert sorted(run_printed(env)) == [
        "x> ['a', 'spoilt']", "x> ['b', 'spoilt']", "y> ['a']", "y> ['b']",
    ]  # fmt: skip


def test_own_classes_keep_their_identity(env):
    stream = env.from_collection([Point(1, 2)]).map(lambda p: Point(p.y, p.x)).rebalance()
    (point,) = collect(stream.map(lambda p: p))
    assert type(point) is Point
    assert (point.x, point.y) == (2, 1)


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


@pytest.mark.parametrize(
    "value",
    [(1, "a"), {"k": [1, 2]}, {1, 2}, b"raw", 2**100, 1.5, True, frozenset("a"), [(1,), [2]]],
    ids=repr,
)
def test_untyped_values_come_out_as_they_are(env, value):
    (result,) = collect(env.from_collection([value]).map(lambda v: v).rebalance().map(lambda v: v))
    assert result == value
    assert type(result) is type(value)
