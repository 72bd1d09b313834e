"""The task name in RuntimeContext: that of all operators in one chain."""

from __future__ import annotations

from typing import Any

import pytest
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import (
    CoMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    ProcessWindowFunction,
)
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

from compat_tests.running import collect


class Named:
    def open(self, runtime_context):
        self.name = runtime_context.get_task_name()
        self.full = runtime_context.get_task_name_with_subtasks()


class Map(Named, MapFunction):
    def map(self, value):
        return self.name, self.full


class Process(Named, ProcessFunction):
    def process_element(self, value, ctx):
        yield self.name, self.full


class KeyedProcess(Named, KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield self.name, self.full


class Window(Named, ProcessWindowFunction):
    def process(self, key, context, elements):
        yield self.name, self.full


class CoMap(Named, CoMapFunction):
    def map1(self, value):
        return self.name, self.full

    map2 = map1


def one(env: Any) -> Any:
    return env.from_collection([1])


def keyed(env: Any) -> Any:
    return one(env).key_by(lambda v: v)


def same(value: Any) -> Any:
    return value


def numbers(env: Any) -> Any:
    source = NumberSequenceSource(1, 1)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())


def unchained(env: Any) -> Any:
    env.disable_operator_chaining()
    return one(env)


PAIR = Types.TUPLE([Types.STRING(), Types.STRING()])
FROM_SOURCE = "Source: Collection Source -> {} -> Sink: Data stream collect sink"
FROM_EXCHANGE = "{} -> Sink: Data stream collect sink"


@pytest.mark.parametrize(("build", "chain", "names"), [
    (lambda e: one(e).map(Map()), FROM_SOURCE, "Map"),
    (lambda e: one(e).map(Map(), PAIR), FROM_SOURCE, "Map"),
    (lambda e: one(e).map(same).map(Map()), FROM_SOURCE, "Map, Map"),
    (lambda e: one(e).map(Map()).filter(lambda v: True), FROM_SOURCE, "Map, Filter"),
    (lambda e: one(e).map(Map()).name("mine"), FROM_SOURCE, "mine"),
    (lambda e: one(e).flat_map(lambda v: [v]).map(Map()), FROM_SOURCE, "FlatMap, Map"),
    (lambda e: one(e).process(Process()), FROM_SOURCE, "PROCESS"),
    (lambda e: numbers(e).map(Map()), FROM_SOURCE.replace("Collection Source", "numbers"), "Map"),
    (lambda e: one(e).rebalance().map(Map()), FROM_EXCHANGE, "Map"),
    (lambda e: one(e).map(Map()).rebalance().map(same), "Source: Collection Source -> {}", "Map"),
    (lambda e: one(e).map(same).map(Map()).start_new_chain(), FROM_EXCHANGE, "Map"),
    (lambda e: unchained(e).map(same).map(Map()), "{}", "Map, Map"),
    (lambda e: one(e).union(one(e)).map(Map()), FROM_EXCHANGE, "Map"),
    (lambda e: one(e).connect(one(e)).map(CoMap()), FROM_EXCHANGE, "Co-Map"),
    (lambda e: keyed(e).map(Map()), FROM_EXCHANGE, "Map"),
    (lambda e: keyed(e).process(KeyedProcess()), FROM_EXCHANGE, "KEYED PROCESS"),
    (lambda e: keyed(e).process(KeyedProcess()).map(same), FROM_EXCHANGE, "KEYED PROCESS, Map"),
    (
        lambda e: one(e).map(Map()).key_by(lambda v: 0).reduce(lambda a, b: a),
        "Source: Collection Source -> {}",
        "Map, _stream_key_by_map_operator",
    ),
    (
        lambda e: keyed(e).count_window(1).process(Window()),
        FROM_EXCHANGE,
        "CountTumblingWindowAssigner",
    ),
])  # fmt: skip
@pytest.mark.one_attempt("the attempt is part of the name")
def test_names(env, build, chain, names):
    name = chain.format(names)
    assert set(collect(build(env))) == {(name, f"{name} (1/1)#0")}


@pytest.mark.parametrize("parallelism", [2])
@pytest.mark.one_attempt("the attempt is part of the name")
def test_a_sink_with_one_subtask_is_a_task_of_its_own(env):
    found = collect(env.from_collection([1, 2, 3]).map(Map()))
    assert set(found) == {("Map", "Map (1/2)#0"), ("Map", "Map (2/2)#0")}


def test_printed(env, run_printed):
    keyed(env).process(KeyedProcess()).map(lambda v: v[0], Types.STRING()).print()
    assert run_printed(env) == ["KEYED PROCESS, Map -> Sink: Print to Std. Out"]
