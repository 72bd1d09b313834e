"""Lists and broadcast maps that belong to no key."""

from __future__ import annotations

import pickle

import pytest

from pyflink_on_spark._runtime.state.operator_state import (
    OperatorSnapshot,
    OperatorState,
    redistribute,
)
from tests.runtime.state.descriptors import Descriptor

RULES = Descriptor("map", "rules")


def test_broadcast_state():
    state = OperatorState().broadcast_state(RULES)
    state.put("a", 1)
    state["b"] = None
    state.put_all([("c", 3)])
    assert list(state.items()) == [("a", 1), ("b", None), ("c", 3)]
    assert "b" not in state
    del state["a"]
    state.remove("zz")
    assert list(state) == ["b", "c"]
    state.clear()
    assert state.is_empty()


def test_read_only_side():
    operator_state = OperatorState()
    state = operator_state.broadcast_state(RULES)
    view = operator_state.broadcast_state(RULES).read_only()
    state.put("a", 1)
    assert view["a"] == 1
    assert "a" in view
    assert list(view.values()) == [1]
    for name in ("put", "put_all", "remove"):
        assert not hasattr(view, name)
    with pytest.raises(TypeError):
        view["a"] = 2


def test_broadcast_state_changed_while_iterated():
    operator_state = OperatorState()
    state = operator_state.broadcast_state(RULES)
    state.put("a", 1)
    items = state.read_only().items()
    state.put("a", 2)
    with pytest.raises(RuntimeError, match="Concurrent modification detected"):
        next(items)


def test_list_states():
    state = OperatorState().list_state("offsets")
    state.add(1)
    state.add_all([2, 3])
    assert state.get() == [1, 2, 3]
    state.update([4])
    assert state.get() == [4]
    state.clear()
    assert state.get() == []


def test_snapshot_and_restore():
    original = OperatorState()
    original.list_state("l").add(1)
    original.union_list_state("u").add(2)
    original.broadcast_state(RULES).put("a", 3)
    snapshot = pickle.loads(pickle.dumps(original.snapshot()))
    original.list_state("l").add(99)
    original.broadcast_state(RULES).put("a", 99)
    copy = OperatorState()
    copy.restore(snapshot)
    assert copy.list_state("l").get() == [1]
    assert copy.union_list_state("u").get() == [2]
    assert copy.broadcast_state(RULES).get("a") == 3


def test_lists_stay_where_they_are_while_the_parallelism_does():
    parts = [
        OperatorSnapshot({"l": [1, 2, 3]}, {"u": [1]}, {"b": {"k": 0}}),
        OperatorSnapshot({"m": [4]}, {"u": [2]}, {"b": {"k": 1}}),
    ]
    shares = redistribute(parts, 2)
    assert [share.split for share in shares] == [{"l": [1, 2, 3]}, {"m": [4]}]
    assert [share.union["u"] for share in shares] == [[1, 2]] * 2


def test_redistribution():
    parts = [
        OperatorSnapshot({"l": [1, 2, 3]}, {"u": [1]}, {"b": {"k": 0}}),
        OperatorSnapshot({"l": [4, 5]}, {"u": [2]}, {"b": {"k": 1}}),
    ]
    shares = redistribute(parts, 3)
    assert [share.split["l"] for share in shares] == [[1, 2], [3, 4], [5]]
    assert [share.union["u"] for share in shares] == [[1, 2]] * 3
    assert [share.broadcast["b"]["k"] for share in shares] == [0, 1, 0]
    assert redistribute([], 2) == [OperatorSnapshot(), OperatorSnapshot()]
