"""connect: CoMap, CoFlatMap, CoProcess and KeyedCoProcess functions."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import (
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedCoProcessFunction,
    OutputTag,
)
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

from compat_tests.pacing import timed
from compat_tests.running import Journal, collect, collect_sorted

HIGHEST = 2**63 - 1


@pytest.fixture
def connected(env):
    numbers = env.from_collection([1, 2, 3], Types.INT())
    return numbers.connect(env.from_collection(["a", "b"], Types.STRING()))


class Describe(CoMapFunction):
    def open(self, runtime_context):
        self.suffix = "!"

    def map1(self, value):
        return f"number {value}{self.suffix}"

    def map2(self, value):
        return f"letter {value}{self.suffix}"


def test_co_map(connected):
    stream = connected.map(Describe(), Types.STRING())
    assert collect_sorted(stream) == [
        "letter a!", "letter b!", "number 1!", "number 2!", "number 3!",
    ]  # fmt: skip


def test_none_from_co_map_emits_nothing(connected):
    class OnlyLetters(CoMapFunction):
        def map1(self, value):
            return None

        def map2(self, value):
            return value

    assert collect_sorted(connected.map(OnlyLetters())) == ["a", "b"]


class Repeat(CoFlatMapFunction):
    def flat_map1(self, value):
        for _ in range(value):
            yield str(value)

    def flat_map2(self, value):
        return [value, value] if value == "a" else None


def test_co_flat_map(connected):
    assert collect_sorted(connected.flat_map(Repeat())) == [
        "1", "2", "2", "3", "3", "3", "a", "a",
    ]  # fmt: skip


TAG = OutputTag("letters", Types.STRING())


class Split(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield value * 10

    def process_element2(self, value, ctx):
        yield TAG, value.upper()


def test_co_process_with_side_output(connected):
    stream = connected.process(Split(), Types.INT())
    side = stream.get_side_output(TAG)
    assert collect_sorted(stream) == [10, 20, 30]
    assert collect_sorted(side) == ["A", "B"]


def test_each_input_keeps_its_order(env):
    class Pass(CoProcessFunction):
        def process_element1(self, value, ctx):
            yield 1, value

        def process_element2(self, value, ctx):
            yield 2, value

    numbers = env.from_collection(list(range(20)))
    results = collect(numbers.connect(env.from_collection(list(range(20)))).process(Pass()))
    for side in (1, 2):
        assert [value for where, value in results if where == side] == list(range(20))


class Join(KeyedCoProcessFunction):
    """Joins by key at the end of the input; both inputs share the state."""

    def open(self, runtime_context):
        self.left = runtime_context.get_list_state(ListStateDescriptor("left", Types.INT()))
        self.right = runtime_context.get_list_state(ListStateDescriptor("right", Types.INT()))

    def process_element1(self, value, ctx):
        self.left.add(value[1])
        ctx.timer_service().register_event_time_timer(100)

    def process_element2(self, value, ctx):
        self.right.add(value[1])
        ctx.timer_service().register_event_time_timer(100)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), sorted(self.left.get()), sorted(self.right.get())


def keyed_pair(env, left, right):
    left = timed(env.from_collection(left)).key_by(lambda v: v[0], Types.STRING())
    right = timed(env.from_collection(right)).key_by(lambda v: v[0], Types.STRING())
    return left.connect(right)


@pytest.mark.parametrize("parallelism", [1, 2])
def test_keyed_join_with_timers(env):
    connected = keyed_pair(env, [("a", 1), ("b", 2), ("a", 3)], [("a", 4), ("c", 5)])
    assert collect_sorted(connected.process(Join())) == [
        ("a", [1, 3], [4]), ("b", [2], []), ("c", [], [5]),
    ]  # fmt: skip


def test_key_by_on_the_connected_streams(env):
    left = timed(env.from_collection([("a", 1), ("b", 2)]))
    right = timed(env.from_collection([("a", 4)]))
    keyed = left.connect(right).key_by(lambda v: v[0], lambda v: v[0], Types.STRING())
    assert collect_sorted(keyed.process(Join())) == [("a", [1], [4]), ("b", [2], [])]


def test_keyed_co_map_and_co_flat_map_with_state(env):
    class Count(CoMapFunction):
        def open(self, runtime_context):
            self.state = runtime_context.get_state(ValueStateDescriptor("n", Types.INT()))

        def count(self):
            self.state.update((self.state.value() or 0) + 1)
            return self.state.value()

        def map1(self, value):
            return value[0], self.count()

        def map2(self, value):
            return value[0], self.count()

    class CountFlat(CoFlatMapFunction, Count):
        def flat_map1(self, value):
            yield value[0], self.count()

        flat_map2 = flat_map1

    for stream in (
        keyed_pair(env, [("a", 1), ("b", 1)], [("a", 2), ("a", 3)]).map(Count()),
        keyed_pair(env, [("a", 1), ("b", 1)], [("a", 2), ("a", 3)]).flat_map(CountFlat()),
    ):
        assert collect_sorted(stream) == [("a", 1), ("a", 2), ("a", 3), ("b", 1)]


def test_watermark_is_the_lower_one(env):
    class Watermarks(KeyedCoProcessFunction):
        def process_element1(self, value, ctx):
            ctx.timer_service().register_event_time_timer(value[1])

        process_element2 = process_element1

        def on_timer(self, timestamp, ctx):
            yield timestamp, ctx.timestamp(), ctx.timer_service().current_watermark()

    connected = keyed_pair(env, [("a", 10)], [("a", 5)])
    assert collect(connected.process(Watermarks())) == [(5, 5, HIGHEST), (10, 10, HIGHEST)]


def test_only_one_side_keyed_is_refused(env):
    keyed = env.from_collection([("a", 1)]).key_by(lambda v: v[0])
    with pytest.raises(Exception, match=r"\S"):
        collect(keyed.connect(env.from_collection([1])).process(Join()))


@pytest.mark.one_attempt("counts openings")
def test_opened_and_closed_once(connected, tmp_path):
    journal = Journal(tmp_path / "journal")

    class Logged(Split):
        def open(self, runtime_context):
            journal.write("open")

        def close(self):
            journal.write("close")

    collect(connected.process(Logged()))
    assert journal.lines() == ["open", "close"]


class Pairs(KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        yield ctx.get_current_key(), value

    def process_element2(self, value, ctx):
        yield ctx.get_current_key(), value


@pytest.mark.parametrize(
    ("first", "second"), [(Types.INT(), None), (None, Types.INT()), (Types.INT(), Types.LONG())]
)
def test_keys_of_different_types_never_meet(env, first, second):
    stream = env.from_collection([1, 2])
    keyed = stream.key_by(lambda v: v, first).connect(stream.key_by(lambda v: v, second))
    with pytest.raises(Exception, match=r"Key types .* KeyedStreams don't match"):
        keyed.process(Pairs())


@pytest.mark.parametrize("key_type", [None, Types.INT(), Types.PICKLED_BYTE_ARRAY()])
def test_keys_of_one_type_meet(env, key_type):
    stream = env.from_collection([1, 2])
    keyed = [stream.key_by(lambda v: v % 2, key_type) for _ in range(2)]
    expected = [(0, 2), (0, 2), (1, 1), (1, 1)]
    assert collect_sorted(keyed[0].connect(keyed[1]).process(Pairs())) == expected


class Both(CoMapFunction):
    def map1(self, value):
        return 1, repr(value)

    def map2(self, value):
        return 2, repr(value)


class BothAtOnce(CoFlatMapFunction):
    def flat_map1(self, value):
        yield 1, repr(value)

    def flat_map2(self, value):
        yield 2, repr(value)


class BothInContext(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield 1, repr(value)

    def process_element2(self, value, ctx):
        yield 2, repr(value)


@pytest.mark.parametrize(
    "apply",
    [
        lambda s: s.map(Both()),
        lambda s: s.flat_map(BothAtOnce()),
        lambda s: s.process(BothInContext()),
    ],
    ids=["map", "flat_map", "process"],
)
def test_where_only_one_stream_has_a_key_its_elements_are_rows_of_both(env, apply):
    """They are what PyFlink has in the JVM."""
    keyed = env.from_collection([("a", 1)]).key_by(lambda v: v[0])
    other = env.from_collection([5])
    assert collect_sorted(apply(keyed.connect(other))) == [
        (1, "Row(f0='a', f1=('a', 1))"),
        (2, "5"),
    ]
    assert collect_sorted(apply(other.connect(keyed))) == [
        (1, "5"),
        (2, "Row(f0='a', f1=('a', 1))"),
    ]


def test_rows_of_key_and_element_have_their_types(env):
    typed = env.from_collection([0.1, 7.0], Types.FLOAT()).key_by(int, Types.INT())
    found = collect_sorted(typed.connect(env.from_collection([5])).map(Both()))
    assert found == [
        (1, "Row(f0=0, f1=0.10000000149011612)"), (1, "Row(f0=7, f1=7.0)"), (2, "5"),
    ]  # fmt: skip
