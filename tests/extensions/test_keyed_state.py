"""Sorted maps and folding in whole jobs, and functions that are handed their state."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Time, Types
from pyflink_on_spark.datastream import (
    KeyedProcessFunction,
    MapFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink_on_spark.datastream.state import (
    AppendingState,
    MapState,
    MapStateDescriptor,
    StateTtlConfig,
)
from pyflink_on_spark.extensions import (
    CheckpointedFunction,
    FoldFunction,
    FoldingState,
    FoldingStateDescriptor,
    SortedMapState,
    SortedMapStateDescriptor,
    filter_with_state,
    flat_map_with_state,
    get_folding_state,
    get_sorted_map_state,
    map_with_state,
)
from tests.runtime.rounds import Conditions, by_key, results

INT, STRING = Types.INT(), Types.STRING()
SORTED = SortedMapStateDescriptor("sorted", INT, STRING)
CUTS = [
    Conditions(),
    Conditions(sizes=(2, 3), restarts={1: 1, 3: 1}),
    Conditions(sizes=(4, 1), parallelism=2, restarts={1: 3, 2: 1}),
]


@pytest.fixture
def env(local_engine):
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    return environment


class Neighbours(KeyedProcessFunction):
    """Yields the smallest and largest number so far, and how many lie below and from five on."""

    def open(self, runtime_context):
        self.numbers = get_sorted_map_state(runtime_context, SORTED)
        assert isinstance(self.numbers, SortedMapState)
        assert isinstance(self.numbers, MapState)

    def process_element(self, value, ctx):
        key, number = value
        self.numbers.put(number, str(number))
        below, above = list(self.numbers.head_map(5)), list(self.numbers.tail_map(5))
        assert list(self.numbers.items()) == below + above
        yield key, self.numbers.first_entry()[0], self.numbers.last_entry()[1], len(below)


@pytest.mark.parametrize("conditions", CUTS)
def test_sorted_map_state(conditions):
    elements = [("a", 7), ("b", 1), ("a", 3), ("a", 9), ("b", 8), ("a", 4), ("b", 2), ("a", 5)]
    found = results(
        lambda stream: stream.key_by(lambda pair: pair[0]).process(Neighbours()),
        elements,
        conditions,
    )
    assert by_key(found) == {
        "a": [
            ("a", 7, "7", 0),
            ("a", 3, "7", 1),
            ("a", 3, "9", 1),
            ("a", 3, "9", 2),
            ("a", 3, "9", 2),
        ],
        "b": [("b", 1, "1", 1), ("b", 1, "8", 1), ("b", 1, "8", 2)],
    }


def test_sorted_map_state_in_initialize_state(env):
    class Smallest(MapFunction, CheckpointedFunction):
        def initialize_state(self, context):
            self.numbers = get_sorted_map_state(context.get_keyed_state_store(), SORTED)

        def snapshot_state(self, context):
            pass

        def map(self, value):
            self.numbers.put(value, "")
            return self.numbers.first_entry()[0]

    stream = env.from_collection([3, 5, 2]).key_by(lambda number: 0).map(Smallest())
    assert list(stream.execute_and_collect()) == [3, 3, 2]


class Longest(FoldFunction):
    def fold(self, accumulator, value):
        return max(accumulator, len(value))


@pytest.mark.parametrize("conditions", CUTS)
@pytest.mark.parametrize("function", [Longest(), lambda length, word: max(length, len(word))])
def test_folding_state(conditions, function):
    class Folding(MapFunction):
        def open(self, runtime_context):
            descriptor = FoldingStateDescriptor("longest", 2, function, INT)
            self.longest = get_folding_state(runtime_context, descriptor)
            assert isinstance(self.longest, FoldingState)
            assert isinstance(self.longest, AppendingState)

        def map(self, value):
            before = self.longest.get()
            self.longest.add(value)
            return value[0], before, self.longest.get()

    words = ["a", "bold", "at", "b", "atom", "beside"]
    found = results(
        lambda stream: stream.key_by(lambda word: word[0]).map(Folding()), words, conditions
    )
    assert by_key(found) == {
        "a": [("a", None, 2), ("a", 2, 2), ("a", 2, 4)],
        "b": [("b", None, 4), ("b", 4, 4), ("b", 4, 6)],
    }


class Using(MapFunction):
    def __init__(self, use):
        self.use = use

    def open(self, runtime_context):
        self.use(runtime_context)

    def map(self, value):
        return value


def wrong_descriptor(runtime_context):
    get_sorted_map_state(runtime_context, MapStateDescriptor("m", INT, INT))


def wrong_name(runtime_context):
    runtime_context.get_map_state(MapStateDescriptor("sorted", INT, STRING))
    get_sorted_map_state(runtime_context, SORTED)


@pytest.mark.parametrize(
    ("use", "complaint"),
    [
        (wrong_descriptor, "does not describe a sorted map state"),
        (wrong_name, "The state name 'sorted' is already in use and not a sorted map state"),
        (lambda context: get_sorted_map_state(None, SORTED), "what open.. gets is needed"),
    ],
)
def test_wrong_use(env, use, complaint):
    env.from_collection([1]).key_by(lambda number: 0).map(Using(use)).print()
    with pytest.raises(RuntimeError, match=complaint):
        env.execute()


def test_a_stream_without_key(env):
    use = Using(lambda context: get_sorted_map_state(context, SORTED))
    env.from_collection([1]).map(use).print()
    with pytest.raises(RuntimeError, match=r"call key_by\(\) before this operator"):
        env.execute()


def test_not_in_window_state(env):
    class Wrong(ProcessWindowFunction):
        def process(self, key, context, elements):
            get_sorted_map_state(context.window_state(), SORTED)
            yield 1

    env.from_collection([1]).key_by(lambda number: 0).count_window(1).process(Wrong()).print()
    with pytest.raises(RuntimeError, match=r"what open\(\) gets is needed"):
        env.execute()


def test_descriptors_refuse():
    ttl = StateTtlConfig.new_builder(Time.seconds(1)).build()
    with pytest.raises(ValueError, match="cannot have a time to live"):
        SortedMapStateDescriptor("s", INT, INT).enable_time_to_live(ttl)
    with pytest.raises(ValueError, match="cannot have a time to live"):
        FoldingStateDescriptor("f", 0, max, INT).enable_time_to_live(ttl)
    with pytest.raises(TypeError, match="must be a FoldFunction or a callable"):
        FoldingStateDescriptor("f", 0, 1, INT)


LETTERS = [("a", 1), ("b", 2), ("a", 3), ("b", 0), ("a", 5), ("b", 7)]


def keyed(stream):
    return stream.key_by(lambda pair: pair[0])


def counted(pair, so_far):
    return ((pair[0], 0), pair[1]) if so_far is None else ((pair[0], so_far), so_far + pair[1])


@pytest.mark.parametrize("conditions", CUTS)
def test_map_with_state(conditions):
    found = results(lambda stream: map_with_state(keyed(stream), counted), LETTERS, conditions)
    assert by_key(found) == {
        "a": [("a", 0), ("a", 1), ("a", 4)],
        "b": [("b", 0), ("b", 2), ("b", 2)],
    }


@pytest.mark.parametrize("conditions", CUTS)
def test_flat_map_with_state(conditions):
    def in_pairs(pair, before):
        return ([], pair[1]) if before is None else ([(pair[0], before, pair[1])], None)

    elements = [*LETTERS, ("a", 6)]
    found = results(
        lambda stream: flat_map_with_state(keyed(stream), in_pairs, None, INT), elements, conditions
    )
    assert by_key(found) == {"a": [("a", 1, 3), ("a", 5, 6)], "b": [("b", 2, 0)]}


@pytest.mark.parametrize("conditions", CUTS)
def test_filter_with_state(conditions):
    def is_record(pair, best):
        return best is None or pair[1] > best, max(pair[1], pair[1] if best is None else best)

    found = results(
        lambda stream: filter_with_state(keyed(stream), is_record, INT), LETTERS, conditions
    )
    assert by_key(found) == {"a": [("a", 1), ("a", 3), ("a", 5)], "b": [("b", 2), ("b", 7)]}


def test_declared_types_of_results(env):
    kind = Types.TUPLE([STRING, INT])
    stream = map_with_state(keyed(env.from_collection(LETTERS)), counted, kind, INT)
    assert stream.get_type() == kind
    assert list(stream.execute_and_collect())[:3] == [("a", 0), ("b", 0), ("a", 1)]


def test_functions_with_state_refuse(env):
    stream = env.from_collection(LETTERS)
    for with_state in (map_with_state, flat_map_with_state, filter_with_state):
        with pytest.raises(TypeError, match="a keyed stream is needed"):
            with_state(stream, counted)
        with pytest.raises(TypeError, match="a function of an element and a state is needed"):
            with_state(keyed(stream), "counted")


def test_a_result_without_state(env):
    map_with_state(keyed(env.from_collection(LETTERS)), lambda pair, state: pair[1]).print()
    with pytest.raises(RuntimeError, match=r"(?s)a tuple of a result and the new state, got 1"):
        env.execute()
