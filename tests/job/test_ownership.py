"""Two runs of one job: only the younger one commits."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints import ownership
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.checkpoints.coordinator import CheckpointCoordinator
from pyflink_on_spark._job.checkpoints.ownership import (
    OWNER,
    JobTakenOverError,
    Moment,
    Program,
    this_moment,
    this_program,
)
from pyflink_on_spark._runtime.checkpoints.checkpoint import restored_positions
from pyflink_on_spark._runtime.contract.plan import OperatorPlan
from pyflink_on_spark._runtime.elements.time import watch
from pyflink_on_spark._runtime.operators.stateless import SinkOperator
from tests.job.simulated_driver import Driver, after_a_checkpoint, run_to_the_end
from tests.job.simulated_world import World
from tests.job.test_coordinator import NeverTwice, Prepares
from tests.runtime.harness import FakeClock

NOT_KEPT = {
    "execution.checkpointing.externalized-checkpoint-retention": "NO_EXTERNALIZED_CHECKPOINTS"
}


class Run:
    """One run of a job, with a sink of its own on the same outside world."""

    def __init__(self, path, name, world, restore=None, clock=None, program=None, **settings):
        self.sink = NeverTwice(interrupted=False)
        self.sink.found = world
        self.hosts = Prepares()
        operator = OperatorPlan(1, "sink", SinkOperator(self.sink, 1), "sink", state_id="sink")
        settings = {
            "execution.checkpointing.dir": path.as_uri(),
            "execution.checkpointing.interval": "1 s",
            "execution.state-recovery.ignore-unclaimed-state": "true",
            **settings,
        }
        if restore is not None:
            settings["execution.state-recovery.path"] = str(restore)
        self.coordinator = CheckpointCoordinator(
            CheckpointSettings.of(settings),
            name,
            "job",
            [operator],
            {1: self.sink},
            clock or FakeClock(),
            program=program or Program(name, 0),
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


def test_a_checkpoint_that_was_exchanged_for_an_older_one_is_not_restored(tmp_path, world):
    run = Run(tmp_path, "a", world, **{"execution.checkpointing.num-retained": "2"})
    run.checkpoint()
    run.checkpoint()
    assert restored_positions(run.coordinator.restore, ["source"], {}) == {}
    home = tmp_path / "a"
    shutil.rmtree(home / "chk-2")
    shutil.copytree(home / "chk-1", home / "chk-2")
    with pytest.raises(CheckpointError, match="chk-2 has changed since the driver has read it"):
        restored_positions(run.coordinator.restore, ["source"], {})


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
    monkeypatch.setattr(
        "pyflink_on_spark._runtime.checkpoints.checkpoint_files.Folder.write", refuse
    )
    with pytest.raises(CheckpointError, match=r"cannot take over .*No space left"):
        Run(tmp_path, "b", world, tmp_path / "a" / "chk-1")


def test_a_checkpoint_in_a_folder_that_is_read_only(tmp_path, world, caplog, monkeypatch):
    Run(tmp_path, "a", world).checkpoint()
    refuse = refusing(PermissionError("read-only"))

    with monkeypatch.context() as patched:
        patched.setattr(
            "pyflink_on_spark._runtime.checkpoints.checkpoint_files.Folder.write", refuse
        )
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


@contextmanager
def hanging(step, act):
    """Let something else happen while a run hangs at a step."""
    waiting = [act]

    def meanwhile(name):
        if name == step and waiting:
            waiting.pop()()

    unwatch = watch(meanwhile)
    try:
        yield
    finally:
        unwatch()
    assert not waiting


def test_a_run_that_hangs_before_it_takes_over_leaves_the_job_to_the_next_one(tmp_path, world):
    Run(tmp_path, "a", world).checkpoint()
    place, others = tmp_path / "a" / "chk-1", []

    def meanwhile():
        others.append(Run(tmp_path, "c", world, place))
        others[0].checkpoint()

    with (
        hanging("restore: the checkpoint is read", meanwhile),
        pytest.raises(JobTakenOverError, match="the job c has continued"),
    ):
        Run(tmp_path, "b", world, place)
    others[0].checkpoint()
    assert world == ["1-0", "1-1", "2-0", "2-1", "3-0", "3-1"]


@pytest.mark.parametrize("act", ["checkpoint", "end"])
def test_a_run_whose_predecessor_is_alive_does_not_start(tmp_path, world, act):
    older = Run(tmp_path, "a", world)
    older.checkpoint()
    place = tmp_path / "a" / "chk-1"
    meanwhile = older.checkpoint if act == "checkpoint" else older.coordinator.job_finished
    with (
        hanging("restore: the checkpoint is read", meanwhile),
        pytest.raises(CheckpointError, match="was still running"),
    ):
        Run(tmp_path, "b", world, place)
    assert world == ["1-0", "1-1", "2-0", "2-1"][: len(world)]


def test_a_checkpoint_that_is_completed_too_late_is_removed(tmp_path, world):
    older = Run(tmp_path, "a", world)
    older.checkpoint()
    younger = []
    with (
        hanging(
            "checkpoint: the committables are written",
            lambda: younger.append(Run(tmp_path, "b", world, tmp_path / "a" / "chk-1")),
        ),
        pytest.raises(JobTakenOverError),
    ):
        older.checkpoint()
    assert not (tmp_path / "a" / "chk-2").exists()
    assert (tmp_path / "a" / "chk-1").exists()
    younger[0].checkpoint()
    assert world == ["1-0", "1-1", "2-0", "2-1"]


@pytest.mark.parametrize(
    "step", ["checkpoint: it is complete", "checkpoint: older ones are removed"]
)
def test_a_checkpoint_that_another_run_has_begun_with_stays(tmp_path, world, step):
    older = Run(tmp_path, "a", world)
    older.checkpoint()
    place, before = tmp_path / "a" / "chk-2", []

    def meanwhile():
        Run(tmp_path, "b", world, place)
        before.extend(world)

    with hanging(step, meanwhile), pytest.raises(JobTakenOverError):
        older.checkpoint()
    assert place.exists()
    assert world == before


@pytest.mark.parametrize("end", ["job_finished", "job_cancelled", "job_failed"])
def test_a_run_that_hangs_while_it_ends_leaves_what_another_one_has_begun_with(
    tmp_path, world, end
):
    older = Run(tmp_path, "a", world, **NOT_KEPT)
    older.checkpoint()
    place = tmp_path / "a" / "chk-1"
    step = {
        "job_finished": "end: the checkpoints are not needed any more",
    }.get(end, "early end: it is known what stays")
    with hanging(step, lambda: Run(tmp_path, "b", world, place)):
        getattr(older.coordinator, end)()
    Run(tmp_path, "c", world, place)


@pytest.mark.parametrize("step", ["restore: the checkpoint is taken over", "checkpoint: it begins"])
@pytest.mark.parametrize("part_size", [None, 300])
def test_a_program_that_was_suspended_before_it_read_its_checkpoint_does_not_start(
    tmp_path, step, part_size
):
    world = World(tmp_path / "world", part_size=part_size)
    with world.running():
        after_a_checkpoint(world).dead = True
        place, reached = world.newest_checkpoint(), []
        late = Driver(world, 1, place)
        world.clock.time += 20
        world.plan(step, 2 if step.startswith("checkpoint") else 1, reached.append)
        other = Driver(world, 2, place)
        while not reached:
            world.clock.time += 20
            other.act()
        with (
            pytest.raises(
                JobTakenOverError, match=r"continued from chk-\d+ in .*since this program"
            ),
            world.driving(late),
        ):
            late._act()
        late.act()
        assert late.state == "is fenced"
        assert late.hosts is None
        run_to_the_end(world, other)
        world.check(complete=True)


def test_a_program_may_begin_again_where_it_has_begun_itself(tmp_path, world):
    Run(tmp_path, "a", world).checkpoint()
    place, notebook = tmp_path / "a" / "chk-1", Program("notebook", 0)
    for name in ("b", "c"):
        run = Run(tmp_path, name, world, place, clock=FakeClock(10), program=notebook)
    run.checkpoint()
    with pytest.raises(JobTakenOverError, match="since this program"):
        Run(tmp_path, "d", world, place, program=Program("another", 5))
    Run(tmp_path, "e", world, place, program=Program("a third", 15)).checkpoint()


def test_a_program_begins_though_the_clock_was_set_back_since_the_last_takeover(tmp_path, world):
    hour = 3_600_000
    Run(tmp_path, "a", world).checkpoint()
    place = tmp_path / "a" / "chk-1"
    Run(tmp_path, "b", world, place, clock=FakeClock(2 * hour), program=Program("first", hour))
    again = Program("again", hour)
    Run(tmp_path, "c", world, place, clock=FakeClock(hour), program=again).checkpoint()


def test_nobody_sets_the_clock_that_decides_on_one_machine(tmp_path, world, monkeypatch):
    """A program that was suspended while the clock was set back had taken over a taken job."""
    hour = 3_600_000
    Run(tmp_path, "a", world).checkpoint()
    place = tmp_path / "a" / "chk-1"
    monkeypatch.setattr(ownership, "this_moment", lambda: Moment("boot", 200))
    first = Program("first", 2 * hour, Moment("boot", 150))
    Run(tmp_path, "b", world, place, clock=FakeClock(2 * hour), program=first).checkpoint()
    for clock in (hour, 2 * hour, 3 * hour):
        suspended = Program("suspended", clock + 5, Moment("boot", 100))
        with pytest.raises(JobTakenOverError, match="since this program"):
            Run(tmp_path, "c", world, place, clock=FakeClock(clock), program=suspended)
    later = Program("later", hour, Moment("boot", 250))
    Run(tmp_path, "d", world, place, clock=FakeClock(3 * hour), program=later).checkpoint()
    elsewhere = Program("elsewhere", hour, Moment("another boot", 100))
    with pytest.raises(JobTakenOverError, match="since this program"):
        Run(tmp_path, "e", world, place, clock=FakeClock(4 * hour), program=elsewhere)


def test_a_record_of_an_owner_without_a_time_is_older(tmp_path, world):
    Run(tmp_path, "a", world).checkpoint()
    (tmp_path / "a" / OWNER).write_text("b\nchk-1")
    Run(tmp_path, "c", world, tmp_path / "a" / "chk-1").checkpoint()


def test_this_program_began_before_now():
    program = this_program()
    assert 0 < time.time() * 1000 - program.begun < 1000 * time.monotonic() + 1000
    assert program == this_program()
    now = this_moment()
    assert now is not None
    assert program.moment is not None
    assert program.moment.boot == now.boot
    assert 0 < program.moment.since <= now.since <= this_moment().since
    script = (
        "from pyflink_on_spark._job.checkpoints.ownership import this_program as program;"
        "print(program().begun, program().token)"
    )
    before = time.time() * 1000
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    begun, token = output.stdout.split()
    assert before - 50 < int(begun) < time.time() * 1000
    assert token.decode() != program.token


def test_a_job_of_two_programs_takes_over_once(tmp_path, world):
    Run(tmp_path, "a", world).checkpoint()
    place = tmp_path / "a" / "chk-1"
    Run(tmp_path, "b", world, place, clock=FakeClock(10), program=Program("the client", 9))
    Run(tmp_path, "b", world, place, program=Program("the server", 5)).checkpoint()
