"""A home of its own for each test, and a driver in it."""

from __future__ import annotations

import pytest

from pyflink_on_spark._operate.server.job_registry import JobRegistry
from pyflink_on_spark._operate.server.network import NetworkServer
from pyflink_on_spark._operate.view.job_records import VARIABLE, JobRecords, jobs_folder
from pyflink_on_spark._operate.view.jobs import OperatedJob
from pyflink_on_spark._runtime.task.subtask_threads import JobProgress, TaskProgress, combine
from tests.operate.operated import Handle, job
from tests.runtime.rounds import CutSource, job_of


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def records(home):
    return JobRecords(jobs_folder())


@pytest.fixture
def driver(home):
    driver = JobRegistry()
    yield driver
    if driver._server is not None:
        driver._server.stop()
        driver._server.server_close()


@pytest.fixture
def start(driver):
    """Start a job that this process offers; returns its handle."""

    def started(name="counter", configuration=None):
        made = job(name, configuration)
        handle = Handle(made)
        driver.offer(OperatedJob(made, handle))
        return handle

    return started


@pytest.fixture
def reported(driver):
    """A job of three tasks in two subtasks that has reported, failed once and made a checkpoint."""
    made = job_of(
        lambda stream: stream.map(str).name("read").key_by(len).map(str).name("count"),
        CutSource([1]),
        parallelism=2,
        configuration={"execution.checkpointing.interval": "5 s"},
    )
    operated = OperatedJob(made, Handle(made))
    parts = [
        TaskProgress(task.name, 1, 40, 5_000, 3, None, 4.0, n, busy_share=0.1)
        for task in operated.tasks
        for n in range(2)
    ]
    operated.handle.parts = parts
    operated.handle.progress = JobProgress("x", 0, None, combine(parts))
    with made.history.checkpoint(7, "file:/chk-7", savepoint=False) as record:
        record.size = 2048
    made.history.attempt_failed(RuntimeError("KeyError: 'x'"), 0)
    driver.offer(operated)
    return operated


@pytest.fixture
def url(driver, reported):
    network = NetworkServer(driver.router)
    network.start({"rest.port": "0"})
    yield network.url
    network.close()
