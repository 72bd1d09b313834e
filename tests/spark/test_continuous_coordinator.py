"""The coordinator's checkpoints of changes, with slots that are in this process; without Spark."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import find_checkpoint
from pyflink_on_spark._runtime.checkpoints.folder import folder
from pyflink_on_spark._spark.continuous.coordinator import CheckpointCoordinator
from pyflink_on_spark._spark.continuous.settings import CheckpointSettings
from tests.runtime.checkpoints.checkpointed import content, restored, slot_of, slots, write
from tests.runtime.harness import FakeClock


class Hosts:
    """Slots that write their state when they are told to."""

    def __init__(self):
        self.slots = slots(2)
        self.fails = False
        self.completed = []

    def tell(self, command, *arguments, timeout=None):
        if command == "complete":
            self.completed += arguments
            return {}
        number, where, contents = arguments
        files = write(folder(where), self.slots, number, contents)
        if self.fails:
            raise CheckpointError("a slot cannot write")
        return {slot: (file, []) for slot, file in files.items()}

    def update(self, key, value):
        slot_of(self.slots, key).states["value"].update(value)


class World:
    def __init__(self, path, **more):
        self.path, self.hosts, self.clock = path, Hosts(), FakeClock()
        settings = {
            "state.changelog.enabled": "true",
            "execution.checkpointing.interval": "1 s",
            "execution.checkpointing.dir": path.as_uri(),
            "execution.checkpointing.tolerable-failed-checkpoints": "1",
            **more,
        }
        self.coordinator = CheckpointCoordinator(
            CheckpointSettings.of(settings), "j", "job", [], {}, self.clock
        )

    def checkpoint(self):
        self.coordinator.checkpoint(self.hosts)
        return self.coordinator.restore[1]

    def is_saved(self):
        where = find_checkpoint(self.coordinator.restore[1])
        assert content(restored(where, 3)) == content(self.hosts.slots)

    def shared(self):
        return [name for name in os.listdir(self.path / "j" / "shared") if name.endswith("0")]


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    for key in range(30):
        world.hosts.update(key, f"{key} " * 20)
    return world


def test_bases_and_changes(world):
    for number in (1, 2, 3):
        world.hosts.update("x", number)
        world.checkpoint()
        world.is_saved()
    assert sorted(world.shared()) == ["base-1-slot-0", "delta-2-slot-0", "delta-3-slot-0"]
    assert sorted(os.listdir(world.path / "j")) == ["chk-3", "shared"]
    world.clock.time += 600_000
    world.checkpoint()
    world.is_saved()
    assert world.shared() == ["base-4-slot-0"]
    assert world.hosts.completed == [1, 2, 3, 4]


def test_changes_that_outgrow_their_base(world):
    world.checkpoint()
    for number in range(2, 6):
        for key in range(30):
            world.hosts.update(key, f"{number}{key} " * 20)
        world.checkpoint()
        world.is_saved()
    assert any(name.startswith("base-") for name in world.shared())
    assert "base-1-slot-0" not in world.shared()


def test_after_a_failure_nothing_is_missing(world):
    world.checkpoint()
    world.hosts.update(1, "changed")
    world.hosts.fails = True
    world.coordinator.checkpoint(world.hosts)
    assert world.coordinator.restore[0] == 1
    world.hosts.fails = False
    world.checkpoint()
    world.is_saved()
    assert world.shared() == ["base-3-slot-0"]


def test_a_new_attempt_begins_with_a_base(world):
    world.checkpoint()
    world.coordinator.attempt_begins()
    world.checkpoint()
    assert world.shared() == ["base-2-slot-0"]


def test_a_savepoint_is_whole_and_stays(world):
    world.checkpoint()
    world.hosts.update(1, "changed")
    path = world.coordinator.savepoint(world.hosts, str(world.path / "savepoints"))
    assert sorted(os.listdir(Path(path))) == ["_metadata", "committables", "slot-0", "slot-1"]
    world.is_saved()
    world.checkpoint()
    world.is_saved()
    assert sorted(world.shared()) == ["base-1-slot-0", "delta-3-slot-0"]
    world.coordinator.job_finished()
    assert os.listdir(world.path) == ["savepoints"]


def test_several_checkpoints_are_kept(tmp_path):
    world = World(tmp_path, **{"execution.checkpointing.num-retained": "2"})
    for key in range(30):
        world.hosts.update(key, f"{key} " * 20)
    places = []
    for number in range(5):
        world.hosts.update("x", number)
        places.append(world.checkpoint())
        if number == 2:
            world.coordinator.attempt_begins()
    assert sorted(os.listdir(tmp_path / "j")) == ["chk-4", "chk-5", "shared"]
    assert sorted(world.shared()) == ["base-4-slot-0", "delta-5-slot-0"]
    assert content(restored(folder(places[3]), 1)) != content(restored(folder(places[4]), 1))
