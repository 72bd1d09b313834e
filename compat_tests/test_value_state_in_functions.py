"""Keyed ValueState in map, flat_map and filter of a keyed stream."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import FilterFunction, FlatMapFunction, MapFunction
from pyflink.datastream.state import ValueStateDescriptor

from compat_tests.running import collect, collect_sorted


def count_state(context):
    return context.get_state(ValueStateDescriptor("count", Types.LONG()))


class CountMap(MapFunction):
    def open(self, runtime_context):
        self.count = count_state(runtime_context)

    def map(self, value):
        self.count.update((self.count.value() or 0) + 1)
        return value, self.count.value()


class EverySecond(FlatMapFunction):
    def open(self, runtime_context):
        self.count = count_state(runtime_context)

    def flat_map(self, value):
        if self.count.value() is None:
            self.count.update(1)
        else:
            self.count.clear()
            yield value


class Distinct(FilterFunction):
    def open(self, runtime_context):
        self.count = count_state(runtime_context)

    def filter(self, value):
        if self.count.value() is not None:
            return False
        self.count.update(1)
        return True


def keyed(env):
    return env.from_collection(list("abacaba")).key_by(lambda v: v, Types.STRING())


@pytest.mark.parametrize("parallelism", [1, 2])
def test_map(env):
    assert collect_sorted(keyed(env).map(CountMap())) == [
        ("a", 1), ("a", 2), ("a", 3), ("a", 4), ("b", 1), ("b", 2), ("c", 1),
    ]  # fmt: skip


def test_flat_map(env):
    assert collect(keyed(env).flat_map(EverySecond())) == ["a", "b", "a"]


def test_filter(env):
    assert collect(keyed(env).filter(Distinct())) == ["a", "b", "c"]


def test_one_name_in_two_operators_is_two_states(env):
    stream = keyed(env).map(CountMap()).key_by(lambda v: v[0]).map(CountMap())
    assert collect(stream.filter(lambda v: v[0][0] == "b")) == [(("b", 1), 1), (("b", 2), 2)]


def test_two_descriptors_of_one_name_are_one_state(env):
    class Twice(MapFunction):
        def open(self, runtime_context):
            self.first = count_state(runtime_context)
            self.second = count_state(runtime_context)

        def map(self, value):
            self.first.update(7)
            return self.second.value()

    assert collect(env.from_collection([1]).key_by(lambda v: v).map(Twice())) == [7]


def test_no_state_without_a_key(env):
    with pytest.raises(Exception, match=r"(?i)state"):
        collect(env.from_collection([1]).map(CountMap()))


def test_state_holds_any_python_value_when_pickled(env):
    class Collects(MapFunction):
        def open(self, runtime_context):
            descriptor = ValueStateDescriptor("seen", Types.PICKLED_BYTE_ARRAY())
            self.seen = runtime_context.get_state(descriptor)

        def map(self, value):
            seen = self.seen.value() or {}
            self.seen.update({**seen, value: len(seen)})
            return self.seen.value()

    results = collect(env.from_collection(["x", "y"]).key_by(lambda v: 0).map(Collects()))
    assert results == [{"x": 0}, {"x": 0, "y": 1}]
