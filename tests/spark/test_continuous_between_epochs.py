"""What is done between two epochs, with slots that are in this process; without Spark."""

from __future__ import annotations

import os

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.epoch_boundary import EpochBoundary, SavepointRequest
from pyflink_on_spark._runtime.task.hosted_subtasks import EpochReport
from pyflink_on_spark._runtime.user_code.failure import SubtaskFailure
from pyflink_on_spark._spark.transport.rpc import HostLost
from tests.job.test_coordinator import UNWRITTEN, NeverTwice, Prepares, with_sink

GOES_ON = [EpochReport(reading=True), EpochReport(reading=False)]
IS_OVER = [EpochReport(reading=False)] * 2


class Running:
    """A job with one sink, in its first attempt."""

    def __init__(self, path):
        self.path, self.sink = path, NeverTwice(interrupted=False)
        self.coordinator = with_sink(path, self.sink)
        self.requests = []
        self.begin()

    def begin(self):
        """Begin an attempt."""
        self.hosts = Prepares()
        self.coordinator.attempt_begins()
        self.between = EpochBoundary(self.coordinator, self.hosts, self.requests)

    def ask(self, **how):
        directory = how.pop("directory", str(self.path / "savepoints"))
        self.requests.append(SavepointRequest(directory, **how))
        return self.requests[-1].path

    def fail(self):
        """Work off an epoch that the attempt ends with; return why."""
        with pytest.raises(Exception) as raised:  # noqa: PT011 - the test looks at it
            self.between.work_off(IS_OVER if self.between.draining else GOES_ON)
        self.between.failed(raised.value)
        return raised.value


@pytest.fixture
def job(tmp_path):
    return Running(tmp_path)


def test_savepoints_of_a_job_that_goes_on(job):
    first, second = job.ask(), job.ask()
    job.between.work_off(GOES_ON)
    assert first.result(0) != second.result(0)
    assert not job.between.ended
    assert job.sink.found == []


def test_a_job_stops_with_a_savepoint(job):
    path, too_late = job.ask(stop=True), job.ask()
    job.between.work_off(GOES_ON)
    assert os.listdir(job.path / "savepoints") == [path.result(0).rpartition("/")[2]]
    assert job.between.ended
    assert job.sink.found == ["1-0", "1-1"]
    assert not too_late.done()


def test_a_drain_ends_the_sources_first(job):
    job.sink.holds_back = True
    path = job.ask(stop=True, drain=True)
    job.between.work_off(GOES_ON)
    assert job.between.draining
    assert not path.done()
    job.between.work_off(GOES_ON)
    assert not path.done()
    job.between.work_off(IS_OVER)
    assert job.between.ended
    assert path.result(0)
    assert job.sink.found == ["1-0", "1-1"]


@pytest.mark.parametrize("how", [{}, {"stop": True}, {"stop": True, "drain": True}])
@pytest.mark.parametrize("directory", [None, "nowhere://at/all", "in the way"])
def test_what_cannot_be_written_is_refused_before_anything_has_happened(job, how, directory):
    if directory == "in the way":
        (job.path / directory).touch()
        directory = str(job.path / directory)
    path = job.ask(directory=directory, **how)
    job.between.work_off(GOES_ON)
    assert isinstance(path.exception(0), CheckpointError | ValueError | ImportError)
    assert not job.between.draining
    assert not job.between.ended
    assert job.hosts.aborted == []


@pytest.mark.parametrize("stop", [False, True])
def test_a_job_goes_on_if_its_savepoint_fails(job, stop):
    job.hosts.fails = UNWRITTEN
    path = job.ask(stop=stop)
    job.between.work_off(GOES_ON)
    assert path.exception(0) is UNWRITTEN
    assert not job.between.ended


def test_a_job_goes_on_if_what_its_savepoint_names_cannot_be_kept(job, monkeypatch):
    def keep(_):
        raise OSError("503 slow down")

    monkeypatch.setattr(job.sink, "keep", keep)
    path = job.ask()
    job.between.work_off(GOES_ON)
    assert "503 slow down" in str(path.exception(0))
    assert not job.between.ended
    assert job.hosts.aborted == [1]
    assert os.listdir(job.path / "savepoints") == []


@pytest.mark.parametrize("drain", [False, True])
def test_who_stops_a_job_hears_where_it_is_saved_even_if_a_function_then_fails(
    job, monkeypatch, drain
):
    path = job.ask(stop=True, drain=drain)
    if drain:
        job.between.work_off(GOES_ON)
    tell = job.hosts.tell

    def fail(command, *arguments, **how):
        if command == "complete":
            raise SubtaskFailure("a function failed")
        return tell(command, *arguments, **how)

    monkeypatch.setattr(job.hosts, "tell", fail)
    assert isinstance(job.fail(), SubtaskFailure)
    assert path.result(0)
    assert job.coordinator.over
    assert job.sink.found == ["1-0", "1-1"]


def test_but_not_if_all_windows_have_fired_for_it(job):
    job.coordinator.checkpoint(job.hosts)
    before = job.coordinator.restore
    path = job.ask(stop=True, drain=True)
    job.between.work_off(GOES_ON)
    job.hosts.fails = UNWRITTEN
    assert job.fail() is UNWRITTEN
    assert path.exception(0) is UNWRITTEN
    assert (job.coordinator.restore, job.coordinator.over) == (before, False)
    job.begin()
    job.between.work_off(GOES_ON)
    assert not job.between.draining
    assert not job.between.ended
    assert job.sink.found == ["1-0", "1-1"]


@pytest.mark.parametrize("error", [SubtaskFailure("a function failed"), HostLost("it is gone")])
@pytest.mark.parametrize("stop", [False, True])
def test_who_waits_for_a_savepoint_hears_that_the_attempt_failed(job, error, stop):
    job.hosts.fails = error
    path = job.ask(stop=stop)
    assert job.fail() is error
    assert path.exception(0) is error


def test_also_if_it_fails_before_the_savepoint_is_begun(job):
    path, later = job.ask(stop=True, drain=True), job.ask()
    job.between.work_off(GOES_ON)
    error = SubtaskFailure("close of a source failed")
    job.between.failed(error)
    assert path.exception(0) is error
    job.begin()
    job.between.work_off(GOES_ON)
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


def test_the_end_of_all_input(job):
    job.between.work_off(IS_OVER)
    assert job.between.ended
    assert job.coordinator.over
    assert job.sink.found == ["1-0", "1-1"]
