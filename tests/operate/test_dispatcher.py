"""The server of all jobs: what it tells of drivers that run, that have ended, and that are lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from pyflink_on_spark._operate.client import Door
from pyflink_on_spark._operate.dispatcher.jobs import DispatchedJobsRoutes
from pyflink_on_spark._operate.server.job_registry import JobRegistry
from pyflink_on_spark._operate.server.rest.routing import Request, Router
from pyflink_on_spark._operate.view.job_records import JobRecord
from pyflink_on_spark.common import JobStatus
from tests.operate.test_commands import id_of


@pytest.fixture
def asked(records):
    """Ask the server; returns the status and the content."""
    router = Router()
    DispatchedJobsRoutes(records).add_to(router)

    def ask(path, method="GET", body=None, **query):
        answer = router.answer(Request(method, path, query, body or {}))
        told = answer.content
        if isinstance(told, bytes) and "json" in answer.kind:
            told = json.loads(told)
        return answer.status, told

    return ask


def states(asked):
    return {job["name"]: job["state"] for job in asked("/jobs/overview")[1]["jobs"]}


def dead_process():
    return subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True, check=True)


def lost(records, **more):
    record = JobRecord("a" * 32, "gone", int(dead_process().stdout), "/nowhere", 1000, **more)
    records.write(record)
    return record


def test_jobs_that_run_and_that_have_ended(asked, start):
    start("runs")
    start("ended").enter(JobStatus.FAILED, RuntimeError("why"))
    assert states(asked) == {"runs": "RUNNING", "ended": "FAILED"}
    status, overview = asked("/overview")
    assert (status, overview["jobs-running"], overview["jobs-failed"]) == (200, 1, 1)
    assert overview["slots-total"] == 1
    assert [job["status"] for job in asked("/jobs")[1]["jobs"]] == ["RUNNING", "FAILED"]
    assert asked("/config")[1]["features"]["web-submit"]


def test_requests_about_a_job_reach_its_driver(asked, start):
    handle = start()
    root = f"/jobs/{id_of(handle)}"
    assert asked(root)[1]["state"] == "RUNNING"
    _, told = asked(f"{root}/savepoints", "POST", {"target-directory": "/sp"})
    while (result := asked(f"{root}/savepoints/{told['request-id']}")[1])["operation"] is None:
        pass
    assert result["operation"] == {"location": "/sp/savepoint-1"}
    assert asked(root, "PATCH", mode="cancel")[0] == 202
    assert handle.ended.wait(20)
    assert handle.asked[-1] == "cancel"


def test_a_job_that_is_stopped_ends_before_its_savepoint_is_told(asked, start, records):
    handle = start()
    root = f"/jobs/{id_of(handle)}"
    told = threading.Event()
    stop = handle.stop_with_savepoint

    def slowly(*given):
        location = stop(*given)
        told.wait(20)
        return location

    handle.stop_with_savepoint = slowly
    request = asked(f"{root}/stop", "POST", {"targetDirectory": "/sp"})[1]["request-id"]
    assert handle.ended.wait(20)
    assert records.get(id_of(handle)).over
    assert asked(f"{root}/savepoints/{request}")[1]["status"] == {"id": "IN_PROGRESS"}
    told.set()
    while (result := asked(f"{root}/savepoints/{request}")[1])["operation"] is None:
        pass
    assert result["operation"] == {"location": "/sp/savepoint-2"}


def test_what_a_driver_has_left(asked, start, records, driver):
    handle = start()
    job = id_of(handle)
    handle.job.history.attempt_failed(RuntimeError("the cause"), 0)
    handle.enter(JobStatus.FAILED, RuntimeError("the cause"))
    told = records.get(job)
    result = {"f" * 32: {"location": "/sp/savepoint-9"}}
    records.write(replace(told, operations=result, socket="/nowhere"))
    root = f"/jobs/{job}"
    assert asked(root)[1]["state"] == "FAILED"
    assert asked(root)[1]["end-time"] == told.ended
    assert asked(f"{root}/status") == (200, {"status": "FAILED"})
    entries = asked(f"{root}/exceptions")[1]["exceptionHistory"]["entries"]
    assert "the cause" in entries[0]["stacktrace"]
    location = asked(f"{root}/savepoints/{'f' * 32}")[1]["operation"]
    assert location == {"location": "/sp/savepoint-9"}
    vertex = asked(root)[1]["vertices"][0]["id"]
    assert asked(f"{root}/vertices/{vertex}/subtasks/metrics", get="x") == (200, [])
    assert asked(f"{root}/nothing")[0] == 404
    assert asked(f"{root}/stop", "POST")[0] == 409


def test_running_jobs_are_listed_with_what_troubles_them(asked, start):
    history = start().job.history
    assert "cause" not in asked("/jobs/overview")[1]["jobs"][0]
    history.attempt_failed(RuntimeError("Traceback:\nKeyError: 'x'"), 100)
    history.waiting = ("the sink Files to commit checkpoint 7", 0)
    cause = asked("/jobs/overview")[1]["jobs"][0]["cause"]
    assert cause.startswith("restart 1 at 20")
    assert " was because of KeyError: 'x'; the driver waits for the sink Files" in cause


def test_a_lost_driver_is_told_as_a_failure(asked, records):
    job = lost(records)
    (told,) = asked("/jobs/overview")[1]["jobs"]
    assert told["state"] == "FAILED"
    assert told["cause"] == f"the driver (process {job.pid}) has ended without a word"
    for path in (
        "",
        "/checkpoints",
        "/exceptions",
        "/config",
        "/accumulators",
        "/state",
        "/recent",
    ):
        assert asked(f"/jobs/{job.id}{path}")[0] == 200
    entries = asked(f"/jobs/{job.id}/exceptions")[1]["exceptionHistory"]["entries"]
    assert "was killed" in entries[0]["stacktrace"]


def test_a_driver_that_does_not_listen_hides_no_other(asked, records, start):
    start("runs")
    records.write(JobRecord("b" * 32, "silent", os.getpid(), "/nowhere", 2000))
    assert states(asked) == {"runs": "RUNNING", "silent": "RUNNING"}
    assert asked(f"/jobs/{'b' * 32}")[1]["status"]["id"] == "IN_PROGRESS"


def test_the_log_of_a_job(asked, records, tmp_path):
    log = tmp_path / "job.log"
    log.write_bytes(b"0123456789")
    job = lost(records, log=str(log))
    path = f"/jobs/{job.id}/log"
    assert asked(path) == (200, b"0123456789")
    assert asked(path, **{"from": "4"}) == (200, b"456789")
    assert asked(path, **{"from": "400"}) == (200, b"0123456789")
    assert asked(path, **{"from": "x"})[0] == 400


def test_a_server_that_starts_again_knows_the_drivers(start, records, asked):
    start("before")
    assert states(asked) == {"before": "RUNNING"}
    router = Router()
    DispatchedJobsRoutes(records).add_to(router)
    jobs = router.answer(Request("GET", "/jobs/overview")).content["jobs"]
    assert [job["name"] for job in jobs] == ["before"]


@pytest.mark.parametrize("name", ["..", "../../etc/passwd", "x" * 32, "%2e%2e", "a" * 31])
def test_a_job_has_an_id_and_no_path(asked, name):
    assert asked(f"/jobs/{name}/log")[0] == 404


def test_a_killed_driver_leaves_its_plan(home, records, asked):
    program = (
        "import os\n"
        "from tests.operate.operated import Handle, job\n"
        "from pyflink_on_spark._operate.server.job_registry import DRIVER\n"
        "from pyflink_on_spark._operate.view.jobs import OperatedJob\n"
        "made = job('killed')\n"
        "DRIVER.offer(OperatedJob(made, Handle(made)))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=False, timeout=120)
    (record,) = records.all()
    assert asked(f"/jobs/{record.id}")[1]["plan"]["nodes"]


def test_a_door_to_a_driver(start, records, driver):
    assert isinstance(driver, JobRegistry)
    start()
    (record,) = records.all()
    assert Door(record.socket).told("GET", "/jobs")["jobs"][0]["id"] == record.id
