"""The content of large committables goes to the folder of a checkpoint, and past the driver."""

from __future__ import annotations

import pickle
import shutil

import pytest

from pyflink_on_spark._runtime.checkpoints.checkpoint_files import StoredFrames, folder, in_folder
from pyflink_on_spark.testing.local_engine import LocalHosts
from tests.job.simulated_driver import Driver, after_a_checkpoint, run_to_the_end
from tests.job.simulated_world import World, expected_lines
from tests.runtime.harness import FakeClock
from tests.runtime.large_rows import elements_of, large_job
from tests.runtime.many_hosts import ManyHosts
from tests.runtime.rounds import CutSource

ELEMENTS = range(8)


@pytest.fixture
def job():
    return large_job(CutSource(ELEMENTS), 2)


@pytest.fixture(params=["local", "many"])
def hosts(request, job):
    def nowhere(channel):
        return lambda things: None

    if request.param == "local":
        made = LocalHosts(job.stages, job.settings, FakeClock(), nowhere)
        made.group.open()
        while not made.group.paused and not made.group.ended:
            made.turn()
        yield made
        made.group.close(failed=True)
    else:
        made = ManyHosts(job, 2, FakeClock(), lambda slot: nowhere)
        while not made.paused and not made.ended:
            made.turn()
        yield made
        made.close(failed=True)


def prepared(answers, where):
    things = [thing for answer in answers.values() for thing in answer.committables]
    return in_folder(things, folder(where))


def test_an_answer_to_the_driver_is_small(hosts, tmp_path):
    answers = hosts.snapshot(1, (tmp_path / "chk-1").as_uri())
    assert len(pickle.dumps(answers)) < 3_000
    size = sum(path.stat().st_size for path in tmp_path.glob("chk-1/committables-*"))
    assert size > len(ELEMENTS) * 1024 * 1024
    things = prepared(answers, str(tmp_path / "chk-1"))
    assert all(isinstance(thing.frames, StoredFrames) for _, thing in things)
    assert elements_of(things) == list(ELEMENTS)


def test_what_an_aborted_checkpoint_stored_is_stored_with_the_next_one(hosts, tmp_path):
    hosts.snapshot(1, (tmp_path / "chk-1").as_uri())
    hosts.notify_checkpoint_aborted(1)
    shutil.rmtree(tmp_path / "chk-1")
    answers = hosts.snapshot(2, (tmp_path / "chk-2").as_uri())
    assert elements_of(prepared(answers, str(tmp_path / "chk-2"))) == list(ELEMENTS)
    hosts.notify_checkpoint_complete(2)
    answers = hosts.snapshot(3, (tmp_path / "chk-3").as_uri())
    assert prepared(answers, str(tmp_path / "chk-3")) == []
    assert not list(tmp_path.glob("chk-3/committables-*"))


def test_checkpoints_in_memory_have_it_in_memory(hosts):
    answers = hosts.snapshot(1, None)
    things = [thing for answer in answers.values() for thing in answer.committables]
    assert all(isinstance(thing.frames, tuple) for _, thing in things)
    assert elements_of(things) == list(ELEMENTS)


def test_a_savepoint_that_was_moved_commits_its_rows(tmp_path):
    """All rows are there that the first job has committed, or the second one from the savepoint."""
    first = World(tmp_path / "first")
    with first.running():
        driver = after_a_checkpoint(first)
        driver.act()  # some elements are processed that no checkpoint has
        driver.save()
        before = first.rows()
        driver.act()
        (saved,) = first.folder.glob("savepoints/*/_metadata")
    moved = tmp_path / "moved"
    saved.parent.rename(moved)
    assert before
    assert list(moved.glob("committables-*"))
    second = World(tmp_path / "second")
    with second.running():
        run_to_the_end(second, Driver(second, 1, moved, parallelism=3, hosts=1))
    assert sorted(before + second.rows()) == sorted(expected_lines(first.elements))


def test_what_is_missing_in_a_checkpoint_is_found_before_anything_is_restored(tmp_path):
    world = World(tmp_path / "world")
    with world.running():
        after_a_checkpoint(world)
        found = list(world.newest_checkpoint().glob("committables-*"))
        assert found
        found[0].unlink()
        restored = Driver(world, 1, world.newest_checkpoint())
        restored.act()
    assert restored.state == "starts"
    assert f"{found[0].name}: " in world.log[-1]
    assert "cannot read" in world.log[-1]
