"""Clients that others wrote for Flink's REST API work against this one."""

from __future__ import annotations

import importlib

import pytest

from pyflink_on_spark._operate.network import NetworkServer
from pyflink_on_spark._operate.operated_job import OperatedJob
from pyflink_on_spark._runtime.task.progress import JobProgress, TaskProgress, combine
from tests.operate.operated import Handle
from tests.runtime.rounds import CutSource, job_of

flink_rest_client = pytest.importorskip("flink_rest_client")
flink_job_manager_api = pytest.importorskip("flink_job_manager_api")


@pytest.fixture
def operated(driver):
    """A job of three tasks in two subtasks that has reported, failed once and made a checkpoint."""
    job = job_of(
        lambda stream: stream.map(str).name("read").key_by(len).map(str).name("count"),
        CutSource([1]),
        parallelism=2,
        configuration={"execution.checkpointing.interval": "5 s"},
    )
    operated = OperatedJob(job, Handle(job))
    parts = [
        TaskProgress(task.name, 1, 40, 5_000, 3, None, 4.0, n, busy_share=0.1)
        for task in operated.tasks
        for n in range(2)
    ]
    operated.handle.parts = parts
    operated.handle.progress = JobProgress("x", 0, None, combine(parts))
    with job.history.checkpoint(7, "file:/chk-7", savepoint=False) as record:
        record.size = 2048
    job.history.attempt_failed(RuntimeError("KeyError: 'x'"), 0)
    driver.offer(operated)
    return operated


@pytest.fixture
def url(driver, operated):
    network = NetworkServer(driver.router)
    network.start({"rest.port": "0"})
    yield network.url
    network.close()


@pytest.fixture
def client(url):
    """That of flink-rest-client."""
    host, port = url.removeprefix("http://").split(":")
    return flink_rest_client.FlinkRestClient.get(host=host, port=int(port))


def test_all_requests_for_jobs_of_flink_rest_client(client, operated):
    jobs, job_id = client.jobs, operated.id
    assert client.overview()["jobs-running"] == 1
    assert client.config()["refresh-interval"] > 0
    assert jobs.job_ids() == [job_id]
    assert jobs.overview()[0]["name"] == operated.job.name
    assert "numRestarts" in jobs.metric_names()
    assert jobs.metrics(["numRestarts"])["numRestarts"]["sum"] == 1
    assert jobs.get(job_id)["state"] == "RUNNING"
    assert jobs.get_config(job_id)["jid"] == job_id
    assert jobs.get_exceptions(job_id)["root-exception"] == "KeyError: 'x'"
    assert jobs.get_execution_result(job_id)["status"]["id"] == "IN_PROGRESS"
    assert jobs.get_metrics(job_id, ["numRestarts"])[0]["id"] == "numRestarts"
    assert len(jobs.get_plan(job_id)["nodes"]) == len(operated.tasks)
    assert jobs.get_accumulators(job_id)["user-task-accumulators"][0]["value"] == "3"
    assert jobs.get_checkpointing_configuration(job_id)["interval"] == 5000
    assert jobs.get_checkpoint_ids(job_id) == [7]
    assert jobs.get_checkpoint_details(job_id, 7)["state_size"] == 2048
    assert client.jobmanager.config()["execution.checkpointing.interval"] == "5 s"
    assert client.taskmanagers.taskmanager_ids() == ["driver"]


def test_all_requests_for_tasks_of_flink_rest_client(client, operated):
    task = operated.tasks[1]
    assert client.jobs.get_vertex_ids(operated.id) == [each.id for each in operated.tasks]
    vertex = client.jobs.get_vertex(operated.id, task.id)
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


def test_operations_of_flink_rest_client(client, driver, operated):
    savepoint = client.jobs.create_savepoint(operated.id, "/data")
    driver._operations.wait(10)
    assert savepoint.status["operation"]["location"] == "/data/savepoint-1"
    stop = client.jobs.stop(operated.id, "/data")
    driver._operations.wait(10)
    assert stop.status["operation"]["location"] == "/data/savepoint-2"
    assert operated.handle.asked == [("savepoint", "/data"), ("stop", "/data", False)]


def test_cancel_of_flink_rest_client(client, operated):
    client.jobs.terminate(operated.id)
    assert operated.handle.ended.wait(10)


# The client that is generated from Flink's own description of its API checks the types of fields.
# Not here: where the description differs from what Flink sends, so that Flink itself fails, too
# (metrics, watermarks, the ids of slot sharing groups, the mode of checkpoints, configurations).
OF_PROCESS = [
    "get_cluster_overview", "get_dashboard_configuration", "get_jobs_overview",
    "get_job_ids_with_statuses_overview", "get_job_manager_log_list", "get_task_managers",
]  # fmt: skip
OF_JOB = [
    "get_job_plan", "get_job_exceptions", "get_job_accumulators", "get_job_status_info",
    "get_checkpointing_statistics",
]  # fmt: skip
OF_TASK = [
    "get_job_vertex_details", "get_job_vertex_back_pressure", "get_subtasks_times",
    "get_job_vertex_task_managers", "get_job_vertex_accumulators",
    "get_subtasks_all_accumulators",
]  # fmt: skip


def ask(url, name, *path):
    call = importlib.import_module(f"flink_job_manager_api.api.default.{name}")
    answer = call.sync_detailed(*path, client=flink_job_manager_api.Client(base_url=url))
    assert answer.status_code == 200, answer.content
    return answer.parsed


def known_fields(parsed):
    """Tell whether all that was sent belongs to Flink's API, at this level and below."""
    extra = getattr(parsed, "additional_properties", {})
    return {key for key in extra if not key.isupper()}


@pytest.mark.parametrize("name", OF_PROCESS)
def test_the_process_for_the_generated_client(url, name):
    assert known_fields(ask(url, name)) <= EXTRA


@pytest.mark.parametrize("name", OF_JOB)
def test_a_job_for_the_generated_client(url, operated, name):
    assert known_fields(ask(url, name, operated.id)) <= EXTRA


@pytest.mark.parametrize("name", OF_TASK)
def test_a_task_for_the_generated_client(url, operated, name):
    assert known_fields(ask(url, name, operated.id, operated.tasks[1].id)) <= EXTRA


# What Flink sends, and the version of the description lacks.
EXTRA = {"backpressure-level", "root-exception", "timestamp", "all-exceptions", "truncated"}
