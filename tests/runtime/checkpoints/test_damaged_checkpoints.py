"""A checkpoint is read as it was written, or refused with the name of what is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints import checkpoint as checkpoints
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    complete,
    find_checkpoint,
    read_committables,
    read_metadata,
    read_states,
    verify,
)
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder, store_frames
from pyflink_on_spark._runtime.checkpoints.slot_state import (
    OperatorSubtaskState,
    TaskStateSnapshot,
    records_of,
)
from pyflink_on_spark._runtime.contract.connector import LargeCommittable
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from tests.runtime.checkpoints.checkpointed import write_file

COMMITTABLES = [("a", 1), ("b", LargeCommittable((b"x" * 40_000, b"y" * 40_000)))]
FILES = ["slot-0", "slot-1", "committables-1", "committables", "_metadata"]


def write(place):
    files = []
    for slot in range(2):
        data = OperatorSubtaskState({}, OperatorSnapshot({"list": [slot, "x" * 100]}), 128)
        state = TaskStateSnapshot(5, {"count": data}, {"source": [slot]})
        files.append(write_file(place, f"slot-{slot}", records_of(slot, state)))
    return complete(
        place,
        checkpoint_id=5,
        job_id="0" * 32,
        job_name="job",
        time=0,
        savepoint=False,
        files=files,
        committables=store_frames(COMMITTABLES, place, 1),
    )


def read(place):
    metadata = read_metadata(place)
    verify(place, metadata)
    return read_states(place, metadata), read_committables(place, metadata)


@pytest.fixture
def place(tmp_path):
    place = folder(str(tmp_path / "chk-5"))
    write(place)
    return place


def test_all_is_read_as_it_was_written(place):
    states, committables = read(find_checkpoint(f"{place.uri}/_metadata"))
    assert committables[0] == COMMITTABLES[0]
    assert tuple(committables[1][1].frames) == COMMITTABLES[1][1].frames
    assert sorted(states.operators["count"]) == [0, 1]
    assert sorted(states.sources["source"]) == [0, 1]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["cut", "emptied", "changed", "gone"])
def test_what_is_damaged_is_named(place, name, damage):
    path = Path(place.path) / name
    content = path.read_bytes()
    middle = len(content) // 2
    if damage == "gone":
        path.unlink()
    else:
        other = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
        path.write_bytes({"cut": content[:middle], "emptied": b"", "changed": other}[damage])
    with pytest.raises(CheckpointError, match=rf"chk-5.*{name}"):
        read(place)


def test_a_checkpoint_that_cannot_be_written_is_none(tmp_path, monkeypatch):
    place = folder(str(tmp_path / "chk-5"))

    def full(_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match=r"cannot write .*slot-0: .*No space left"):
        write(place)
    assert place.names() == []
    with pytest.raises(CheckpointError, match="no complete checkpoint"):
        read_metadata(place)


def test_a_checkpoint_without_metadata_is_not_complete(tmp_path, monkeypatch):
    place = folder(str(tmp_path / "chk-5"))
    monkeypatch.setattr(checkpoints, "METADATA", "other")
    write(place)
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match="no complete checkpoint"):
        read_metadata(place)
