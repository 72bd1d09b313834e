"""Keyed state of every kind in a KeyedProcessFunction."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)

from compat_tests.running import collect, collect_sorted


class Script(KeyedProcessFunction):
    """Makes one call on a state for each element, which is the call's number."""

    def __init__(self, get_state, calls):
        self.get_state = get_state
        self.calls = calls

    def open(self, runtime_context):
        self.state = self.get_state(runtime_context)

    def process_element(self, value, ctx):
        yield (self.calls[value](self.state),)


def run(env, get_state, *calls):
    """The results of calls on the state of one key, one element for each call."""
    numbers = env.from_collection(list(range(len(calls))))
    keyed = numbers.key_by(lambda v: "k", Types.STRING())
    return [result for (result,) in collect(keyed.process(Script(get_state, calls)))]


def value_state(context):
    return context.get_state(ValueStateDescriptor("value", Types.INT()))


def list_state(context):
    return context.get_list_state(ListStateDescriptor("list", Types.INT()))


def map_state(context):
    return context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.INT()))


def reducing_state(context):
    return context.get_reducing_state(
        ReducingStateDescriptor("sum", lambda a, b: a + b, Types.INT())
    )


class Average(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


def aggregating_state(context):
    accumulator = Types.TUPLE([Types.INT(), Types.INT()])
    return context.get_aggregating_state(
        AggregatingStateDescriptor("average", Average(), accumulator)
    )


def test_value_state(env):
    results = run(
        env,
        value_state,
        lambda s: s.value(),
        lambda s: s.update(5),
        lambda s: s.value(),
        lambda s: s.clear(),
        lambda s: s.value(),
    )
    assert results == [None, None, 5, None, None]


def test_list_state(env):
    results = run(
        env,
        list_state,
        lambda s: list(s.get()),
        lambda s: s.add(1),
        lambda s: s.add_all([2, 3]),
        list,
        lambda s: s.update([9, 8]),
        lambda s: s.add(7),
        lambda s: list(s.get()),
        lambda s: s.clear(),
        lambda s: list(s.get()),
    )
    assert results == [[], None, None, [1, 2, 3], None, None, [9, 8, 7], None, []]


def test_list_state_updated_with_nothing(env):
    results = run(
        env,
        list_state,
        lambda s: s.add_all([]),
        lambda s: list(s.get()),
        lambda s: s.add(1),
        lambda s: s.update([]),
        lambda s: list(s.get()),
    )
    assert results == [None, [], None, None, []]


def test_reducing_state(env):
    results = run(
        env,
        reducing_state,
        lambda s: s.get(),
        lambda s: s.add(1),
        lambda s: s.add(4),
        lambda s: s.get(),
        lambda s: s.clear(),
        lambda s: s.get(),
    )
    assert results == [None, None, None, 5, None, None]


def test_aggregating_state(env):
    results = run(
        env,
        aggregating_state,
        lambda s: s.get(),
        lambda s: s.add(1),
        lambda s: s.add(4),
        lambda s: s.get(),
        lambda s: s.clear(),
        lambda s: s.get(),
    )
    assert results == [None, None, None, 2.5, None, None]


def test_map_state(env):
    results = run(
        env,
        map_state,
        lambda s: (s.is_empty(), s.get("a"), s.contains("a"), list(s.items())),
        lambda s: s.put("a", 1),
        lambda s: s.put_all([("b", 2), ("c", 3)]),
        lambda s: s.put_all({"d": 4}.items()),
        lambda s: (s.get("a"), s.contains("b"), s.contains("x"), s.is_empty()),
        lambda s: (sorted(s.keys()), sorted(s.values()), sorted(s.items())),
        sorted,
        lambda s: s.remove("a"),
        lambda s: s.remove("unknown"),
        lambda s: sorted(s.keys()),
        lambda s: s.clear(),
        lambda s: (s.is_empty(), list(s.keys())),
    )
    pairs = [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
    assert results == [
        (True, None, False, []),
        None,
        None,
        None,
        (1, True, False, False),
        (list("abcd"), [1, 2, 3, 4], pairs),
        list("abcd"),
        None,
        None,
        list("bcd"),
        None,
        (True, []),
    ]


def test_map_state_with_none_as_value(env):
    results = run(
        env,
        lambda context: context.get_map_state(
            MapStateDescriptor("m", Types.STRING(), Types.PICKLED_BYTE_ARRAY())
        ),
        lambda s: s.put("k", None),
        lambda s: (s.contains("k"), s.get("k"), list(s.keys()), s.is_empty()),
    )
    assert results == [None, (False, None, ["k"], False)]


def test_map_state_with_brackets(env):
    def use(state):
        state["x"] = 1
        found = state["x"], "x" in state
        del state["x"]
        return *found, "x" in state

    assert run(env, map_state, use) == [(1, True, False)]


def test_the_map_behind_a_map_state(env):
    def use(state):
        entries = state.get_internal_state()
        entries.put("a", 1)
        entries.put_all({"b": 2, "c": 3}.items())
        entries.remove("a")
        found = entries.get("b"), entries.contains("a"), sorted(entries.keys())
        return *found, sorted(entries.items()), sorted(entries.values()), entries.is_empty()

    def clear(state):
        state.get_internal_state().clear()
        return list(state.keys())

    assert run(env, map_state, use, lambda s: sorted(s.items()), clear) == [
        (2, False, ["b", "c"], [("b", 2), ("c", 3)], [2, 3], False),
        [("b", 2), ("c", 3)],
        [],
    ]


def test_changing_a_map_state_while_iterating_it(env):
    def change(state):
        for key in state:
            state.put(key + "x", 1)

    with pytest.raises(Exception, match="Concurrent modification detected"):
        run(env, map_state, lambda s: s.put_all([("a", 1), ("b", 2)]), change)


def test_map_state_is_empty_after_the_last_removal(env):
    results = run(
        env, map_state, lambda s: s.put("a", 1), lambda s: s.remove("a"), lambda s: s.is_empty()
    )
    assert results == [None, None, True]


@pytest.mark.parametrize("parallelism", [1, 2])
def test_keys_do_not_see_each_other(env):
    class Total(KeyedProcessFunction):
        def open(self, runtime_context):
            self.value = value_state(runtime_context)
            self.values = list_state(runtime_context)
            self.sum = reducing_state(runtime_context)

        def process_element(self, value, ctx):
            self.value.update(value[1])
            self.values.add(value[1])
            self.sum.add(value[1])
            yield ctx.get_current_key(), self.value.value(), list(self.values), self.sum.get()

    elements = [(key, i) for i in (1, 2) for key in "abc"]
    stream = env.from_collection(elements, Types.TUPLE([Types.STRING(), Types.INT()]))
    results = collect_sorted(stream.key_by(lambda v: v[0], Types.STRING()).process(Total()))
    assert results == [state for key in "abc" for state in [(key, 1, [1], 1), (key, 2, [1, 2], 3)]]


def test_the_declared_type_is_applied_when_state_is_written_through(env):
    class Writes(KeyedProcessFunction):
        def open(self, runtime_context):
            descriptor = ValueStateDescriptor("v", Types.STRING())
            self.value = runtime_context.get_state(descriptor)

        def process_element(self, value, ctx):
            self.value.update(5)
            yield value

    with pytest.raises(Exception, match=r"\S"):
        collect(env.from_collection([1]).key_by(lambda v: v).process(Writes()))


@pytest.mark.parametrize("looks_up", [
    lambda entries: entries.get(1),
    lambda entries: entries.contains(1),
    lambda entries: entries.remove(1),
], ids=["get", "contains", "remove"])  # fmt: skip
def test_a_key_of_another_type_than_declared_is_refused(env, looks_up):
    class LooksUp(KeyedProcessFunction):
        def open(self, runtime_context):
            descriptor = MapStateDescriptor("m", Types.STRING(), Types.LONG())
            self.entries = runtime_context.get_map_state(descriptor)

        def process_element(self, value, ctx):
            self.entries.put("a", 1)
            yield str(looks_up(self.entries))

    with pytest.raises(Exception, match="'int' object has no attribute 'encode'"):
        collect(env.from_collection([1]).key_by(lambda v: v).process(LooksUp()))


def test_a_default_for_a_key_after_another_was_set(env):
    class First(KeyedProcessFunction):
        def open(self, runtime_context):
            self.state = value_state(runtime_context)

        def process_element(self, value, ctx):
            before = self.state.value()
            self.state.update(value)
            yield (before,)

    stream = env.from_collection([1, 2, 1, 2, 3]).key_by(lambda v: v)
    assert collect(stream.process(First())) == [(None,), (None,), (1,), (2,), (None,)]


class PutsInOpen(KeyedProcessFunction):
    """Puts entries before there is a key."""

    def open(self, runtime_context):
        self.state = map_state(runtime_context)
        self.state.put("x", 1)
        self.state.put_all({"y": 2}.items())
        self.found = [self.state.get("x"), self.state.get("y")]
        self.state.remove("x")

    def process_element(self, value, ctx):
        yield str((value, self.found, sorted(self.state.items())))
        self.state.put("z", value)


def test_entries_of_open_are_forgotten(env):
    keyed = env.from_collection([1, 2, 1], Types.INT()).key_by(lambda v: v, Types.INT())
    assert collect(keyed.process(PutsInOpen(), Types.STRING())) == [
        "(1, [1, 2], [])",
        "(2, [1, 2], [])",
        "(1, [1, 2], [('z', 1)])",
    ]


class ClearsInOpen(KeyedProcessFunction):
    def open(self, runtime_context):
        self.state = map_state(runtime_context)
        self.state.put("x", 1)
        self.state.clear()
        self.state.remove("x")

    def process_element(self, value, ctx):
        yield sorted(self.state.items())


def test_maps_can_be_cleared_in_open(env):
    keyed = env.from_collection([1], Types.INT()).key_by(lambda v: v, Types.INT())
    assert collect(keyed.process(ClearsInOpen())) == [[]]


class ReadsInOpen(KeyedProcessFunction):
    def open(self, runtime_context):
        map_state(runtime_context).get("x")

    def process_element(self, value, ctx):
        yield value


def test_maps_cannot_be_read_in_open(env):
    keyed = env.from_collection([1], Types.INT()).key_by(lambda v: v, Types.INT())
    with pytest.raises(
        Exception,
        match=r"bad argument type for built-in operation|user_state_cache_token|No key set",
    ):
        collect(keyed.process(ReadsInOpen()))
