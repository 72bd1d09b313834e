"""Checkpoints on other file systems."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    METADATA,
    complete,
    find_checkpoint,
    read_committables,
    read_metadata,
    read_states,
    verify,
)
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder, store_frames
from pyflink_on_spark._runtime.checkpoints.state_file import KEYED, RecordHead
from pyflink_on_spark._runtime.contract.connector import LargeCommittable
from pyflink_on_spark._runtime.elements.immutability import serialize
from tests.runtime.checkpoints.checkpointed import write_file

FRAMES = (b"x" * 50_000, b"y" * 50_000)


def write(place, number, *, shared=False):
    """Write a checkpoint of one state file."""
    target = folder(f"{place}/job/chk-{number}")
    records = [
        (RecordHead(KEYED, "operator", 0, group), serialize({"n": number})) for group in range(9)
    ]
    file = write_file(target, f"slot-{number}", records, shared=shared)
    complete(
        target,
        checkpoint_id=number,
        job_id="1",
        job_name="job",
        time=0,
        savepoint=False,
        files=[file],
        committables=store_frames([("x", LargeCommittable(FRAMES))], target, 1),
    )
    return target


@pytest.mark.parametrize("shared", [False, True])
def test_a_checkpoint_is_restored(place, shared):
    written = write(place, 3, shared=shared)
    found = find_checkpoint(f"{written.uri}/{METADATA}")
    metadata = read_metadata(found)
    verify(found, metadata)
    assert metadata.checkpoint_id == 3
    ((_, committable),) = read_committables(found, metadata)
    assert tuple(committable.frames) == FRAMES
    parts = read_states(found, metadata).operators["operator"]
    assert [len(pieces) for pieces in parts[0].keyed.values()] == [1] * 9
    assert parts[0].keyed[8][0].read() == serialize({"n": 3})


def test_one_without_metadata_is_none(place):
    written = write(place, 1)
    written.remove(METADATA)
    with pytest.raises(CheckpointError, match="there is no complete checkpoint") as caught:
        read_metadata(find_checkpoint(written.uri))
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize("name", ["slot-1", "committables-1"])
def test_a_damaged_file_is_named(place, name):
    written = write(place, 1)
    content = written.read(name)
    written.write(name, content[:-1])
    metadata = read_metadata(written)
    with pytest.raises(CheckpointError, match=rf"chk-1/{name} is damaged") as caught:
        verify(written, metadata)
    assert "sesame" not in str(caught.value)


def test_old_ones_are_removed(place):
    for number in (1, 2):
        write(place, number)
    job = folder(f"{place}/job")
    assert job.names() == ["chk-1", "chk-2"]
    folder(f"{place}/job/chk-1").remove()
    folder(f"{place}/job/chk-1").remove()
    assert job.names() == ["chk-2"]
    job.remove()
    assert job.names() == []


def test_a_file_that_is_not_finished_is_not_there(place):
    target = folder(f"{place}/chk")

    def fail():
        with target.create("x") as file:
            file.write(b"half")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        fail()
    assert target.names() == []
