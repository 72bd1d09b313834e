"""Folding: one value, of a type of its own, for all that was added."""

from __future__ import annotations

import pickle

import pytest

from pyflink_on_spark._runtime.state.keyed_state import FoldingState
from tests.runtime.harness import FakeClock
from tests.runtime.state.backends import new_backend


class Folding:
    _kind = "folding"
    type_info = None

    def __init__(self, initial, fold):
        self.initial, self.fold = initial, fold

    def get_name(self):
        return "folded"

    def get_initial_value(self):
        return self.initial

    def get_fold_function(self):
        return self


def appended(accumulator, value):
    accumulator.append(value)
    return accumulator


def state_of(descriptor, key="k"):
    backend = new_backend(FakeClock())
    backend.key = key
    return backend, backend.state(descriptor, FoldingState)


def test_every_key_begins_with_a_copy_of_the_initial_value():
    backend, state = state_of(Folding(["start"], appended))
    assert state.get() is None
    state.add(1)
    state.add(2)
    backend.key = "other"
    state.add(3)
    assert state.get() == ["start", 3]
    backend.key = "k"
    assert state.get() == ["start", 1, 2]
    state.clear()
    assert state.get() is None
    state.add(4)
    assert state.get() == ["start", 4]


def test_none_clears():
    _, state = state_of(Folding(0, lambda accumulator, value: value))
    state.add(1)
    state.add(None)
    assert state.get() is None


def test_snapshot_and_restore():
    descriptor = Folding("", lambda text, number: text + str(number))
    backend, state = state_of(descriptor)
    state.add(1)
    copy, restored = state_of(descriptor)
    copy.restore(pickle.loads(pickle.dumps(backend.snapshot())).values())
    restored.add(2)
    assert restored.get() == "12"


def test_another_kind_of_that_name():
    backend, _ = state_of(Folding(0, max))
    with pytest.raises(RuntimeError, match="already in use and not a list state"):
        backend.table("folded", "list")
