"""Keyed state leaves its operator and comes back: whole, or change by change."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.elements.immutability import wrap_key
from pyflink_on_spark._runtime.key_groups import KeyGroups
from tests.runtime.harness import FakeClock
from tests.runtime.state.backends import new_backend
from tests.runtime.state.descriptors import Adding, Descriptor
from tests.runtime.state_changes import taken_changes


class Copy:
    """A backend with one state of each kind."""

    def __init__(self, track=False, changes=()):
        self.backend = new_backend(FakeClock(), track_changes=track)
        for change in changes:
            self.backend.restore([pickle.loads(pickle.dumps(change))])
        self.value = self.backend.value_state(Descriptor("value", "v"))
        self.list = self.backend.list_state(Descriptor("list", "l"))
        self.map = self.backend.map_state(Descriptor("map", "m"))
        self.reducing = self.backend.reducing_state(Descriptor("reducing", "r", Adding()))

    def content(self):
        entries, timers = set(), []
        for group, content in self.backend.snapshot().items():
            assert all(KeyGroups(128).of(key) == group for _, _, key, _ in content.entries)
            entries |= {(name, space, key, repr(v)) for name, space, key, v in content.entries}
            timers += content.timers
        return entries, sorted(timers, key=repr)


def _clear(copy, key):
    copy.value.clear()
    copy.list.clear()
    copy.map.clear()


OPERATIONS = [
    lambda copy, key: copy.value.update(key),
    lambda copy, key: copy.list.add(key),
    lambda copy, key: copy.list.add_all([1, 2]),
    lambda copy, key: copy.list.update([3]),
    lambda copy, key: copy.map.put(key, 1),
    lambda copy, key: copy.map.put_all([("x", 1)]),
    lambda copy, key: copy.map.remove("x"),
    lambda copy, key: copy.reducing.add(2),
    lambda copy, key: copy.list.merge_namespaces("w2", ["w1", None]),
    lambda copy, key: copy.backend.drop_key(key),
    lambda copy, key: copy.backend.timers.event.register(5, key, "w"),
    lambda copy, key: copy.backend.timers.event.delete(5, key, "w"),
    lambda copy, key: copy.backend.timers.processing.register(7, key, None),
    lambda copy, key: copy.backend.timers.event.pop_due(6),
    _clear,
]
STEPS = st.tuples(
    st.sampled_from(range(len(OPERATIONS))),
    st.sampled_from(["a", "b", 1, None, wrap_key((1, "x"))]),
    st.sampled_from([None, "w1", "w2"]),
)


@given(st.lists(st.lists(STEPS, max_size=8), max_size=5))
def test_changes_rebuild_the_state(rounds):
    original = Copy(track=True)
    log = []
    for round_ in rounds:
        for operation, key, namespace in round_:
            original.backend.key = key
            for state in (original.value, original.list, original.map):
                state.set_current_namespace(namespace)
            OPERATIONS[operation](original, key)
        log.append(pickle.loads(pickle.dumps(taken_changes(original.backend))))
    assert Copy(changes=log).content() == original.content()


@given(st.lists(STEPS, max_size=20))
def test_snapshot_rebuilds_the_state(steps):
    original = Copy()
    for operation, key, namespace in steps:
        original.backend.key = key
        original.value.set_current_namespace(namespace)
        OPERATIONS[operation](original, key)
    copy = Copy()
    copy.backend.restore(pickle.loads(pickle.dumps(original.backend.snapshot())).values())
    assert copy.content() == original.content()


def test_changes_are_told_once():
    copy = Copy(track=True)
    copy.backend.key = "a"
    copy.value.update(1)
    assert taken_changes(copy.backend)
    assert not taken_changes(copy.backend)
    assert copy.value.value() == 1
    assert not taken_changes(copy.backend)


def test_only_what_changed_is_told():
    copy = Copy(track=True)
    for copy.backend.key in "abc":
        copy.value.update(copy.backend.key)
    taken_changes(copy.backend)
    copy.backend.key = "b"
    copy.value.clear()
    copy.list.add(1)
    changes = taken_changes(copy.backend)
    assert sorted(changes.entries) == [("l", None, "b", [1]), ("v", None, "b", None)]


def test_restored_state_is_no_change():
    original = Copy()
    original.backend.key = "a"
    original.value.update(1)
    original.backend.timers.event.register(1, "a", None)
    copy = Copy(track=True)
    copy.backend.restore(original.backend.snapshot().values())
    assert not taken_changes(copy.backend)


def test_key_groups_can_be_dealt_out():
    original = Copy()
    for original.backend.key in range(50):
        original.value.update(original.backend.key)
    groups = original.backend.snapshot()
    first, second = Copy(), Copy()
    first.backend.restore(content for group, content in groups.items() if group < 64)
    second.backend.restore(content for group, content in groups.items() if group >= 64)
    assert first.content()[0] | second.content()[0] == original.content()[0]
    assert not first.content()[0] & second.content()[0]


def test_untracked_changes():
    with pytest.raises(RuntimeError, match="not tracked"):
        taken_changes(Copy().backend)
