"""A slow function holds up only the operators that follow it."""

from __future__ import annotations

import sqlite3
import time

import pytest
from pyflink.common import Types
from pyflink.datastream import (
    BroadcastProcessFunction,
    CoMapFunction,
    KeyedCoProcessFunction,
    MapFunction,
)
from pyflink.datastream.state import MapStateDescriptor

from compat_tests.conftest import QUERIES
from compat_tests.running import collect

pytestmark = pytest.mark.timed

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


in_one_piece = pytest.mark.whole("a barrier may come before what a slow function holds up")


@pytest.fixture
def no_micro_batches(request):
    if request.config.getoption("--engine") in QUERIES:
        pytest.skip("a micro-batch ends, with a barrier, while a slow function works")


def slow(value):
    time.sleep(0.7)
    return value


def later(env):
    return env.from_collection([1, 2], type_info=Types.INT()).map(slow, output_type=Types.INT())


def at_once(env):
    return env.from_collection([10, 20, 30, 40, 50], type_info=Types.INT())


class Known(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        names = sorted(name for name, _ in ctx.get_broadcast_state(RULES).items())
        yield f"{value} {''.join(names)}"

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)


@in_one_piece
@pytest.mark.usefixtures("no_micro_batches")
@pytest.mark.parametrize("parallelism", [1, 2])
def test_rules_that_are_there_come_before_data_of_a_slow_function(env, parallelism):
    env.set_parallelism(parallelism)
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    rules = env.from_collection([("a", 1), ("b", 2), ("c", 3)], type_info=pair).broadcast(RULES)
    stream = later(env).connect(rules).process(Known(), output_type=Types.STRING())
    assert sorted(collect(stream)) == ["1 abc", "2 abc"]


class Both(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return value


@in_one_piece
@pytest.mark.usefixtures("no_micro_batches")
def test_the_fast_one_of_two_connected_streams_comes_first(env):
    env.set_parallelism(1)
    found = collect(later(env).connect(at_once(env)).map(Both(), output_type=Types.INT()))
    assert found == [10, 20, 30, 40, 50, 1, 2]


@in_one_piece
@pytest.mark.usefixtures("no_micro_batches")
def test_the_fast_one_of_two_united_streams_comes_first(env):
    env.set_parallelism(1)
    found = collect(later(env).union(at_once(env)).map(lambda v: v, output_type=Types.INT()))
    assert found == [10, 20, 30, 40, 50, 1, 2]


class BothOfKey(KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        yield value

    def process_element2(self, value, ctx):
        yield value


@in_one_piece
@pytest.mark.usefixtures("no_micro_batches")
def test_the_fast_one_of_two_keyed_streams_comes_first(env):
    env.set_parallelism(1)
    first = later(env).key_by(lambda v: 0, Types.INT())
    second = at_once(env).key_by(lambda v: 0, Types.INT())
    found = collect(first.connect(second).process(BothOfKey(), output_type=Types.INT()))
    assert (found[:5], sorted(found[5:])) == ([10, 20, 30, 40, 50], [1, 2])


def wait_a_little(value):
    time.sleep(0.01)
    return value


@pytest.mark.parametrize("parallelism", [1, 2])
def test_each_of_three_functions_that_wait_gets_all_elements_in_their_order(env, parallelism):
    env.set_parallelism(parallelism)
    stream = env.from_collection(list(range(120)), type_info=Types.LONG()).key_by(lambda v: v % 3)
    for _ in range(3):
        stream = stream.map(wait_a_little, output_type=Types.LONG()).key_by(lambda v: v % 3)
    found = collect(stream.map(lambda v: v, output_type=Types.LONG()))
    assert sorted(found) == list(range(120))
    for key in range(3):
        assert [v for v in found if v % 3 == key] == list(range(key, 120, 3))


class Connection(MapFunction):
    """Has what only the thread that opened it can use."""

    def open(self, runtime_context):
        self.connection = sqlite3.connect(":memory:")

    def map(self, value):
        time.sleep(0.01)
        return self.connection.execute("SELECT ? + 1", (value,)).fetchone()[0]

    def close(self):
        self.connection.close()


def test_a_function_that_waits_may_use_what_belongs_to_a_thread(env):
    env.set_parallelism(1)
    numbers = env.from_collection(list(range(60)), type_info=Types.LONG()).rebalance()
    first = numbers.map(wait_a_little, output_type=Types.LONG()).rebalance()
    found = collect(first.map(Connection(), output_type=Types.LONG()))
    assert found == list(range(1, 61))
