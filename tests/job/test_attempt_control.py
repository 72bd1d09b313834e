"""The driver's orders to the hosts of an attempt: checkpoints, savepoints, the end."""

from __future__ import annotations

import os

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.restarts import AttemptControl, SavepointRequest
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from tests.job.test_coordinator import UNWRITTEN, NeverTwice, Prepares, with_sink


class Running:
    """A job with one sink, in its first attempt."""

    def __init__(self, path, **settings):
        self.path, self.sink = path, NeverTwice(interrupted=False)
        self.coordinator = with_sink(path, self.sink, **settings)
        self.requests = []
        self.begin()

    def begin(self):
        """Begin an attempt."""
        self.hosts = Draining()
        self.coordinator.attempt_begins()
        self.control = AttemptControl(self.coordinator, self.hosts, self.requests)

    def ask(self, **how):
        directory = how.pop("directory", str(self.path / "savepoints"))
        self.requests.append(SavepointRequest(directory, **how))
        return self.requests[-1].path

    def run(self, wanted=False):
        """Do what is due; the input has ended only if the sources were ended."""
        self.control.run_pending(False, wanted)

    def run_at_end(self):
        """Do what is due once all input is processed."""
        self.control.run_pending(True)

    def fail(self, at_end=False):
        """Do what is due, which ends the attempt; return why."""
        with pytest.raises(Exception) as raised:  # noqa: PT011 - the test looks at it
            self.control.run_pending(at_end)
        self.control.failed(raised.value)
        return raised.value


class Draining(Prepares):
    """Hosts whose sources can be ended."""

    drained = False

    def end_sources(self):
        self.drained = True


@pytest.fixture
def job(tmp_path):
    return Running(tmp_path)


def test_checkpoints_are_made_when_they_are_due_or_wanted(tmp_path):
    job = Running(tmp_path, **{"execution.checkpointing.interval": "1 s"})
    job.run()
    assert job.hosts.completed == []
    job.coordinator._clock.time += 1000
    job.run()
    job.run()
    assert job.hosts.completed == [1]
    job.run(wanted=True)
    assert job.hosts.completed == [1, 2]
    assert not job.control.ended


def test_savepoints_of_a_job_that_continues(job):
    first, second = job.ask(), job.ask()
    job.run()
    assert first.result(0) != second.result(0)
    assert not job.control.ended
    assert not job.hosts.halt
    assert job.sink.found == []


def test_a_job_stops_with_a_savepoint(job):
    path, too_late = job.ask(stop=True), job.ask()
    job.run()
    assert os.listdir(job.path / "savepoints") == [path.result(0).rpartition("/")[2]]
    assert job.control.ended
    assert job.hosts.halt  # nothing is read after it
    assert job.sink.found == ["1-0", "1-1"]
    assert not too_late.done()


def test_a_drain_ends_the_sources_first(job):
    job.sink.holds_back = True
    path = job.ask(stop=True, drain=True)
    job.run()
    assert job.hosts.drained
    job.run(wanted=True)  # no checkpoint comes between
    assert not path.done()
    assert job.hosts.completed == []
    job.run_at_end()
    assert job.control.ended
    assert path.result(0)
    assert job.sink.found == ["1-0", "1-1"]


@pytest.mark.parametrize("how", [{}, {"stop": True}, {"stop": True, "drain": True}])
@pytest.mark.parametrize("directory", [None, "nowhere://at/all", "in the way"])
def test_what_cannot_be_written_is_refused_before_anything_has_happened(job, how, directory):
    if directory == "in the way":
        (job.path / directory).touch()
        directory = str(job.path / directory)
    path = job.ask(directory=directory, **how)
    job.run()
    assert isinstance(path.exception(0), CheckpointError | ValueError | ImportError)
    assert not job.hosts.drained
    assert not job.control.ended
    assert job.hosts.aborted == []


@pytest.mark.parametrize("stop", [False, True])
def test_a_job_continues_if_its_savepoint_fails(job, stop):
    job.hosts.fails = UNWRITTEN
    path = job.ask(stop=stop)
    job.run()
    assert path.exception(0) is UNWRITTEN
    assert not job.control.ended


def test_a_job_continues_if_what_its_savepoint_names_cannot_be_kept(job, monkeypatch):
    def keep(_):
        raise OSError("503 slow down")

    monkeypatch.setattr(job.sink, "keep", keep)
    path = job.ask()
    job.run()
    assert "503 slow down" in str(path.exception(0))
    assert not job.control.ended
    assert job.hosts.aborted == [1]
    assert os.listdir(job.path / "savepoints") == []


@pytest.mark.parametrize("drain", [False, True])
def test_who_stops_a_job_gets_the_savepoint_even_if_a_function_then_fails(job, monkeypatch, drain):
    path = job.ask(stop=True, drain=drain)
    if drain:
        job.run()

    def fail(checkpoint_id):
        raise SubtaskFailure("a function failed")

    monkeypatch.setattr(job.hosts, "notify_checkpoint_complete", fail)
    assert isinstance(job.fail(at_end=drain), SubtaskFailure)
    assert path.result(0)
    assert job.coordinator.over
    assert job.sink.found == ["1-0", "1-1"]


def test_but_not_if_all_windows_have_fired_for_it(job):
    job.coordinator.checkpoint(job.hosts)
    before = job.coordinator.restore
    path = job.ask(stop=True, drain=True)
    job.run()
    job.hosts.fails = UNWRITTEN
    assert job.fail(at_end=True) is UNWRITTEN
    assert path.exception(0) is UNWRITTEN
    assert (job.coordinator.restore, job.coordinator.over) == (before, False)
    job.begin()
    job.run()
    assert not job.hosts.drained
    assert not job.control.ended
    assert job.sink.found == ["1-0", "1-1"]


@pytest.mark.parametrize("error", [SubtaskFailure("a function failed"), ConnectionError("gone")])
@pytest.mark.parametrize("stop", [False, True])
def test_who_waits_for_a_savepoint_gets_the_failure_of_the_attempt(job, error, stop):
    job.hosts.fails = error
    path = job.ask(stop=stop)
    assert job.fail() is error
    assert path.exception(0) is error


def test_also_if_it_fails_before_the_savepoint_is_begun(job):
    path, later = job.ask(stop=True, drain=True), job.ask()
    job.run()
    error = SubtaskFailure("close of a source failed")
    job.control.failed(error)
    assert path.exception(0) is error
    job.begin()
    job.run()
    assert later.result(0)  # asked for, but not begun: the next attempt answers


def test_a_savepoint_that_is_written_but_not_committed_is_none_to_who_waits(job):
    job.sink.interrupted = True
    path = job.ask(stop=True)
    error = job.fail()
    assert isinstance(error, OSError)
    assert path.exception(0) is error
    assert not job.coordinator.over
    job.begin()
    assert job.sink.found == ["1-0", "1-1"]
    assert job.coordinator.restore[0] == 1


@pytest.mark.parametrize("settings", [{}, {"execution.checkpointing.interval": "1 h"}])
def test_the_end_of_all_input(tmp_path, settings):
    job = Running(tmp_path, **settings)
    if not settings:
        job.hosts.prepared = {0: [(1, "1-0")], 1: [(1, "1-1")]}
    job.run_at_end()
    assert job.control.ended
    assert job.coordinator.over
    assert job.sink.found == ["1-0", "1-1"]


def test_a_checkpoint_that_is_asked_for(job):
    asked = job.ask(checkpoint=True)
    job.run()
    assert asked.result(0) == "1"
    assert job.coordinator.last_checkpoint == 1
    assert not job.control.ended
