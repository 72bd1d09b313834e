"""The content of large committables is in a file of the checkpoint, and is read piece by piece."""

from __future__ import annotations

import os
import pickle
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    complete,
    find_checkpoint,
    read_committables,
    read_metadata,
)
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import (
    files_of_frames,
    folder,
    in_folder,
    store_frames,
)
from pyflink_on_spark._runtime.contract.connector import LargeCommittable, pack, unpack
from pyflink_on_spark.state import CheckpointContents, SavepointWriter

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Rows(LargeCommittable):
    """A committable."""

    number: int


def rows(number, size=MEGABYTE, frames=3):
    return Rows(tuple(bytes([number, n]) * (size // 2) for n in range(frames)), number)


@pytest.fixture
def place(tmp_path):
    return folder(str(tmp_path / "chk-1"))


def finish(place, committables):
    return complete(
        place,
        checkpoint_id=1,
        job_id="0" * 32,
        job_name="job",
        time=0,
        savepoint=True,
        files=[],
        committables=committables,
    )


def test_committables_of_a_process_share_a_file(place):
    given = [("a", rows(1)), ("b", "small"), ("a", rows(2, frames=1)), ("b", Rows((), 3))]
    stored = store_frames(given, place, 7)
    assert place.names() == ["committables-7"]
    assert [file.name for file in files_of_frames(stored)] == ["committables-7"]
    assert [type(thing) for _, thing in stored] == [Rows, str, Rows, Rows]
    for (sink, thing), (name, before) in zip(stored, given, strict=True):
        assert sink == name
        if thing == "small":
            continue
        assert thing.number == before.number
        assert list(thing.frames) == list(thing.frames) == list(before.frames)


def test_what_travels_to_the_driver_is_small(place):
    stored = store_frames([(1, rows(n)) for n in range(5)], place, 0)
    travelled = pickle.dumps(stored)
    assert len(travelled) < 1_000
    assert in_folder(pickle.loads(travelled), place) == stored


def test_few_bytes_need_no_file(place):
    given = [("a", rows(1, 1000)), ("b", rows(2, 1000))]
    assert store_frames(given, place, 0) == given
    assert files_of_frames(given) == ()
    assert not Path(place.path).exists()


def test_a_checkpoint_can_be_moved(place, tmp_path):
    finish(place, store_frames([("a", rows(1))], place, 0))
    moved = tmp_path / "elsewhere" / "savepoint"
    moved.parent.mkdir()
    Path(place.path).rename(moved)
    there = find_checkpoint(str(moved))
    ((_, found),) = read_committables(there, read_metadata(there))
    assert tuple(found.frames) == rows(1).frames


@pytest.mark.parametrize("size", [MEGABYTE, 100])
def test_a_savepoint_from_another_one_has_its_own_content(place, tmp_path, size):
    finish(place, store_frames([("a", rows(1)), ("a", rows(2, size))], place, 3))
    new = tmp_path / "new"
    SavepointWriter(CheckpointContents(place.uri)).write(str(new))
    for path in Path(place.path).iterdir():
        path.unlink()
    there = find_checkpoint(str(new))
    found = read_committables(there, read_metadata(there))
    assert [tuple(thing.frames) for _, thing in found] == [rows(1).frames, rows(2, size).frames]


def test_stored_content_that_is_little_is_copied_with_its_file(place, tmp_path, monkeypatch):
    monkeypatch.setattr("pyflink_on_spark._runtime.checkpoints.checkpoint_files._FEW", 0)
    finish(place, store_frames([("a", rows(1, 10))], place, 3))
    monkeypatch.undo()
    there = folder(str(tmp_path / "new"))
    SavepointWriter(CheckpointContents(place.uri)).write(there.uri)
    ((_, found),) = read_committables(there, read_metadata(there))
    assert found.frames.place is there
    assert tuple(found.frames) == rows(1, 10).frames


def test_what_was_removed_or_changed_meanwhile_is_named(place):
    ((_, stored),) = store_frames([("a", rows(1))], place, 0)
    path = Path(place.path, "committables-0")
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :])
    with pytest.raises(CheckpointError, match=r"chk-1/committables-0.* damaged at byte"):
        list(stored.frames)
    path.write_bytes(content[:middle])
    with pytest.raises(CheckpointError, match="chk-1/committables-0 is damaged"):
        list(stored.frames)
    path.unlink()
    with pytest.raises(CheckpointError, match=r"cannot read .*chk-1/committables-0"):
        list(stored.frames)


def test_a_full_disk_leaves_nothing(place, monkeypatch):
    def full(_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match=r"cannot write .*committables-0: .*No space left"):
        store_frames([("a", rows(1))], place, 0)
    assert place.names() == []


def test_frames_are_of_a_size_that_memory_has():
    things = [bytes([n]) * MEGABYTE for n in range(30)]
    frames = pack(things)
    assert max(len(unpack(frame)) for frame in frames) <= 8
    assert [thing for frame in frames for thing in unpack(frame)] == things
    assert len(pack([b"x" * 20 * MEGABYTE])) == 1
    assert unpack(pack([])[0]) == []


def test_one_frame_is_in_memory_at_a_time(place):
    ((_, stored),) = store_frames([("a", rows(1, frames=40))], place, 0)
    tracemalloc.start()
    try:
        size = sum(len(frame) for frame in stored.frames)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size == 40 * MEGABYTE
    assert peak < 8 * MEGABYTE
