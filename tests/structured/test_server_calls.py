"""Functions are called while a server plans, since slots of an idle job may hold all tasks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies
from pyflink_on_spark._spark.structured import server_calls
from pyflink_on_spark._spark.structured.batches import CONTROL
from pyflink_on_spark._spark.structured.connect_job import ConnectJob
from pyflink_on_spark._spark.structured.pace import AWAKE
from pyflink_on_spark._spark.structured.server_calls import ServerCall, in_planner
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from tests.structured.jobs import submitted


class Planner:
    """A session of a server whose task slots are all taken: it plans, and runs nothing."""

    def __init__(self) -> None:
        self.read, self.conf = self, SimpleNamespace(get=lambda key, default: "local[2]")

    def format(self, name):
        assert name == ServerCall.name()
        return self

    def option(self, key, value):
        self._options = {key: value}
        return self

    def load(self):
        return SimpleNamespace(schema=ServerCall(self._options).schema())

    def range(self, *_):
        raise AssertionError("this call waits for a task")


@pytest.fixture
def environment():
    return WorkerEnvironment.of_driver(ShippedDependencies(()))


def test_a_call_brings_its_result(environment):
    assert in_planner(Planner(), environment, lambda: {"mine": b"\0\xff"}, "job") == {
        "mine": b"\0\xff"
    }
    assert in_planner(Planner(), environment, lambda: None, "job") is None


def test_an_error_is_raised(environment):
    def fails():
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        in_planner(Planner(), environment, fails, "job")


def test_only_a_large_result_comes_from_a_task(environment, monkeypatch):
    tasks: list[int] = []

    def in_task(session, environment, function, job):
        tasks.append(len(function()))
        return function()

    monkeypatch.setattr(server_calls, "in_task", in_task)
    for size in (1000, 2 << 20):
        assert len(in_planner(Planner(), environment, lambda s=size: bytes(s), "job")) == size
    assert tasks == [2 << 20]


def test_slots_that_wait_are_woken_without_a_task(environment, tmp_path):
    env = StreamExecutionEnvironment.get_execution_environment()
    session = Planner()
    plan = submitted(env.from_collection([1], Types.INT()))
    job = ConnectJob(plan, session, session, lambda _: None)
    job._environment, job._home = environment, folder(tmp_path.as_uri())
    job._wake()
    assert folder(tmp_path.as_uri()).inside(CONTROL).names() == [AWAKE]
