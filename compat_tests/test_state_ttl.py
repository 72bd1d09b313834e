"""Time to live of state, by processing time."""

from __future__ import annotations

import time

import pytest
from pyflink.common import Configuration, Time, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

from compat_tests.running import collect

pytestmark = pytest.mark.timed

UpdateType = StateTtlConfig.UpdateType
TTL_MS = 800


def ttl(update_type=UpdateType.OnCreateAndWrite):
    return (
        StateTtlConfig.new_builder(Time.milliseconds(TTL_MS))
        .set_update_type(update_type)
        .set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
        .build()
    )


@pytest.fixture
def uncached_env(env):
    """Without the worker's cache, which keeps the values of a hot key alive."""
    configuration = Configuration()
    configuration.set_string("python.state.cache-size", "0")
    configuration.set_string("python.fn-execution.bundle.size", "1")
    env.configure(configuration)
    return env


class Script(KeyedProcessFunction):
    """Takes a step for each element: a pause in seconds, or a call on the state."""

    def __init__(self, get_state, steps):
        self.get_state = get_state
        self.steps = steps

    def open(self, runtime_context):
        self.state = self.get_state(runtime_context)

    def process_element(self, value, ctx):
        step = self.steps[value]
        if callable(step):
            yield (step(self.state),)
        else:
            time.sleep(step)


def run(env, get_state, *steps):
    numbers = env.from_collection(list(range(len(steps))))
    keyed = numbers.key_by(lambda v: "k", Types.STRING())
    return [result for (result,) in collect(keyed.process(Script(get_state, steps)))]


def value_state(config):
    def get(context):
        descriptor = ValueStateDescriptor("v", Types.INT())
        descriptor.enable_time_to_live(config)
        return context.get_state(descriptor)

    return get


def test_value_expires(uncached_env):
    results = run(
        uncached_env,
        value_state(ttl()),
        lambda s: s.update(1),
        lambda s: s.value(),
        1.0,
        lambda s: s.value(),
    )
    assert results == [None, 1, None]


def test_writing_renews_and_reading_does_not(uncached_env):
    results = run(
        uncached_env,
        value_state(ttl()),
        lambda s: s.update(1),
        0.5,
        lambda s: s.update(2),
        0.5,
        lambda s: s.value(),
        0.5,
        lambda s: s.value(),
    )
    assert results == [None, None, 2, None]


def test_reading_renews_on_read_and_write(uncached_env):
    results = run(
        uncached_env,
        value_state(ttl(UpdateType.OnReadAndWrite)),
        lambda s: s.update(1),
        0.5,
        lambda s: s.value(),
        0.5,
        lambda s: s.value(),
    )
    assert results == [None, 1, 1]


def test_list_elements_expire_one_by_one(uncached_env):
    def get(context):
        descriptor = ListStateDescriptor("l", Types.INT())
        descriptor.enable_time_to_live(ttl())
        return context.get_list_state(descriptor)

    results = run(
        uncached_env, get, lambda s: s.add(1), 0.5, lambda s: s.add(2), 0.5, lambda s: list(s.get())
    )
    assert results == [None, None, [2]]


def test_map_entries_expire_one_by_one(uncached_env):
    def get(context):
        descriptor = MapStateDescriptor("m", Types.STRING(), Types.INT())
        descriptor.enable_time_to_live(ttl())
        return context.get_map_state(descriptor)

    results = run(
        uncached_env,
        get,
        lambda s: s.put("a", 1),
        0.5,
        lambda s: s.put("b", 2),
        0.5,
        lambda s: (s.get("a"), s.contains("a"), s.get("b"), list(s.keys())),
    )
    assert results == [None, None, (None, False, 2, ["b"])]


def test_config_is_readable():
    config = ttl(UpdateType.OnReadAndWrite)
    assert config.get_ttl().to_milliseconds() == TTL_MS
    assert config.get_update_type() == UpdateType.OnReadAndWrite
    assert config.is_enabled()
    assert (
        not StateTtlConfig.new_builder(Time.seconds(1))
        .set_update_type(UpdateType.Disabled)
        .build()
        .is_enabled()
    )
