"""Functions that take part in checkpoints, in whole jobs that are saved and resume elsewhere."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Row, Time, Types
from pyflink_on_spark.datastream import (
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    CoMapFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
    StreamExecutionEnvironment,
)
from pyflink_on_spark.datastream.functions import KeyedStateStore
from pyflink_on_spark.datastream.state import (
    ListState,
    ListStateDescriptor,
    MapStateDescriptor,
    ValueStateDescriptor,
)
from pyflink_on_spark.extensions import (
    CheckpointedFunction,
    CheckpointListener,
    FunctionInitializationContext,
    FunctionSnapshotContext,
    ListCheckpointed,
    OperatorStateStore,
)
from tests.runtime.rounds import Conditions, results

INT = Types.INT()
CUTS = [
    Conditions(),
    Conditions(sizes=(3,), restarts={2: 1, 4: 1}),
    Conditions(sizes=(2, 5, 1), parallelism=2, restarts={1: 2, 3: 2}),
]


class Numbering(MapFunction, CheckpointedFunction):
    """Numbers the elements of each subtask."""

    def __init__(self):
        self.count = 0

    def initialize_state(self, context):
        self.state = context.get_operator_state_store().get_list_state(
            ListStateDescriptor("count", INT)
        )
        self.count = sum(self.state)

    def snapshot_state(self, context):
        self.state.update([self.count])

    def map(self, value):
        self.count += 1
        return self.count, value


class NumberingBriefly(FlatMapFunction, ListCheckpointed):
    def __init__(self):
        self.count = 0

    def snapshot_state(self, checkpoint_id, timestamp):
        return [self.count]

    def restore_state(self, state):
        self.count = sum(state)

    def flat_map(self, value):
        self.count += 1
        yield self.count, value


@pytest.mark.parametrize("conditions", CUTS[:2])
@pytest.mark.parametrize(
    "build",
    [
        lambda stream: stream.map(Numbering()),
        lambda stream: stream.flat_map(NumberingBriefly()),
    ],
)
def test_numbers_go_on_after_a_restart(build, conditions):
    found = results(build, "abcdefghijklmno", conditions)
    assert found == list(enumerate("abcdefghijklmno", 1))


@pytest.mark.parametrize("after", [1, 3])
def test_lists_are_dealt_out_when_the_parallelism_changes(after):
    def build(stream):
        return stream.rebalance().process(Gathering())

    found = results(build, range(20), Conditions(sizes=(5,), parallelism=2, restarts={10: after}))
    before = [share for _, share in found if share is not None]
    numbers = sorted(number for share in before for number in share)
    assert 1 < len(numbers) < 20
    assert numbers == list(range(len(numbers)))
    sizes = sorted(len(share) for share in before)
    assert sizes[-1] - sizes[0] <= 1


class Gathering(ProcessFunction, CheckpointedFunction):
    """Keeps what it sees; once, says what it got back."""

    descriptor = ListStateDescriptor("seen", INT)
    restored = None

    def initialize_state(self, context):
        self.state = context.get_operator_state_store().get_list_state(self.descriptor)
        if context.is_restored():
            self.restored = list(self.state)

    def snapshot_state(self, context):
        """Nothing: the state is always as it should be."""

    def process_element(self, value, ctx):
        self.state.add(value)
        yield value, self.restored
        self.restored = None


def test_united_lists_come_whole():
    class Uniting(Gathering):
        def initialize_state(self, context):
            store = context.get_operator_state_store()
            self.state = store.get_union_list_state(self.descriptor)
            if context.is_restored():
                self.restored = sorted(self.state)
                self.state.clear()

    conditions = Conditions(sizes=(5,), parallelism=2, restarts={10: 3})
    found = results(lambda stream: stream.rebalance().process(Uniting()), range(20), conditions)
    restored = [seen for _, seen in found if seen is not None]
    assert 1 < len(restored[0]) < 20
    assert restored == [list(range(len(restored[0])))] * 3


@pytest.mark.parametrize("conditions", CUTS)
def test_keyed_state_from_the_same_context(conditions):
    class Counting(KeyedProcessFunction, CheckpointedFunction):
        def initialize_state(self, context):
            store = context.get_keyed_state_store()
            self.count = store.get_state(ValueStateDescriptor("count", INT))

        def snapshot_state(self, context):
            pass

        def process_element(self, value, ctx):
            self.count.update((self.count.value() or 0) + 1)
            yield value, self.count.value()

    def build(stream):
        return stream.key_by(lambda letter: letter).process(Counting())

    found = results(build, "abcabcabaabc", conditions)
    assert sorted(found) == [
        *[("a", count) for count in range(1, 6)],
        *[("b", count) for count in range(1, 5)],
        *[("c", count) for count in range(1, 4)],
    ]


def test_what_it_is_told():
    class Told(MapFunction, CheckpointedFunction, CheckpointListener):
        def open(self, runtime_context):
            self.seen.append("open")

        def initialize_state(self, context):
            store = context.get_operator_state_store()
            self.seen = [
                isinstance(context, FunctionInitializationContext),
                isinstance(store, OperatorStateStore),
                isinstance(context.get_keyed_state_store(), KeyedStateStore),
                context.is_restored(),
                context.get_restored_checkpoint_id(),
            ]
            self.state = store.get_list_state(ListStateDescriptor("seen", Types.STRING()))
            self.seen.append(isinstance(self.state, ListState))
            self.before = list(self.state)

        def snapshot_state(self, context):
            assert isinstance(context, FunctionSnapshotContext)
            self.state.add((context.get_checkpoint_id(), context.get_checkpoint_timestamp()))

        def notify_checkpoint_complete(self, checkpoint_id):
            raise AssertionError

        def map(self, value):
            return self.seen, self.before

    conditions = Conditions(sizes=(1,), restarts={1: 1})
    first, second = results(lambda stream: stream.map(Told()), [1, 2], conditions)
    assert first == ([True, True, True, False, None, True, "open"], [])
    assert second == ([True, True, True, True, 1, True, "open"], [(1, 0)])


class Noting(CheckpointedFunction):
    """Notes that it was asked before it was opened."""

    asked = False

    def initialize_state(self, context):
        context.get_operator_state_store().get_list_state(ListStateDescriptor("l", INT))
        self.asked = True

    def open(self, runtime_context):
        assert self.asked

    def snapshot_state(self, context):
        pass


class NotingMap(Noting, MapFunction):
    def map(self, value):
        return self.asked


class NotingFlatMap(Noting, FlatMapFunction):
    def flat_map(self, value):
        return [self.asked]


class NotingFilter(Noting, FilterFunction):
    def filter(self, value):
        return self.asked


class NotingReduce(Noting, ReduceFunction):
    def reduce(self, value1, value2):
        return self.asked


class NotingProcess(Noting, ProcessFunction):
    def process_element(self, value, ctx):
        yield self.asked


class NotingWindow(Noting, ProcessWindowFunction):
    def process(self, key, context, elements):
        yield self.asked


class NotingCoMap(Noting, CoMapFunction):
    def map1(self, value):
        return self.asked

    def map2(self, value):
        return None


class NotingBroadcast(Noting, BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield self.asked

    def process_broadcast_element(self, value, ctx):
        return []


class NotingAsync(Noting, AsyncFunction):
    async def async_invoke(self, value):
        return [self.asked]


def keyed(stream):
    return stream.key_by(lambda value: 0)


RULES = MapStateDescriptor("rules", INT, INT)


@pytest.mark.parametrize(
    "build",
    [
        lambda stream: stream.map(NotingMap()),
        lambda stream: keyed(stream).map(NotingMap()),
        lambda stream: stream.flat_map(NotingFlatMap()),
        lambda stream: keyed(stream).flat_map(NotingFlatMap()),
        lambda stream: stream.filter(NotingFilter()).map(lambda value: True),
        lambda stream: keyed(stream).filter(NotingFilter()).map(lambda value: True),
        lambda stream: keyed(stream).reduce(NotingReduce()),
        lambda stream: stream.process(NotingProcess()),
        lambda stream: keyed(stream).count_window(1).process(NotingWindow()),
        lambda stream: stream.connect(stream).map(NotingCoMap()),
        lambda stream: stream.connect(stream.broadcast(RULES)).process(NotingBroadcast()),
        lambda stream: AsyncDataStream.unordered_wait(
            stream, NotingAsync(), Time.seconds(10), 2, INT
        ),
    ],
    ids=lambda build: "",
)
def test_any_function_can_take_part(local_engine, build):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    found = list(build(env.from_collection([0, 0])).execute_and_collect())
    assert found[-1] is True or found[-1] == 1


def test_a_state_that_is_not_there_without_a_key(local_engine):
    class Wrong(MapFunction, CheckpointedFunction):
        def initialize_state(self, context):
            context.get_keyed_state_store().get_state(ValueStateDescriptor("v", INT))

        def snapshot_state(self, context):
            pass

        def map(self, value):
            return value

    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([Row(1)]).map(Wrong()).name("counting").print()
    with pytest.raises(RuntimeError, match=r"(?s)call key_by\(\).*in operator 'counting'"):
        env.execute()


def test_both_protocols_at_once():
    with pytest.raises(TypeError, match="Both cannot be both a CheckpointedFunction and a List"):

        class Both(CheckpointedFunction, ListCheckpointed):
            pass


def test_an_incomplete_one():
    class Incomplete(CheckpointedFunction):
        def snapshot_state(self, context):
            pass

    with pytest.raises(TypeError, match="initialize_state"):
        Incomplete()
