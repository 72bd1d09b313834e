"""STREAMING, BATCH and AUTOMATIC: rolling results or final ones."""

from __future__ import annotations

import pytest
from pyflink.common import Configuration, Types
from pyflink.datastream import RuntimeExecutionMode
from pyflink.datastream.functions import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

from compat_tests.running import collect, collect_sorted

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
PAIRS = [("a", 1), ("b", 2), ("a", 3), ("b", 4), ("a", 5)]
ROLLING = [("a", 1), ("a", 4), ("a", 9), ("b", 2), ("b", 6)]
FINAL = [("a", 9), ("b", 6)]

MODES = [
    (RuntimeExecutionMode.STREAMING, ROLLING),
    (RuntimeExecutionMode.BATCH, FINAL),
    (RuntimeExecutionMode.AUTOMATIC, FINAL),
]


def keyed(env, type_info=PAIR):
    return env.from_collection(PAIRS, type_info).key_by(lambda v: v[0], Types.STRING())


def total(a, b):
    return a[0], a[1] + b[1]


def test_streaming_is_the_default(env):
    assert collect_sorted(keyed(env).reduce(total)) == ROLLING


@pytest.mark.parametrize(("mode", "expected"), MODES, ids=lambda v: getattr(v, "name", ""))
def test_reduce(env, mode, expected):
    env.set_runtime_mode(mode)
    assert collect_sorted(keyed(env).reduce(total)) == expected


def test_mode_from_the_configuration(env):
    configuration = Configuration()
    configuration.set_string("execution.runtime-mode", "BATCH")
    env.configure(configuration)
    assert collect_sorted(keyed(env).reduce(total)) == FINAL


@pytest.mark.parametrize(
    ("method", "expected"),
    [("sum", FINAL), ("max", [("a", 5), ("b", 4)]), ("min_by", [("a", 1), ("b", 2)])],
)
def test_aggregations_in_batch(batch_env, method, expected):
    assert collect_sorted(getattr(keyed(batch_env), method)(1)) == expected


@pytest.mark.parametrize("parallelism", [2])
def test_batch_in_parallel(batch_env):
    doubled = keyed(batch_env).reduce(total).map(lambda v: (v[0], v[1] * 2))
    assert collect_sorted(doubled) == [("a", 18), ("b", 12)]


def test_functions_without_a_key_see_the_order_of_the_input(batch_env):
    stream = batch_env.from_collection([3, 1, 2]).map(lambda v: v * 2).filter(lambda v: v > 2)
    assert collect(stream) == [6, 4]


def test_a_key_s_elements_come_together(batch_env):
    class Count(KeyedProcessFunction):
        def open(self, runtime_context):
            self.count = runtime_context.get_state(ValueStateDescriptor("n", Types.INT()))

        def process_element(self, value, ctx):
            self.count.update((self.count.value() or 0) + 1)
            yield ctx.get_current_key(), self.count.value()

    results = collect(keyed(batch_env).process(Count()))
    assert sorted(results) == [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2)]
    keys = [key for key, _ in results]
    assert keys in (["a"] * 3 + ["b"] * 2, ["b"] * 2 + ["a"] * 3)
