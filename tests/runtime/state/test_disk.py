"""State on disk: what stays in memory, and what is left of it."""

from __future__ import annotations

import gc

import pytest

from pyflink_on_spark._runtime.elements.immutability import wrap_key
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.disk import (
    DiskSettings,
    DiskStore,
    decode_key,
    encode_key,
)
from tests.runtime.harness import FakeClock
from tests.runtime.state.descriptors import Descriptor

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def state_backend():
    """These tests choose the kind themselves."""


def on_disk(**settings):
    store = DiskStore(DiskSettings(**settings))
    return store, KeyedStateBackend(FakeClock(), disk=store)


def rows(store):
    return store._database.connection.execute("SELECT count(*) FROM entries").fetchone()[0]


def test_few_of_many_entries_are_in_memory():
    store, backend = on_disk(memory=200_000)
    state = backend.value_state(Descriptor("value", "v"))
    most = 0
    for backend.key in range(5000):
        state.update([backend.key])
        most = max(most, store.cached)
    assert store.capacity < 200
    assert most < 500
    assert rows(store) >= 5000 - most
    for backend.key in (0, 4999, 17):
        assert state.value() == [backend.key]
    backend.key = 5000
    assert state.value() is None
    assert sum(len(piece.entries) for piece in backend.pieces().values()) == 5000


def test_large_entries_leave_room_for_fewer():
    small, backend = on_disk(memory=3_000_000)
    for backend.key in range(10_000):
        backend.value_state(Descriptor("value", "v")).update("x")
    large, backend = on_disk(memory=3_000_000)
    for backend.key in range(10_000):
        backend.value_state(Descriptor("value", "v")).update("x" * 1000)
    assert large.capacity < small.capacity / 4


def test_entries_are_written_a_few_at_a_time(monkeypatch):
    store, backend = on_disk(memory=8_000_000)
    sizes = []
    write = store._database.write

    def counting(changes):
        sizes.append(len(changes))
        write(changes)

    monkeypatch.setattr(store._database, "write", counting)
    state = backend.value_state(Descriptor("value", "v"))
    for backend.key in range(60_000):
        state.update([backend.key])
    assert store.capacity > 5_000
    assert max(sizes[-40:]) < 800
    for backend.key in range(60_000):
        assert state.value() == [backend.key]
        state.value().append("in place")
    for backend.key in range(60_000):
        assert state.value() == [backend.key, "in place"]


@pytest.mark.parametrize("others", [100, 1000])
def test_an_object_may_be_changed_for_a_while(others):
    _, backend = on_disk(memory=8_000_000)
    state = backend.value_state(Descriptor("value", "v"))
    for backend.key in range(60_000):
        state.update([])
    all_changed = range(59_999, 30_000, -997)
    for changed in all_changed:
        backend.key = changed
        held = state.value()
        for backend.key in range(changed - 1, changed - others, -1):
            state.value()
        held.append("late")
    for backend.key in range(30_000):
        state.value()
    for backend.key in all_changed:
        assert state.value() == ["late"]


def test_an_object_changed_in_place_is_as_it_would_be_in_memory():
    _, backend = on_disk(memory=0)
    state = backend.value_state(Descriptor("value", "v"))
    backend.key = "changed"
    state.update([1])
    state.value().append(2)
    _fill(backend, state)
    backend.key = "changed"
    state.value().append(3)
    _fill(backend, state)
    backend.key = "changed"
    assert state.value() == [1, 2, 3]


def _fill(backend, state):
    for backend.key in range(1000):
        state.update(backend.key)


def test_entries_that_are_only_read_are_not_written_again():
    store, backend = on_disk(memory=0)
    state = backend.value_state(Descriptor("value", "v"))
    _fill(backend, state)
    before = store._database.connection.total_changes
    for backend.key in range(1000):
        assert state.value() == backend.key
    state.update(0)
    still_to_write = 2 * store.capacity
    assert store._database.connection.total_changes - before <= still_to_write


def test_a_namespace_goes_with_its_rows():
    store, backend = on_disk(memory=0)
    table = backend.table("v", "list")
    for window in "ab":
        entries = table.namespaces.setdefault(window, {})
        for key in range(1000):
            entries[key] = [window]
    del entries
    popped = table.namespaces.pop("a")
    assert sorted(popped) == list(range(1000))
    assert all(held == ["a"] for held in popped.values())
    del popped
    gc.collect()
    other = table.namespaces.setdefault("c", {})
    for key in range(1000):
        other[key] = 1
    assert rows(store) <= 2000
    assert len(table.namespaces["b"]) == 1000


def test_nothing_is_left_on_disk(tmp_path):
    folders = (str(tmp_path / "a"), str(tmp_path / "b"))
    store = DiskStore(DiskSettings(memory=0, folders=folders), 1)
    backend = KeyedStateBackend(FakeClock(), disk=store)
    _fill(backend, backend.value_state(Descriptor("value", "v")))
    assert not (tmp_path / "a").exists()
    assert list((tmp_path / "b").iterdir()) == []
    backend.close()


@pytest.mark.parametrize(
    "key",
    ["", "a", "\ud800", 0, -5, 2**90, b"", b"s", None, *map(wrap_key, [True, 1.0, (1,), [1]])],
)
def test_keys_are_read_back(key):
    encoded, original = encode_key(key)
    assert decode_key(encoded, original) == key
    assert type(decode_key(encoded, original)) is type(key)


def test_keys_that_differ_are_written_differently():
    keys = ["1", 1, b"1", "s1", None, "None", *map(wrap_key, [True, 1.0, (1,), [1], ("1",)])]
    assert len({encode_key(key)[0] for key in keys}) == len(keys)
    first, second = (wrap_key(("ab", part)) for part in ("ab", b"ab".decode()))
    assert encode_key(first)[0] == encode_key(second)[0]


class Entries:
    """Entries on disk, and a dict that has to be like them."""

    def __init__(self, table):
        self.table, self.model = table, {}

    def load(self, entries):
        self.table.put_all("w", entries)
        self.model.update(entries)
        held = self.table.namespaces["w"]
        assert len(held) == len(self.model)
        assert dict(held.items()) == self.model


def test_many_entries_are_loaded_at_once():
    store, _ = on_disk(memory=0)
    entries = Entries(store.table("value", track=False))
    entries.load(dict.fromkeys(range(1000), "first"))
    assert rows(store) == 1000
    assert store.cached == 0
    held = entries.table.namespaces["w"]
    for key in range(50):
        held[key] = entries.model[key] = "in memory"
    del held[3], entries.model[3]
    entries.load(dict.fromkeys(range(0, 1500, 2), "second"))
    entries.load(dict.fromkeys(range(1490, 1510), "few"))
    assert all(held[key] == value for key, value in entries.model.items())


def test_entries_that_are_loaded_while_a_copy_lives_are_not_in_its_files():
    store, _ = on_disk(memory=0)
    entries = Entries(store.table("value", track=False))
    entries.load(dict.fromkeys(range(1000), "first"))
    lives = [True]
    assert store.freeze(lambda: not lives)
    entries.load(dict.fromkeys(range(500, 1500), "second"))
    query = "SELECT count(*) FROM main.entries"
    assert store._database.connection.execute(query).fetchone() == (1000,)
    lives.clear()
    entries.load(dict.fromkeys(range(700), "third"))
    for key in range(1500):
        assert entries.table.get("w", key) == entries.model[key]
