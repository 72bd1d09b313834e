"""Functions that take part in checkpoints, in every kind of operator that has a function."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pyflink_on_spark._runtime.operators.process import ProcessOperator
from pyflink_on_spark._runtime.operators.rolling import RollingReduceOperator
from pyflink_on_spark._runtime.operators.stateless import KeyedMapOperator, MapOperator
from pyflink_on_spark._runtime.state.operator_state import OperatorState
from pyflink_on_spark._runtime.user_code import (
    FunctionCheckpoints,
    OperatorStateStore,
    PlainFunction,
    UserFunction,
)
from tests.runtime.harness import Harness, keyed
from tests.runtime.state.descriptors import Descriptor, ttl

SEEN = Descriptor("list", "seen")


class Counting:
    """Counts what it sees, in a list state of one element; notes in which order it is called."""

    _checkpoint_protocol = "function"
    _listens_to_checkpoints = True

    def __init__(self):
        self.calls = []
        self.count = 0

    def initialize_state(self, context):
        self.calls.append("initialize")
        self.state = context.get_operator_state_store().get_list_state(SEEN)
        if context.is_restored():
            self.calls.append(f"restored {context.get_restored_checkpoint_id()}")
            self.count = sum(self.state)

    def open(self, runtime_context):
        self.calls.append("open")

    def snapshot_state(self, context):
        self.calls.append(
            f"snapshot {context.get_checkpoint_id()} at {context.get_checkpoint_timestamp()}"
        )
        self.state.update([self.count])

    def notify_checkpoint_complete(self, checkpoint_id):
        self.calls.append(f"complete {checkpoint_id}")

    def notify_checkpoint_aborted(self, checkpoint_id):
        self.calls.append(f"aborted {checkpoint_id}")

    def map(self, value):
        self.count += 1
        return self.count

    def process_element(self, value, ctx):
        yield self.map(value)

    def reduce(self, first, second):
        return self.map(second)


class Listing:
    """Keeps what it saw by the simpler protocol."""

    _checkpoint_protocol = "list"

    def __init__(self):
        self.seen = []

    def snapshot_state(self, checkpoint_id, timestamp):
        return self.seen or None

    def restore_state(self, state):
        self.seen = [*state, "restored"]

    def map(self, value):
        self.seen.append(value)
        return list(self.seen)


class Bystander:
    """Has methods of these names, for purposes of its own."""

    def initialize_state(self):
        raise AssertionError

    def snapshot_state(self):
        raise AssertionError

    def notify_checkpoint_complete(self):
        raise AssertionError

    def notify_checkpoint_aborted(self):
        raise AssertionError

    def map(self, value):
        return value


@pytest.mark.parametrize(
    "operator",
    [
        MapOperator(UserFunction.of(Counting())),
        ProcessOperator(UserFunction.of(Counting())),
        KeyedMapOperator(UserFunction.of(Counting())),
        RollingReduceOperator(UserFunction.of(Counting())),
    ],
    ids=lambda operator: type(operator).__name__,
)
def test_every_operator_calls_the_function(operator):
    harness = Harness(operator)
    elements = keyed(("k", 1), ("k", 2), ("k", 3)) if operator.keyed else [1, 2, 3]
    harness.feed(*elements)
    harness.clock.time = 55
    harness.operator.snapshot_state(7)
    harness.operator.notify_checkpoint_complete(7)
    harness.operator.notify_checkpoint_aborted(8)
    loaded = harness.operator._loaded
    assert loaded.calls == ["initialize", "open", "snapshot 7 at 55", "complete 7", "aborted 8"]
    assert harness.operator_state.list_state("seen").get() == [loaded.count]
    assert loaded.count >= 2


def test_state_comes_back():
    state = OperatorState()
    state.list_state("seen").add_all([2, 3])
    harness = Harness(MapOperator(UserFunction.of(Counting())), operator_state=state, restored=7)
    assert harness.feed("x") == [6]
    assert harness.operator._loaded.calls == ["initialize", "restored 7", "open"]


def test_the_simpler_protocol():
    operator = MapOperator(UserFunction.of(Listing()))
    harness = Harness(operator)
    harness.operator.snapshot_state(1)
    assert harness.operator_state.snapshot().split == {}
    harness.feed("a", "b")
    harness.operator.snapshot_state(2)
    restored = Harness(operator, operator_state=harness.operator_state, restored=2)
    assert restored.feed("c") == [["a", "b", "restored", "c"]]


def test_the_simpler_protocol_is_restored_even_with_nothing():
    harness = Harness(MapOperator(UserFunction.of(Listing())), restored=2)
    assert harness.feed("c") == [["restored", "c"]]


def test_methods_of_the_same_names_are_not_called():
    harness = Harness(MapOperator(UserFunction.of(Bystander())), restored=2)
    assert harness.feed(1) == [1]
    harness.operator.snapshot_state(3)
    harness.operator.notify_checkpoint_complete(3)
    harness.operator.notify_checkpoint_aborted(4)


def test_the_function_inside_others_is_found():
    counting = Counting()
    context = SimpleNamespace(operator_state=OperatorState(), runtime_context=None, restored=None)
    wrapped = SimpleNamespace(_wrapped_function=PlainFunction("process", counting))
    FunctionCheckpoints(wrapped, context).initialize()
    assert counting.calls == ["initialize"]


def test_keyed_state_in_initialize_state():
    harness = Harness(KeyedMapOperator(UserFunction.of(KeyedCounting())))
    assert harness.feed(*keyed(("a", 0), ("b", 0), ("a", 0))) == [1, 1, 2]


class KeyedCounting:
    _checkpoint_protocol = "function"

    def initialize_state(self, context):
        self.count = context.get_keyed_state_store().get_state(Descriptor("value", "count"))

    def snapshot_state(self, context):
        raise AssertionError

    def map(self, value):
        self.count.update((self.count.value() or 0) + 1)
        return self.count.value()


def test_no_keyed_state_without_a_key():
    with pytest.raises(RuntimeError, match="call key_by"):
        Harness(MapOperator(UserFunction.of(KeyedCounting())))


def test_store():
    state = OperatorState()
    store = OperatorStateStore(state)
    store.get_list_state(SEEN).add(1)
    store.get_union_list_state(Descriptor("list", "all")).add(2)
    store.get_broadcast_state(Descriptor("map", "rules")).put("a", 3)
    snapshot = state.snapshot()
    assert snapshot.split == {"seen": [1]}
    assert snapshot.union == {"all": [2]}
    assert snapshot.broadcast == {"rules": {"a": 3}}


def test_store_refuses():
    store = OperatorStateStore(OperatorState())
    with pytest.raises(TypeError, match="does not describe a list state"):
        store.get_list_state(Descriptor("value", "v"))
    with pytest.raises(TypeError, match="does not describe a map state"):
        store.get_broadcast_state(SEEN)
    with pytest.raises(ValueError, match="only keyed state can have a time to live"):
        store.get_union_list_state(Descriptor("list", "l", ttl=ttl(10)))
    store.get_list_state(SEEN)
    with pytest.raises(RuntimeError, match=r"'seen' is already in use for .* split-redistributed"):
        store.get_union_list_state(SEEN)
    store.get_union_list_state(Descriptor("list", "all"))
    with pytest.raises(RuntimeError, match=r"'all' is already in use for .* union-redistributed"):
        store.get_list_state(Descriptor("list", "all"))
