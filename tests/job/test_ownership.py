"""Two runs of one job: only the younger one commits."""

from __future__ import annotations

import os

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.coordinator import CheckpointCoordinator
from pyflink_on_spark._job.ownership import JobTakenOverError
from pyflink_on_spark._runtime.operators.sink import SinkOperator
from pyflink_on_spark._runtime.task.plan import OperatorPlan
from tests.job.test_coordinator import NeverTwice, Prepares
from tests.runtime.harness import FakeClock


class Run:
    """One run of a job, with a sink of its own on the same outside world."""

    def __init__(self, path, name, world, restore=None):
        self.sink = NeverTwice(interrupted=False)
        self.sink.found = world
        self.hosts = Prepares()
        operator = OperatorPlan(1, "sink", SinkOperator(self.sink, 1), "sink", state_id="sink")
        settings = {
            "execution.checkpointing.dir": path.as_uri(),
            "execution.checkpointing.interval": "1 s",
            "execution.state-recovery.ignore-unclaimed-state": "true",
        }
        if restore is not None:
            settings["execution.state-recovery.path"] = str(restore)
        self.coordinator = CheckpointCoordinator(
            CheckpointSettings.of(settings), name, "job", [operator], {1: self.sink}, FakeClock()
        )
        self.coordinator.restore_given()
        self.coordinator.attempt_begins()

    def checkpoint(self):
        assert self.coordinator.checkpoint(self.hosts)


@pytest.fixture
def world():
    return []


def test_an_older_run_that_was_only_stopped_commits_nothing_more(tmp_path, world):
    older = Run(tmp_path, "a", world)
    older.checkpoint()
    younger = Run(tmp_path, "b", world, tmp_path / "a" / "chk-1")
    younger.checkpoint()
    before, files = list(world), set(os.listdir(tmp_path / "a"))
    for act in (older.checkpoint, older.coordinator.attempt_begins):
        with pytest.raises(JobTakenOverError, match="the job b has continued"):
            act()
    assert older.coordinator.over  # so that it never starts again
    for end in ("job_failed", "job_cancelled"):
        getattr(older.coordinator, end)()
    older.coordinator.abort([(1, "2-0")])
    assert world == before
    assert set(os.listdir(tmp_path / "a")) == files
    younger.checkpoint()


def test_of_two_runs_from_one_checkpoint_the_younger_one_wins(tmp_path, world):
    Run(tmp_path, "a", world).checkpoint()
    place = tmp_path / "a" / "chk-1"
    second, third = Run(tmp_path, "b", world, place), Run(tmp_path, "c", world, place)
    with pytest.raises(JobTakenOverError, match="the job c"):
        second.checkpoint()
    assert world == ["1-0", "1-1"]
    third.checkpoint()
    assert world == ["1-0", "1-1", "2-0", "2-1"]


def test_a_run_with_a_checkpoint_of_its_own_lives_on_when_its_ancestor_is_copied(tmp_path, world):
    Run(tmp_path, "a", world).checkpoint()
    place = tmp_path / "a" / "chk-1"
    second = Run(tmp_path, "b", world, place)
    second.checkpoint()
    Run(tmp_path, "c", [], place)
    second.checkpoint()


def test_a_savepoint_may_be_the_beginning_of_many(tmp_path, world):
    first = Run(tmp_path, "a", world)
    place = first.coordinator.savepoint_folder(str(tmp_path / "savepoints"))
    path = first.coordinator.savepoint(first.hosts, place)
    copies = [Run(tmp_path, name, [], path) for name in ("b", "c")]
    for run in (first, *copies):
        run.checkpoint()


def test_the_last_commit_is_checked_as_well(tmp_path, world):
    older = Run(tmp_path, "a", world)
    older.checkpoint()
    Run(tmp_path, "b", world, tmp_path / "a" / "chk-1")
    place = older.coordinator.savepoint_folder(str(tmp_path / "savepoints"))
    before = list(world)
    with pytest.raises(JobTakenOverError):
        older.coordinator.savepoint(older.hosts, place, stop=True)
    with pytest.raises(JobTakenOverError):
        older.coordinator.finish(older.hosts)
    assert world == before


def refusing(error):
    def refuse(place, name, content):
        raise error

    return refuse


def test_a_run_that_cannot_take_over_for_now_does_not_start(tmp_path, world, monkeypatch):
    Run(tmp_path, "a", world).checkpoint()
    refuse = refusing(OSError(28, "No space left on device"))
    monkeypatch.setattr("pyflink_on_spark._runtime.checkpoints.folder.Folder.write", refuse)
    with pytest.raises(CheckpointError, match=r"cannot take over .*No space left"):
        Run(tmp_path, "b", world, tmp_path / "a" / "chk-1")


def test_a_checkpoint_in_a_folder_that_is_read_only(tmp_path, world, caplog, monkeypatch):
    Run(tmp_path, "a", world).checkpoint()
    refuse = refusing(PermissionError("read-only"))

    with monkeypatch.context() as patched:
        patched.setattr("pyflink_on_spark._runtime.checkpoints.folder.Folder.write", refuse)
        run = Run(tmp_path, "b", world, tmp_path / "a" / "chk-1")
    assert "the owner of the checkpoints" in caplog.text
    run.checkpoint()


def test_files_that_the_driver_does_not_see_are_no_checkpoint(tmp_path, world):
    run = Run(tmp_path, "a", world)
    snapshot = run.hosts.snapshot

    def elsewhere(number, where, *args, **how):
        answers = snapshot(number, where, *args, **how)
        os.remove(tmp_path / "a" / f"chk-{number}" / "slot-1")
        return answers

    run.hosts.snapshot = elsewhere
    with pytest.raises(CheckpointError, match=r"slot-1, and the driver does not see it"):
        run.coordinator.checkpoint(run.hosts)
    assert world == []
    assert not (tmp_path / "a" / "chk-1").exists()
    assert run.coordinator.restore is None


def test_nor_are_files_that_are_cut_off(tmp_path, world):
    run = Run(tmp_path, "a", world)
    snapshot = run.hosts.snapshot

    def cut(number, where, *args, **how):
        answers = snapshot(number, where, *args, **how)
        os.truncate(tmp_path / "a" / f"chk-{number}" / "slot-0", 3)
        return answers

    run.hosts.snapshot = cut
    with pytest.raises(CheckpointError, match=r"slot-0 is damaged: 3 bytes"):
        run.coordinator.checkpoint(run.hosts)
    assert world == []
