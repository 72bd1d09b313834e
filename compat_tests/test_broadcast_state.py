"""Broadcast state: rules on one side, elements on the other."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import BroadcastProcessFunction, KeyedBroadcastProcessFunction, OutputTag
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor

from compat_tests.pacing import timed
from compat_tests.running import collect, collect_sorted

pytestmark = pytest.mark.timed

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


def later(stream, seconds=1.5):
    """The stream's elements after those of the other one have come."""
    import time

    def wait(value):
        time.sleep(seconds)
        return value

    return stream.map(wait).rebalance()


class Multiply(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        factor = ctx.get_broadcast_state(RULES).get(value[0])
        yield value[0], value[1] * (factor or 1)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)


@pytest.fixture
def rules(env):
    return env.from_collection([("a", 10), ("b", 100)]).rebalance().broadcast(RULES)


def with_small_bundles(env):
    from pyflink.common import Configuration

    configuration = Configuration()
    configuration.set_string("python.fn-execution.bundle.size", "1")
    env.configure(configuration)


@pytest.mark.parametrize("parallelism", [1, 2])
def test_elements_see_the_rules(env, rules):
    with_small_bundles(env)
    elements = later(env.from_collection([("a", 1), ("b", 2), ("c", 3)]))
    stream = elements.connect(rules).process(Multiply())
    assert collect_sorted(stream) == [("a", 10), ("b", 200), ("c", 3)]


class Counted(KeyedBroadcastProcessFunction):
    """Uses broadcast state, keyed state and timers together."""

    def open(self, runtime_context):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.INT()))

    def process_element(self, value, ctx):
        factor = ctx.get_broadcast_state(RULES).get(value[0]) or 1
        self.total.update((self.total.value() or 0) + value[1] * factor)
        ctx.timer_service().register_event_time_timer(1000)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), self.total.value(), timestamp


@pytest.mark.parametrize("parallelism", [1, 2])
def test_keyed(env):
    with_small_bundles(env)
    rules = timed(env.from_collection([("a", 10), ("b", 100)]).rebalance()).broadcast(RULES)
    elements = timed(later(env.from_collection([("a", 1), ("b", 2), ("a", 3), ("c", 4)]), 1))
    keyed = elements.key_by(lambda v: v[0], Types.STRING())
    assert collect_sorted(keyed.connect(rules).process(Counted())) == [
        ("a", 40, 1000), ("b", 200, 1000), ("c", 4, 1000),
    ]  # fmt: skip


class ReadOnly(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        state = ctx.get_broadcast_state(RULES)
        yield hasattr(state, "get"), hasattr(state, "put"), hasattr(state, "remove")

    def process_broadcast_element(self, value, ctx):
        pass


def test_the_element_side_only_reads(env, rules):
    stream = env.from_collection([1]).rebalance().connect(rules).process(ReadOnly())
    assert collect(stream) == [(True, False, False)]


class Inspect(BroadcastProcessFunction):
    """The broadcast side has all methods of a map."""

    def process_element(self, value, ctx):
        return []

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(RULES)
        yield state.contains("x"), state.get("x")
        state.put_all([("x", 1), ("y", 2)])
        yield sorted(state.items()), state.contains("x"), state.get("y")
        state.remove("x")
        yield list(state.keys()), list(state.values())
        state.clear()
        yield list(state.items()), state.get("y")


def test_broadcast_side(env):
    rules = env.from_collection([("go", 1)]).rebalance().broadcast(RULES)
    stream = env.from_collection([0]).rebalance().connect(rules).process(Inspect())
    assert collect(stream) == [
        (False, None),
        ([("x", 1), ("y", 2)], True, 2),
        (["y"], [2]),
        ([], None),
    ]


@pytest.mark.pyflink_bug("an empty broadcast state says that it is not empty")
def test_empty_broadcast_state(env):
    class AsksFirst(Inspect):
        def process_broadcast_element(self, value, ctx):
            yield ctx.get_broadcast_state(RULES).is_empty()

    rules = env.from_collection([("go", 1)]).rebalance().broadcast(RULES)
    stream = env.from_collection([0]).rebalance().connect(rules).process(AsksFirst())
    assert collect(stream) == [True]


def test_a_descriptor_that_was_not_announced(env):
    """PyFlink finds a broadcast state by its name, and makes one where there is none."""
    other = MapStateDescriptor("other", Types.STRING(), Types.INT())

    class Uses(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            yield repr(ctx.get_broadcast_state(other).get("a"))

        def process_broadcast_element(self, value, ctx):
            ctx.get_broadcast_state(other).put(*value)
            yield repr(ctx.get_broadcast_state(other).get("a"))
            yield repr(ctx.get_broadcast_state(RULES).get("a"))

    rules = env.from_collection([("a", 1)]).rebalance().broadcast(RULES)
    stream = env.from_collection([0], Types.INT()).filter(bool).rebalance().connect(rules)
    assert collect(stream.process(Uses())) == ["1", "None"]


def test_side_output(env):
    tag = OutputTag("rules", Types.STRING())

    class Tells(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            yield value

        def process_broadcast_element(self, value, ctx):
            yield tag, value[0]

    rules = env.from_collection([("a", 1), ("b", 2)]).rebalance().broadcast(RULES)
    stream = env.from_collection([7]).rebalance().connect(rules).process(Tells())
    side = stream.get_side_output(tag)
    assert collect_sorted(side) == ["a", "b"]
    assert collect(stream) == [7]


def test_a_python_operator_directly_before(env):
    rules = env.from_collection([("a", 1)]).map(lambda v: v).broadcast(RULES)
    stream = env.from_collection([("z", 7)]).map(lambda v: v).connect(rules).process(Multiply())
    assert collect(stream) == [("z", 7)]


def test_wrong_kind_of_function(env, rules):
    keyed = env.from_collection([("a", 1)]).key_by(lambda v: v[0])
    with pytest.raises(TypeError):
        keyed.connect(rules).process(Multiply())
    with pytest.raises(TypeError):
        env.from_collection([("a", 1)]).connect(rules).process(Counted())
