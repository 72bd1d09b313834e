"""A host that is lost in any step: what is committed is what the next attempt begins with."""

from __future__ import annotations

import os

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from tests.job.test_coordinator import NeverTwice, Prepares, saved, with_sink


class HostLost(Exception):
    """The error of the hosts of an attempt after one of them is lost."""


class Losing(Prepares):
    """Hosts of which one is lost in some step."""

    def __init__(self, step):
        super().__init__()
        self.step = step

    def _lose(self, step):
        if self.step == step:
            raise HostLost

    def snapshot(self, *args, **more):
        self._lose("before the snapshot")
        answers = super().snapshot(*args, **more)
        self._lose("after the snapshot")
        return answers

    def committables(self):
        self._lose("committables")
        return super().committables()

    def notify_checkpoint_complete(self, number):
        self._lose("complete")
        super().notify_checkpoint_complete(number)


def prepared(hosts):
    return [thing for things in hosts.prepared.values() for thing in things]


@pytest.mark.parametrize("directory", [True, False], ids=["in files", "in memory"])
@pytest.mark.parametrize(
    ("step", "restored", "found"),
    [
        ("before the snapshot", 1, ["1-0", "1-1"]),
        ("after the snapshot", 1, ["1-0", "1-1"]),
        ("complete", 2, ["1-0", "1-1", "2-0", "2-1"]),
    ],
)
def test_a_checkpoint(tmp_path, directory, step, restored, found):
    sink = NeverTwice(interrupted=False)
    coordinator = with_sink(tmp_path if directory else None, sink)
    coordinator.checkpoint(Prepares())
    hosts = Losing(step)
    with pytest.raises(HostLost):
        coordinator.checkpoint(hosts)
    coordinator.abort(prepared(hosts))
    assert hosts.aborted == []  # there is nobody to notify: the attempt is over
    coordinator.attempt_begins()
    assert coordinator.restore[0] == restored
    assert sink.found == found
    assert not coordinator.over
    coordinator.checkpoint(Prepares())
    assert sink.found == [*found, "3-0", "3-1"]


@pytest.mark.parametrize("step", ["before the snapshot", "after the snapshot"])
def test_nothing_stays_of_a_checkpoint_that_is_not_written(tmp_path, step):
    coordinator = with_sink(tmp_path, NeverTwice(interrupted=False))
    with pytest.raises(HostLost):
        coordinator.checkpoint(Losing(step))
    assert not list(tmp_path.rglob("*slot*"))
    assert not list(tmp_path.rglob("chk-*"))
    assert coordinator.restore is None


@pytest.mark.parametrize("stop", [False, True])
@pytest.mark.parametrize("step", ["before the snapshot", "after the snapshot"])
def test_a_savepoint(tmp_path, step, stop):
    sink = NeverTwice(interrupted=False)
    coordinator = with_sink(tmp_path, sink)
    with pytest.raises(HostLost):
        saved(coordinator, Losing(step), tmp_path, stop=stop)
    assert os.listdir(tmp_path / "s") == []
    assert (coordinator.restore, coordinator.over, sink.found) == (None, False, [])


def test_the_last_checkpoint(tmp_path):
    sink = NeverTwice(interrupted=False)
    settings = {"execution.checkpointing.interval": "1 s"}
    coordinator = with_sink(tmp_path, sink, **settings)
    with pytest.raises(HostLost):
        coordinator.finish(Losing("after the snapshot"))
    assert not coordinator.over
    assert sink.found == []
    with pytest.raises(HostLost):
        coordinator.finish(Losing("complete"))
    assert coordinator.over  # all is committed: no attempt may follow
    assert sink.found == ["2-0", "2-1"]


def test_the_end_of_a_job_without_checkpoints(tmp_path):
    sink = NeverTwice(interrupted=False)
    coordinator = with_sink(tmp_path, sink)
    with pytest.raises(HostLost):
        coordinator.finish(Losing("committables"))
    assert not coordinator.over  # nothing is visible: the job may begin again
    assert sink.found == []


class Aborting(NeverTwice):
    """Notes what it throws away."""

    def __init__(self):
        super().__init__(interrupted=False)
        self.aborted = []

    def abort(self, committables):
        self.aborted += committables


@pytest.mark.parametrize(
    ("step", "aborted"), [("after the snapshot", ["1-0", "1-1"]), ("complete", [])]
)
def test_what_no_checkpoint_has_is_thrown_away(tmp_path, step, aborted):
    sink, hosts = Aborting(), Losing(step)
    coordinator = with_sink(tmp_path, sink)
    with pytest.raises(HostLost):
        coordinator.checkpoint(hosts)
    coordinator.abort(prepared(hosts))
    assert sink.aborted == aborted


@pytest.mark.parametrize("error", [CheckpointError("full"), TimeoutError(), SubtaskFailure("no")])
def test_hosts_that_are_there_are_notified_of_a_checkpoint_that_fails(tmp_path, error):
    tolerable = {"execution.checkpointing.tolerable-failed-checkpoints": "0"}
    coordinator, hosts = with_sink(tmp_path, NeverTwice(), **tolerable), Prepares()
    hosts.fails = error
    with pytest.raises((CheckpointError, SubtaskFailure)):
        coordinator.checkpoint(hosts)
    assert (hosts.aborted, hosts.completed) == ([1], [])
