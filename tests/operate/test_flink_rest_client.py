"""The client flink-rest-client works against this REST API.

The client is no part of the test extra, for its wheel has a package ``tests`` of its own, which
would hide this one. To run this: pip install --no-deps --target FOLDER flink-rest-client, remove
FOLDER/tests, and put FOLDER on PYTHONPATH.
"""

from __future__ import annotations

import pytest

flink_rest_client = pytest.importorskip(
    "flink_rest_client", reason="flink-rest-client is not installed"
)


@pytest.fixture
def client(url):
    """That of flink-rest-client."""
    host, port = url.removeprefix("http://").split(":")
    return flink_rest_client.FlinkRestClient.get(host=host, port=int(port))


def test_all_requests_for_jobs_of_flink_rest_client(client, reported):
    jobs, job_id = client.jobs, reported.id
    assert client.overview()["jobs-running"] == 1
    assert client.config()["refresh-interval"] > 0
    assert jobs.job_ids() == [job_id]
    assert jobs.overview()[0]["name"] == reported.job.name
    assert "numRestarts" in jobs.metric_names()
    assert jobs.metrics(["numRestarts"])["numRestarts"]["sum"] == 1
    assert jobs.get(job_id)["state"] == "RUNNING"
    assert jobs.get_config(job_id)["jid"] == job_id
    assert jobs.get_exceptions(job_id)["root-exception"] == "KeyError: 'x'"
    assert jobs.get_execution_result(job_id)["status"]["id"] == "IN_PROGRESS"
    assert jobs.get_metrics(job_id, ["numRestarts"]) == {"numRestarts": "1"}
    assert len(jobs.get_plan(job_id)["nodes"]) == len(reported.tasks)
    assert jobs.get_accumulators(job_id)["user-task-accumulators"][0]["value"] == "3"
    assert jobs.get_checkpointing_configuration(job_id)["interval"] == 5000
    assert jobs.get_checkpoint_ids(job_id) == [7]
    assert jobs.get_checkpoint_details(job_id, 7)["state_size"] == 2048
    assert client.jobmanager.config()["execution.checkpointing.interval"] == "5 s"
    assert client.taskmanagers.taskmanager_ids() == ["driver"]


def test_all_requests_for_tasks_of_flink_rest_client(client, reported):
    task = reported.tasks[1]
    assert client.jobs.get_vertex_ids(reported.id) == [each.id for each in reported.tasks]
    vertex = client.jobs.get_vertex(reported.id, task.id)
    assert vertex.details()["name"] == task.name
    assert vertex.backpressure()["status"] == "ok"
    assert "0.numRecordsIn" in vertex.metric_names()
    assert vertex.metrics(["0.numRecordsIn"])["0.numRecordsIn"] == "40"
    assert len(vertex.subtasktimes()["subtasks"]) == 2
    assert vertex.taskmanagers()["taskmanagers"][0]["status"] == "RUNNING"
    assert vertex.watermarks()[0]["value"] == "5000"
    subtasks = vertex.subtasks
    assert subtasks.subtask_ids() == [0, 1]
    assert len(subtasks.accumulators()["subtasks"]) == 2
    assert "busyTimeMsPerSecond" in subtasks.metric_names()
    assert subtasks.metrics(["numRecordsIn"])["numRecordsIn"]["sum"] == 80
    assert subtasks.get(1)["subtask"] == 1
    assert subtasks.get_attempt(1)["attempt"] == 1
    assert subtasks.get_attempt_accumulators(1)["user-accumulators"] == []


def test_operations_of_flink_rest_client(client, driver, reported):
    savepoint = client.jobs.create_savepoint(reported.id, "/data")
    driver._operations.wait(10)
    assert savepoint.status["operation"]["location"] == "/data/savepoint-1"
    stop = client.jobs.stop(reported.id, "/data")
    driver._operations.wait(10)
    assert stop.status["operation"]["location"] == "/data/savepoint-2"
    assert reported.handle.asked == [("savepoint", "/data"), ("stop", "/data", False)]


def test_cancel_of_flink_rest_client(client, reported):
    client.jobs.terminate(reported.id)
    assert reported.handle.ended.wait(10)
