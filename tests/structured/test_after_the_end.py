"""A query runs until its client, which has first to get the last results, stops it."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import cloudpickle
import pytest

from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies
from pyflink_on_spark._spark.structured import batches, server_batches
from pyflink_on_spark._spark.structured.batches import QUERY, Batches, QueryCommits
from pyflink_on_spark._spark.structured.connect_job import ConnectJob, _Saving
from pyflink_on_spark._spark.structured.server_batches import (
    RESULTS,
    CommitsRecipe,
    Results,
    ServerBatches,
)
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from tests.structured.jobs import submitted

NO_ROWS = SimpleNamespace(collect=list, sparkSession=None)
"""A micro-batch of a query without slots, which ends with its first one."""


@pytest.fixture
def job():
    return submitted(StreamExecutionEnvironment.get_execution_environment().from_collection([1]))


@pytest.fixture
def environment():
    return WorkerEnvironment.of_driver(ShippedDependencies(()))


@pytest.fixture
def _hasty(monkeypatch):
    monkeypatch.setattr(batches, "_STOP_SECONDS", 0.0)


@pytest.mark.usefixtures("_hasty")
def test_no_micro_batch_of_a_server_returns_after_the_end(job, environment, tmp_path):
    recipe = cloudpickle.dumps(CommitsRecipe.of(job, tmp_path.as_uri()))
    run = ServerBatches(recipe, 0, environment)
    run(NO_ROWS, 0)
    with pytest.raises(RuntimeError, match="the job has ended"):
        run(NO_ROWS, 1)
    assert folder(tmp_path.as_uri()).inside(RESULTS).names() == ["000000000000"]


def test_a_micro_batch_after_the_end_is_interrupted_on_a_classic_spark(job, tmp_path):
    commits = QueryCommits.of(job, SystemClock())
    commits.open(folder(str(tmp_path)), 1)
    run = Batches(commits, 0, lambda *_: None, lambda *_: None)
    run.in_driver(NO_ROWS, 0)
    run.stopping.set()
    with pytest.raises(RuntimeError, match=r"java\.lang\.InterruptedException"):
        run.in_driver(NO_ROWS, 1)
    assert run.error is None


class Query:
    """A query whose last micro-batch Spark has committed."""

    def __init__(self, active: bool = False) -> None:
        self.isActive = active
        self.lastProgress = {"batchId": 2, "timestamp": "now"}

    def exception(self):
        return ValueError("of the query")


@pytest.fixture
def follow(job, tmp_path, monkeypatch):
    """Follows a query of three micro-batches; an answer of the server holds one of them."""

    def follow(ends: bool, query: Query) -> int:
        home = folder(tmp_path.as_uri())
        for batch in range(3):
            results = Results(batch, [("channel", [batch])], batch, [], ends and batch == 2)
            home.inside(RESULTS).write(f"{batch:012}", pickle.dumps(results))
            home.inside(QUERY).inside("commits").write(str(batch), b"")
        monkeypatch.setattr(server_batches, "_MOST_BYTES", 1)
        connected = ConnectJob(job, None, None, lambda _: None)
        connected._home = home
        monkeypatch.setattr(connected, "_ask_planner", lambda function: function())
        monkeypatch.setattr(connected, "_check_printers", lambda: None)
        monkeypatch.setattr(connected, "_deliver", lambda _, things: delivered.extend(things))
        return connected._follow_results(query, 0, -1, _Saving(connected))

    delivered: list[int] = []
    return follow, delivered


@pytest.mark.parametrize("active", [True, False])
def test_all_results_arrive(follow, active):
    run, delivered = follow
    assert run(True, Query(active)) == 2
    assert delivered == [0, 1, 2]


def test_what_was_committed_arrives_before_the_error(follow):
    run, delivered = follow
    with pytest.raises(ValueError, match="of the query"):
        run(False, Query())
    assert delivered == [0, 1, 2]
