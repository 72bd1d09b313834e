"""Sorted maps: the order of keys, whatever came in between."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.state.map_state import SortedEntries, SortedMapState
from tests.runtime.harness import FakeClock
from tests.runtime.state.backends import new_backend
from tests.runtime.state.descriptors import Descriptor
from tests.runtime.state_changes import taken_changes

SORTED = Descriptor("sorted map", "sorted")


def backend_and_state(**settings):
    backend = new_backend(FakeClock(), **settings)
    backend.key = "k"
    return backend, backend.state(SORTED, SortedMapState)


def filled(*pairs):
    _, state = backend_and_state()
    state.put_all(pairs)
    return state


def test_reading_in_order():
    state = filled((5, "e"), (1, "a"), (3, "c"), (9, "i"))
    assert state.first_entry() == (1, "a")
    assert state.last_entry() == (9, "i")
    assert list(state.items()) == [(1, "a"), (3, "c"), (5, "e"), (9, "i")]
    assert list(state.keys()) == list(state) == [1, 3, 5, 9]
    assert list(state.values()) == ["a", "c", "e", "i"]


def test_ranges():
    state = filled((5, "e"), (1, "a"), (3, "c"), (9, "i"))
    assert [key for key, _ in state.head_map(5)] == [1, 3]
    assert [key for key, _ in state.head_map(4)] == [1, 3]
    assert [key for key, _ in state.tail_map(5)] == [5, 9]
    assert [key for key, _ in state.tail_map(6)] == [9]
    assert list(state.sub_map(3, 9)) == [(3, "c"), (5, "e")]
    assert list(state.sub_map(9, 3)) == list(state.sub_map(6, 8)) == []


def test_without_entries():
    _, state = backend_and_state()
    assert state.first_entry() is None
    assert state.last_entry() is None
    assert state.is_empty()
    assert list(state.head_map(5)) == list(state.tail_map(5)) == list(state.items()) == []
    state.remove(1)
    state.clear()


def test_methods_of_map_state():
    state = filled((2, "b"))
    state[1] = "a"
    state.put_all({3: "c", 4: None}.items())
    assert state.get(1) == state[1] == "a"
    assert 3 in state
    assert not state.contains(4)
    assert state.get(7) is None
    del state[1]
    state.remove(2)
    assert state.first_entry() == (3, "c")
    state.clear()
    assert state.is_empty()


def test_each_key_has_its_own():
    backend, state = backend_and_state()
    state.put(1, "k")
    backend.key = "other"
    assert state.first_entry() is None
    state.put(0, "o")
    backend.key = "k"
    assert state.first_entry() == (1, "k")


def test_changed_while_iterated():
    state = filled((1, "a"), (2, "b"), (3, "c"))
    entries = state.tail_map(1)
    next(entries)
    state.put(9, "i")
    with pytest.raises(RuntimeError, match="Concurrent modification"):
        next(entries)


def test_removed_while_iterated():
    state = filled((1, "a"), (2, "b"), (3, "c"), (4, "d"))
    entries = state.sub_map(2, 4)
    assert next(entries) == (2, "b")
    entries.remove()
    assert list(entries) == [(3, "c")]
    assert list(state) == [1, 3, 4]


def test_keys_that_have_no_order():
    state = filled((1, "a"))
    with pytest.raises(TypeError, match="not supported between"):
        state.put("b", 2)
    with pytest.raises(ValueError, match="nan has no place in an order"):
        state.put(float("nan"), 2)
    state.put(0, "z")
    assert list(state) == [0, 1]


def test_snapshot_and_restore():
    backend, state = backend_and_state()
    state.put_all([(3, "c"), (1, "a")])
    groups = pickle.loads(pickle.dumps(backend.snapshot()))
    state.put(0, "later")
    copy, restored = backend_and_state()
    copy.restore(groups.values())
    assert list(restored.items()) == [(1, "a"), (3, "c")]
    restored.put(2, "b")
    assert list(restored) == [1, 2, 3]


def test_changes():
    backend, state = backend_and_state(track_changes=True)
    state.put_all([(3, "c"), (1, "a")])
    copy, restored = backend_and_state()
    copy.restore([pickle.loads(pickle.dumps(taken_changes(backend)))])
    assert restored.first_entry() == (1, "a")
    state.remove(1)
    state.remove(3)
    copy.restore([pickle.loads(pickle.dumps(taken_changes(backend)))])
    assert restored.is_empty()


def test_another_kind_of_that_name():
    backend, _ = backend_and_state()
    with pytest.raises(RuntimeError, match="already in use and not a map state"):
        backend.map_state(Descriptor("map", "sorted"))
    with pytest.raises(TypeError, match="does not describe a sorted map state"):
        backend.state(Descriptor("map", "other"), SortedMapState)


STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "put", "put", "remove", "read"]), st.integers(0, 30)),
    max_size=120,
)


@given(STEPS)
def test_any_order_of_calls(steps):
    entries, expected = SortedEntries(), {}
    for step, key in steps:
        if step == "put":
            entries.put(key, key)
            expected[key] = key
        elif step == "remove" and key in expected:
            entries.remove(key)
            del expected[key]
        elif step == "read":
            assert entries.keys() == sorted(expected)
            assert entries.position(key) == sum(known < key for known in expected)
    assert list(entries.items()) == sorted(expected.items())
    assert pickle.loads(pickle.dumps(entries)) == entries
