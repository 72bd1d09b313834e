"""State on disk while copies of the process read it."""

from __future__ import annotations

import gc
import os
import pickle
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints import forked_records
from pyflink_on_spark._runtime.checkpoints.forked_records import CopyUnusable
from pyflink_on_spark._runtime.checkpoints.slot_state import (
    OperatorSubtaskState,
    TaskStateSnapshot,
)
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import DELTA, WHOLE, SnapshotWriter
from pyflink_on_spark._runtime.checkpoints.state_file import KEYED, StoredFile, stored_records
from pyflink_on_spark._runtime.state import disk as store_module
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.disk import DiskSettings, DiskStore, EntryDatabase
from tests.effort import share
from tests.runtime.harness import FakeClock
from tests.runtime.state.copies import WaitingCopy
from tests.runtime.state.descriptors import Descriptor, ttl
from tests.runtime.state_changes import taken_changes

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def state_backend(monkeypatch):
    """Next to nothing stays in memory, and slices have few entries."""
    monkeypatch.setattr(store_module, "_SMALLEST_GENERATION", 4)
    monkeypatch.setattr(store_module, "_MANY_SLICES", 2)
    monkeypatch.setattr(store_module, "_FIRST_GENERATION", 2)
    monkeypatch.setattr(store_module, "_SLICE", 1)
    monkeypatch.setattr(store_module, "_MERGED_PER_SLICE", 2)
    monkeypatch.setattr(store_module, "_PAGE", 3)


def new_table(**given):
    store = DiskStore(DiskSettings(**{"memory": 0, **given}))
    return store, store.table("value", track=False)


def filled(count, **given):
    store, table = new_table(**given)
    for key in range(count):
        table.put(None, key, f"before {key}")
    return store, table, {key: f"before {key}" for key in range(count)}


def read_all(table, rounds=1):
    for _ in range(rounds):
        for key in range(100):
            table.get(None, key)


def layers(store):
    return store._database._layers


def entries(table):
    return {namespace: dict(held.items()) for namespace, held in table.namespaces.items() if held}


KEYS = st.integers(0, 9)
SPACES = st.sampled_from([None, "a", "b"])
CHANGES = st.one_of(
    st.tuples(st.just("put"), SPACES, KEYS, st.integers(0, 99)),
    st.tuples(st.just("remove"), SPACES, KEYS),
    st.tuples(st.just("get"), SPACES, KEYS),
    st.tuples(st.just("append"), KEYS),
    st.tuples(st.just("drop"), st.sampled_from(["a", "b"])),
)
TURNS = st.one_of(
    st.lists(CHANGES, max_size=12),
    st.just("begin"),
    st.tuples(st.sampled_from(["end", "kill"]), st.integers(0, 3)),
)


class Model:
    """A table on disk, a dict that has to be like it, and copies of both."""

    def __init__(self):
        self.store, self.table = new_table()
        self.model = {}
        self.copies = []

    def change(self, what, *arguments):
        getattr(self, what)(*arguments)

    def put(self, space, key, value):
        self.table.put(space, key, [value])
        self.model.setdefault(space, {})[key] = [value]

    def remove(self, space, key):
        self.table.remove(space, key)
        self.model.get(space, {}).pop(key, None)

    def get(self, space, key):
        assert self.table.get(space, key) == self.model.get(space, {}).get(key)

    def append(self, key):
        found = self.table.get(None, key)
        if found is not None:
            found.append("in place")
            self.model[None][key] = list(found)

    def drop(self, space):
        self.table.namespaces.pop(space, None)
        self.model.pop(space, None)

    def begin(self):
        try:
            copy = WaitingCopy(self.table, self.store)
        except CopyUnusable:
            assert len(self.copies) >= 3
        else:
            self.copies.append((copy, self.expected()))

    def expected(self):
        return {
            space: {key: list(value) for key, value in held.items()}
            for space, held in self.model.items()
            if held
        }

    def end(self, index):
        copy, expected = self.copies.pop(index)
        assert {space: held for space, held in copy.entries().items() if held} == expected

    def kill(self, index):
        self.copies.pop(index)[0].kill()

    def check(self):
        assert entries(self.table) == self.expected()


@given(st.lists(TURNS, min_size=1, max_size=14))
@settings(max_examples=share(60))
def test_copies_that_overlap_with_changes(turns):
    state = Model()
    try:
        for turn in turns:
            if turn == "begin":
                state.begin()
            elif isinstance(turn, list):
                for change in turn:
                    state.change(*change)
            elif turn[1] < len(state.copies):
                state.change(*turn)
            state.check()
        while state.copies:
            state.end(0)
        state.check()
        read_all(state.table, 4)
        assert not layers(state.store)
        state.check()
    finally:
        for copy, _ in state.copies:
            copy.kill()
        state.store.close()


ROWS = st.sampled_from([(1, b"sa"), (1, b"sb"), (2, b"sa")])


class Rows:
    """A database, and the bytes of its files when copies began."""

    def __init__(self):
        self.database = EntryDatabase((), 0, 0)
        self.model = {}
        self.copies = []

    def put(self, row, value):
        self.database.write([(*row, None, value)])
        self.model[row] = value

    def remove(self, row):
        self.database.write([(*row, None, None)])
        self.model.pop(row, None)

    def begin(self):
        ended = []
        if self.database.freeze(lambda: bool(ended)):
            files = [os.dup(number) for number in self.database.descriptors]
            self.copies.append((ended, {file: content(file) for file in files}))

    def end(self):
        if self.copies:
            ended, files = self.copies.pop(0)
            ended.append(True)
            for file in files:
                os.close(file)

    def merge(self, count):
        if self.database.mergeable:
            self.database.merge(count)

    def check(self):
        for _, files in self.copies:
            for file, before in files.items():
                assert content(file) == before
        for space in (1, 2):
            expected = {row[1]: value for row, value in self.model.items() if row[0] == space}
            found = {name: value for name, _, value in self.database.page(space, b"", 99) if value}
            assert found == expected
            for name in (b"sa", b"sb"):
                assert self.database.find(space, name) == expected.get(name)


def content(file):
    return os.pread(file, os.fstat(file).st_size, 0)


STEPS = st.one_of(
    st.tuples(st.just("put"), ROWS, st.sampled_from([b"x", b"y", b"z" * 5000])),
    st.tuples(st.just("remove"), ROWS),
    st.tuples(st.just("begin")),
    st.tuples(st.just("end")),
    st.tuples(st.just("merge"), st.sampled_from([1, 2, None])),
)


@given(st.lists(STEPS, min_size=15, max_size=30))
@settings(max_examples=share(120))
def test_nothing_changes_that_a_copy_reads(steps):
    rows = Rows()
    for step, *arguments in steps:
        getattr(rows, step)(*arguments)
        rows.check()
    while rows.copies:
        rows.end()
    rows.database.close()


def test_a_copy_that_is_killed_holds_nothing_back():
    store, table, model = filled(50)
    copy = WaitingCopy(table, store)
    for key in range(20):
        table.put(None, key, "after")
        model[key] = "after"
    assert layers(store)
    copy.kill()
    read_all(table)
    assert not layers(store)
    assert entries(table) == {None: model}


def test_a_copy_outlives_the_store():
    store, table, model = filled(50)
    copy = WaitingCopy(table, store)
    for key in range(50):
        table.put(None, key, "after")
    store.close()
    assert copy.entries() == {None: model}


def test_files_of_layers_have_no_names(tmp_path):
    store, table, _ = filled(50, folders=(str(tmp_path),))
    copy = WaitingCopy(table, store)
    read_all(table)
    table.put(None, 1, "after")
    read_all(table)
    assert layers(store)
    assert list(tmp_path.iterdir()) == []
    copy.kill()
    store.close()


def test_entries_are_passed_once_while_layers_are_merged():
    store, table, model = filled(60)
    copy = WaitingCopy(table, store)
    for key in range(0, 60, 2):
        table.put(None, key, "after")
        model[key] = "after"
    copy.kill()
    passing = table.namespaces[None].items()
    found = []
    for entry in passing:
        found.append(entry)
        table.get(None, len(found) % 60)
    assert not layers(store)
    assert len(found) == 60
    assert dict(found) == model


def test_a_copy_begins_while_entries_are_passed():
    store, table, model = filled(60)
    found = {}
    copies = []
    for key, value in table.namespaces[None].items():
        found[key] = value
        if len(found) in (10, 40):
            copies.append(WaitingCopy(table, store))
        table.put(None, key, "after")
    assert found == model
    assert [copy.entries()[None] for copy in copies] == [
        {k: "after" if k in list(found)[:9] else v for k, v in model.items()},
        {k: "after" if k in list(found)[:39] else v for k, v in model.items()},
    ]
    assert entries(table) == {None: dict.fromkeys(range(60), "after")}


def test_a_namespace_that_goes_while_a_copy_lives():
    store, table = new_table()
    for key in range(50):
        table.put("window", key, "before")
        table.put("other", key, "before")
    copy = WaitingCopy(table, store)
    for key in range(50):
        table.put("window", key, "after")
    del table.namespaces["window"]
    gc.collect()
    read_all(table)
    assert copy.entries()["window"] == dict.fromkeys(range(50), "before")
    table.put(None, 1, 1)
    read_all(table)
    assert not layers(store)
    query = "SELECT count(DISTINCT space), count(*) FROM entries"
    assert store._database.connection.execute(query).fetchone() == (2, 51)


def test_layers_share_the_memory_of_the_database():
    store, table, _ = filled(200, memory=4_000_000)
    connection = store._database.connection

    def caches():
        schemas = ["main", *layers(store)]
        return [-connection.execute(f"PRAGMA {s}.cache_size").fetchone()[0] for s in schemas]

    before = caches()
    copy = WaitingCopy(table, store)
    for key in range(20_000):
        table.put(None, key, "after")
    during = caches()
    assert len(during) == 2
    assert sum(during) == sum(before)
    assert store.cached <= 2 * store.capacity
    copy.kill()
    store.close()


def test_many_copies_in_a_row_leave_few_layers():
    store, table, model = filled(50)
    most = 0
    for number in range(12):
        copy = WaitingCopy(table, store)
        for key in range(number, number + 8):
            table.put(None, key, number)
        assert copy.entries() == {None: model}
        model.update(dict.fromkeys(range(number, number + 8), number))
        most = max(most, len(layers(store)))
    assert 1 < most <= 4
    assert entries(table) == {None: model}


def backend(store, count=50):
    made = KeyedStateBackend(FakeClock(), disk=store)
    for key in range(count):
        made.table("s", "value").put(None, key, "a")
    return made


def checkpoint(tmp_path, state, contents=WHOLE):
    writer = SnapshotWriter(1, str(tmp_path / "chk-1"), contents, 0, {}, few=10)
    keyed = writer.taken(state)
    writer.write(0, TaskStateSnapshot(1, {"o": OperatorSubtaskState(keyed)}))
    return writer


def test_many_copies_at_once_are_too_many(tmp_path):
    store, table, model = filled(50)
    copies = []
    for number in range(4):
        copies.append(WaitingCopy(table, store))
        for key in range(20):
            table.put(None, key, number)
    with pytest.raises(CopyUnusable):
        WaitingCopy(table, store)
    for number, copy in enumerate(copies):
        seen = dict(model)
        if number:
            seen.update(dict.fromkeys(range(20), number - 1))
        assert copy.entries() == {None: seen}


@pytest.mark.parametrize("trouble", [threading.Event().wait, lambda: 1 / 0])
def test_state_is_written_at_once_if_a_copy_cannot_read(tmp_path, monkeypatch, trouble):
    monkeypatch.setattr(forked_records, "_LONGEST_START_SECONDS", 0.1)
    store = DiskStore(DiskSettings(memory=0))
    state = backend(store)
    monkeypatch.setattr(DiskStore, "start_in_copy", lambda _: trouble())
    children, fork = [], forked_records._fork
    monkeypatch.setattr(forked_records, "_fork", lambda: children.append(fork()) or children[-1])
    writer = checkpoint(tmp_path, state)
    assert not writer._copies
    for key in range(50):
        state.table("s", "value").put(None, key, "after")
    assert not layers(store)
    writer.finish()
    (child,) = children
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)


def test_a_checkpoint_that_is_abandoned_holds_nothing_back(tmp_path):
    store = DiskStore(DiskSettings(memory=0))
    state = backend(store)
    writer = checkpoint(tmp_path, state)
    assert len(writer._copies) == 1
    writer.abandon(TimeoutError())
    for key in range(50):
        state.table("s", "value").put(None, key, "after")
    assert not layers(store)


def test_a_process_that_cannot_be_copied_holds_nothing_back(tmp_path, monkeypatch):
    def refuse():
        raise OSError("Cannot allocate memory")

    store = DiskStore(DiskSettings(memory=0))
    state = backend(store)
    monkeypatch.setattr(os, "fork", refuse)
    with pytest.raises(CheckpointError):
        checkpoint(tmp_path, state)
    for key in range(50):
        state.table("s", "value").put(None, key, "after")
    assert not layers(store)


def test_a_copy_drops_what_has_expired(tmp_path):
    clock = FakeClock()
    state = KeyedStateBackend(clock, disk=DiskStore(DiskSettings(memory=0)))
    value = state.value_state(Descriptor("value", "v", ttl=ttl(1000, full_snapshot=True)))
    for state.key in range(50):
        value.update("old")
    clock.time += 2000
    for state.key in range(50, 80):
        value.update("new")
    table = state.table("v", "value")
    before = dict(table.namespaces[None].items())
    writer = checkpoint(tmp_path, state)
    assert len(writer._copies) == 1
    file, _ = writer.finish()
    assert dict(table.namespaces[None].items()) == before
    assert {value for _, value in before.values()} == {"old", "new"}
    held = next(tmp_path.rglob(file.name)).read_bytes()
    assert b"new" in held
    assert b"old" not in held


def test_a_copy_writes_changes(tmp_path):
    store = DiskStore(DiskSettings(memory=0))
    state = KeyedStateBackend(FakeClock(), track_changes=True, disk=store)
    value = state.value_state(Descriptor("value", "v"))
    for state.key in range(100):
        value.update("before")
    taken_changes(state)
    for state.key in range(40):
        value.update("changed")
    for state.key in range(40, 60):
        value.clear()
    writer = checkpoint(tmp_path, state, DELTA)
    assert len(writer._copies) == 1
    for state.key in range(30):
        value.update("after")
    path = next(tmp_path.rglob(writer.finish()[0].name))
    file = StoredFile("changes", path.stat().st_size, lambda: path.open("rb"))
    found = {
        key: changed
        for head, content in stored_records(file)
        if head.kind == KEYED
        for _, _, key, changed in pickle.loads(content.read()).entries
    }
    assert found == {key: "changed" if key < 40 else None for key in range(60)}
    assert sorted(entry[2:] for entry in taken_changes(state).entries) == [
        (key, "after") for key in range(30)
    ]
