"""A slot host in its own process, without Spark: what it makes of checkpoints that go wrong."""

from __future__ import annotations

import pickle
import sys

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.user_code.failure import SubtaskFailure
from pyflink_on_spark._spark.hosts.host import Deployment
from pyflink_on_spark._spark.hosts.pool import HostPool
from pyflink_on_spark._spark.hosts.spawn import Spawn
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies
from pyflink_on_spark.datastream import MapFunction
from pyflink_on_spark.extensions import CheckpointedFunction, CheckpointListener
from tests.runtime.rounds import CutSource, job_of


class Noting(MapFunction, CheckpointedFunction, CheckpointListener):
    """Writes down what it hears; fails in the third checkpoint."""

    def __init__(self, path):
        self.path = path

    def map(self, value):
        return value

    def initialize_state(self, context):
        self.note("begins")

    def snapshot_state(self, context):
        if context.get_checkpoint_id() == 3:
            raise ValueError("no state today")

    def notify_checkpoint_complete(self, checkpoint_id):
        self.note(f"complete {checkpoint_id}")

    def notify_checkpoint_aborted(self, checkpoint_id):
        self.note(f"aborted {checkpoint_id}")

    def note(self, text):
        with open(self.path, "a", encoding="utf-8") as notes:
            notes.write(f"{text}\n")


@pytest.fixture
def fleet(tmp_path):
    """One host, with a job that has been deployed."""
    job = job_of(lambda stream: stream.map(Noting(str(tmp_path / "notes"))), CutSource([1]))
    fleet = HostPool("127.0.0.1", 1)
    spawn = Spawn(fleet.control, tuple(sys.path), False, ShippedDependencies())
    fleet.assemble(lambda: spawn.start(0, sys.executable))
    fleet.deploy(Deployment(pickle.dumps((job.levels, job.settings)), 0, None, None, {}))
    yield fleet
    fleet.close(failed=True)


def notes(tmp_path):
    return (tmp_path / "notes").read_text().splitlines()


def test_what_cannot_be_written_is_no_failure_of_a_function(fleet, tmp_path):
    (tmp_path / "in the way").touch()
    with pytest.raises(CheckpointError, match=r"^cannot write .*in the way"):
        fleet.tell("snapshot", 1, (tmp_path / "in the way").as_uri())
    fleet.notify("aborted", 1)
    ((file, prepared),) = fleet.tell("snapshot", 2, tmp_path.as_uri()).values()
    assert (file.name, prepared) == ("slot-0", [])
    fleet.tell("complete", 2)
    assert notes(tmp_path) == ["begins", "aborted 1", "complete 2"]


def test_a_function_that_fails_is_told_with_its_traceback(fleet, tmp_path):
    with pytest.raises(SubtaskFailure, match=r"(?s)^Traceback.*ValueError: no state today"):
        fleet.tell("snapshot", 3, None)
    fleet.notify("aborted", 3)
    fleet.tell("complete", 4)
    assert notes(tmp_path) == ["begins", "aborted 3", "complete 4"]
