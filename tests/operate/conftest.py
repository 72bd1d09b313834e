"""A home of its own for each test, and a driver in it."""

from __future__ import annotations

import pytest

from pyflink_on_spark._operate.driver import Driver
from pyflink_on_spark._operate.home import VARIABLE, jobs_folder
from pyflink_on_spark._operate.job_records import JobRecords
from pyflink_on_spark._operate.operated_job import OperatedJob
from tests.operate.operated import Handle, job


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def records(home):
    return JobRecords(jobs_folder())


@pytest.fixture
def driver(home):
    driver = Driver()
    yield driver
    if driver._server is not None:
        driver._server.shutdown()
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
