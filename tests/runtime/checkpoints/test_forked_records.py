"""Much state is written by a copy of the process, which keeps it as it was."""

from __future__ import annotations

import os
import pickle
import signal
import threading

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import complete, read_states
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.checkpoints.slot_state import (
    OperatorSubtaskState,
    TaskStateSnapshot,
    deserialize,
)
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import BASE, WHOLE, SnapshotWriter
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.disk import DiskStore
from tests.runtime.state_changes import taken_changes

KEYS = range(50)


def each(value):
    return {key: value for key in KEYS}  # noqa: C420 - a list as the value of each is meant


@pytest.fixture(autouse=True, params=[lambda: None, DiskStore], ids=["memory", "disk"])
def store(request, monkeypatch):
    monkeypatch.setitem(globals(), "new_store", request.param)


def new_store():
    """Return where state is."""


def backend(values, track=False):
    made = KeyedStateBackend(SystemClock(), track_changes=track, disk=new_store())
    table = made.table("s", "value")
    for key in KEYS:
        table.put(None, key, values)
    return made


def writer(where, contents=WHOLE):
    return SnapshotWriter(1, str(where), contents, 0, {}, few=10)


def write(snapshots, *backends):
    for index, state in enumerate(backends):
        keyed = snapshots.taken(state)
        snapshots.write(index, TaskStateSnapshot(1, {"o": OperatorSubtaskState(keyed)}))


def stored(where, file):
    place = folder(str(where))
    metadata = complete(
        place,
        checkpoint_id=1,
        job_id="",
        job_name="",
        time=0,
        savepoint=False,
        files=[file],
        committables=[],
    )
    parts = read_states(place, metadata).operators["o"]
    return {
        index: {
            key: value
            for pieces in part.keyed.values()
            for piece in pieces
            for key, value in deserialize(piece.read()).tables["s"][None].items()
        }
        for index, part in parts.items()
    }


def no_copy_is_left(snapshots, made=1):
    assert len(snapshots._copies) == made
    for copy in snapshots._copies:
        with pytest.raises(ChildProcessError):
            os.waitpid(copy._process, os.WNOHANG)
    return True


def files_in(where):
    return [name for _, _, names in os.walk(where) for name in names]


def test_state_is_written_as_it_was(tmp_path):
    snapshots = writer(tmp_path)
    first, second = backend(["a"]), backend(["b"])
    write(snapshots, first, second)
    for state in (first, second):
        table = state.table("s", "value")
        for key in KEYS:
            table.get(None, key).append("later")
        table.put(None, "new", ["later"])
    found = stored(tmp_path, snapshots.finish()[0])
    assert found == {0: each(["a"]), 1: each(["b"])}
    assert no_copy_is_left(snapshots, made=2)


def test_little_state_is_written_without_a_copy(tmp_path):
    snapshots = SnapshotWriter(1, str(tmp_path), WHOLE, 0, {}, few=len(KEYS))
    write(snapshots, backend(["a"]))
    assert no_copy_is_left(snapshots, made=0)
    assert stored(tmp_path, snapshots.finish()[0]) == {0: each(["a"])}


def test_changes_follow_the_moment_of_the_copy(tmp_path):
    state = backend("a", track=True)
    snapshots = writer(tmp_path / "1", BASE)
    write(snapshots, state)
    table = state.table("s", "value")
    table.put(None, 3, "b")
    table.changed[None].add(3)
    snapshots.finish()
    assert taken_changes(state).entries == [("s", None, 3, "b")]


def test_another_thread_waits(tmp_path):
    snapshots, done = writer(tmp_path), threading.Event()
    write(snapshots, backend("a"))
    snapshots.finish_later(done.set)
    assert snapshots.finishing
    assert done.wait(30)
    assert snapshots.finished
    assert stored(tmp_path, snapshots.result()[0]) == {0: each("a")}


def test_a_process_that_cannot_be_copied(tmp_path, monkeypatch):
    def refuse():
        raise OSError("Cannot allocate memory")

    monkeypatch.setattr(os, "fork", refuse)
    snapshots = writer(tmp_path)
    with pytest.raises(CheckpointError, match=r"cannot be copied.*allocate memory"):
        write(snapshots, backend("a"))
    snapshots.abandon(TimeoutError())
    assert files_in(tmp_path) == []


class NotPicklable:
    def __reduce__(self):
        raise pickle.PicklingError("not this one")


def test_what_cannot_be_pickled_is_named(tmp_path):
    snapshots = writer(tmp_path)
    write(snapshots, backend(NotPicklable()))
    with pytest.raises(RuntimeError, match="not this one"):
        snapshots.finish()
    assert files_in(tmp_path) == []
    assert no_copy_is_left(snapshots)


class Suicidal:
    def __reduce__(self):
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_copy_that_is_killed_leaves_nothing(tmp_path):
    snapshots = writer(tmp_path)
    write(snapshots, backend(Suicidal()), backend("b"))
    with pytest.raises(CheckpointError, match="was killed"):
        snapshots.finish()
    assert files_in(tmp_path) == []
    assert no_copy_is_left(snapshots, made=2)


class Blocking:
    def __reduce__(self):
        threading.Event().wait()


@pytest.mark.parametrize("later", [False, True])
def test_an_abandoned_checkpoint_leaves_nothing(tmp_path, later):
    snapshots, done = writer(tmp_path), threading.Event()
    write(snapshots, backend(Blocking()), backend("b"))
    if later:
        snapshots.finish_later(done.set)
    snapshots.abandon(TimeoutError())
    if later:
        assert done.wait(30)
        with pytest.raises(CheckpointError):
            snapshots.result()
    assert files_in(tmp_path) == []
    assert no_copy_is_left(snapshots, made=2)
