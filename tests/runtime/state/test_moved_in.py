"""Tables with entries of PyFlink, until an operator says what they are."""

from __future__ import annotations

import pickle
import struct

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.moved_in import MAP, PIECES, unpickled
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState, StateMeta
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ValueStateDescriptor,
)
from pyflink_on_spark.datastream.window import TimeWindow
from pyflink_on_spark.datastream.window.windows import TimeWindowSerializer
from tests.runtime.harness import FakeClock
from tests.runtime.state_changes import taken_changes


def number(value):
    return struct.pack(">i", value)


def restored(kind, entries, *, stamped=False, namespace=None, timers=(), **settings):
    backend = KeyedStateBackend(FakeClock(), **settings)
    tables = {"s": {namespace: entries}}
    backend.restore([KeyGroupState({"s": StateMeta(kind, stamped)}, tables, list(timers))])
    backend.key = "k"
    return backend


def test_a_list_goes_over_the_pieces():
    backend = restored(PIECES, {"k": [number(1) + number(2), number(3)]})
    assert list(backend.list_state(ListStateDescriptor("s", Types.INT())).get()) == [1, 2, 3]


def test_a_value_is_the_first_one():
    backend = restored(PIECES, {"k": [number(1), number(2)]})
    assert backend.value_state(ValueStateDescriptor("s", Types.INT())).value() == 1


def test_what_nobody_asks_for_stays_as_it_is():
    backend = restored(PIECES, {"k": [number(1)]})
    (piece,) = backend.snapshot().values()
    assert piece.tables["s"][None] == {"k": [number(1)]}
    again = KeyedStateBackend(FakeClock())
    again.restore([piece])
    again.key = "k"
    assert again.value_state(ValueStateDescriptor("s", Types.INT())).value() == 1


def test_what_is_read_counts_as_a_change():
    backend = restored(PIECES, {"k": [number(1)]}, track_changes=True)
    backend.value_state(ValueStateDescriptor("s", Types.INT()))
    changes = taken_changes(backend)
    assert changes.entries == [("s", None, "k", 1)]
    assert changes.states["s"].kind == "value"


def test_stamps_stay_where_they_are():
    backend = restored(PIECES, {"k": [(7, number(1) + number(2)), (8, number(3))]}, stamped=True)
    table = backend.typed_table("s", "list", ListStateDescriptor("s", Types.INT()).type_info)
    assert table.current == {"k": [(7, 1), (7, 2), (8, 3)]}
    backend = restored(MAP, {"k": {number(1): (7, number(2))}}, stamped=True)
    table = backend.typed_table("s", "map", Types.MAP(Types.INT(), Types.INT()))
    assert table.current == {"k": {1: (7, 2)}}


@pytest.mark.parametrize(
    ("kind", "descriptor", "why"),
    [
        (PIECES, MapStateDescriptor("s", Types.INT(), Types.INT()), "no map state"),
        (MAP, ValueStateDescriptor("s", Types.INT()), "a map state"),
    ],
)
def test_another_kind_is_refused(kind, descriptor, why):
    entries = {"k": {number(1): number(2)} if kind == MAP else [number(1)]}
    backend = restored(kind, entries)
    with pytest.raises(CheckpointError, match=f"in the savepoint of Flink is {why}"):
        backend.described(descriptor)


def test_a_longer_value_is_refused():
    backend = restored(PIECES, {"k": [number(1) + number(2)]})
    with pytest.raises(CheckpointError, match=r"at byte 4: the value is longer"):
        backend.value_state(ValueStateDescriptor("s", Types.INT()))


def test_windows_are_read_with_the_serializer_of_the_assigner():
    window = struct.pack(">qq", 1, 2)
    timers = [("event", 1, "k", window), ("processing", 5, "k", None)]
    backend = restored(PIECES, {"k": [number(1)]}, namespace=window, timers=timers)
    backend.read_windows(TimeWindowSerializer(), "merging-window-set")
    assert ("event", 1, "k", TimeWindow(1, 2)) in list(backend.timers.all())
    assert ("processing", 5, "k", None) in list(backend.timers.all())
    state = backend.value_state(ValueStateDescriptor("s", Types.INT()))
    state.set_current_namespace(TimeWindow(1, 2))
    assert state.value() == 1


def test_pickles_are_known_by_their_form():
    pickled = pickle.dumps((1, 2))
    entry = [struct.pack(">i", len(pickled)) + pickled]
    assert unpickled(entry, pickle.loads) == (1, 2)
    assert unpickled(entry * 2, pickle.loads) == [(1, 2), (1, 2)]
    assert unpickled([number(4)], pickle.loads) == number(4)
    assert unpickled({number(1): None}, pickle.loads) == {number(1): None}
