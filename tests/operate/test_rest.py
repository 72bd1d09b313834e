"""Flink's requests, without a server."""

from __future__ import annotations

import threading

import pytest

from pyflink_on_spark._operate.server.rest.routing import Request
from pyflink_on_spark.common import JobStatus


@pytest.fixture
def ask(driver):
    def asked(method, path, body=None, **query):
        answer = driver.router.answer(Request(method, path, query, body or {}))
        return answer.status, answer.content

    return asked


@pytest.fixture
def handle(start):
    return start()


@pytest.fixture
def path(handle):
    return f"/jobs/{handle.job.settings.job_id}"


def test_all_jobs(ask, handle):
    job_id = handle.job.settings.job_id
    assert ask("GET", "/jobs") == (200, {"jobs": [{"id": job_id, "status": "RUNNING"}]})
    assert ask("GET", "/v1/jobs/") == ask("GET", "/jobs")
    (job,) = ask("GET", "/jobs/overview")[1]["jobs"]
    assert (job["jid"], job["name"], job["state"]) == (job_id, "counter", "RUNNING")
    assert job["end-time"] == -1
    assert job["duration"] >= 0
    assert job["tasks"]["running"] == job["tasks"]["total"] > 0


def test_the_cluster(ask, start):
    start()
    start().enter(JobStatus.FAILED, RuntimeError("x"))
    start().cancel()
    told = ask("GET", "/overview")[1]
    numbers = {key: told[f"jobs-{key}"] for key in ("running", "finished", "cancelled", "failed")}
    assert numbers == {"running": 1, "finished": 0, "cancelled": 1, "failed": 1}


@pytest.mark.parametrize(
    ("method", "where", "status", "text"),
    [
        ("GET", "/jobs/unknown/checkpoints", 404, "Job unknown not found"),
        ("GET", "/nothing", 404, "Not found: /nothing"),
        ("DELETE", "/jobs/overview", 405, "does not take DELETE"),
        ("PATCH", "/jobs/unknown", 404, "Job unknown not found"),
    ],
)
def test_what_is_not_there(ask, method, where, status, text):
    found, told = ask(method, where)
    assert found == status
    assert text in told["errors"][0]


def test_a_savepoint(ask, handle, path, driver):
    status, told = ask("POST", f"{path}/savepoints", {"target-directory": "/data"})
    assert status == 202
    driver._operations.wait(10)
    assert ask("GET", f"{path}/savepoints/{told['request-id']}") == (
        200,
        {"status": {"id": "COMPLETED"}, "operation": {"location": "/data/savepoint-1"}},
    )


def test_a_request_of_the_client_s_own_begins_once(ask, handle, path, driver):
    body = {"target-directory": "/data", "triggerId": "f" * 32}
    told = [ask("POST", f"{path}/savepoints", body)[1] for _ in range(2)]
    driver._operations.wait(10)
    assert told == [{"request-id": "f" * 32}] * 2
    assert len(handle.asked) == 1


@pytest.mark.parametrize("trigger", ["../../x", "f" * 31, "g" * 32, "f" * 33, "f" * 32 + "\n"])
def test_a_request_of_a_client_is_an_id(ask, handle, path, trigger):
    status, told = ask("POST", f"{path}/savepoints", {"triggerId": trigger})
    assert status == 400
    assert "32 hexadecimal digits" in told["errors"][0]
    assert handle.asked == []


def test_operations_at_work_are_limited(ask, handle, path, driver, monkeypatch):
    """A client that asks for a savepoint each second, while none is written, fills no memory."""
    ended = threading.Event()
    monkeypatch.setattr(handle, "trigger_savepoint", lambda place: ended.wait(20) and "/there")
    answers = [ask("POST", f"{path}/savepoints") for _ in range(101)]
    ended.set()
    assert [status for status, _ in answers] == [202] * 100 + [409]
    assert "100 operations are at work" in answers[-1][1]["errors"][0]
    driver._operations.wait(10)
    assert ask("POST", f"{path}/savepoints")[0] == 202


def test_results_of_old_operations_are_forgotten(handle, driver, home):
    job_id = handle.job.settings.job_id
    for number in range(1100):
        request = driver._operations.begin(job_id, lambda number=number: f"/s{number}")
        driver._operations.wait(10)
    assert len(driver._operations._results) == 1000
    assert driver._operations.result(job_id, request) == {"location": "/s1099"}
    kept = driver._written[job_id].operations
    assert list(kept.values()) == [{"location": f"/s{number}"} for number in range(1000, 1100)]


def test_a_job_is_cancelled_by_one_thread(ask, handle, path, monkeypatch):
    asked, ended = [], threading.Event()
    monkeypatch.setattr(handle, "cancel", lambda: asked.append(1) or ended.wait(20))
    assert [ask("PATCH", path)[0] for _ in range(20)] == [202] * 20
    ended.set()
    assert asked == [1]


def test_a_savepoint_with_which_the_job_ends(ask, handle, path, driver):
    ask("POST", f"{path}/savepoints", {"target-directory": "/data", "cancel-job": True})
    driver._operations.wait(10)
    assert handle.asked == [("stop", "/data", False)]


def test_a_savepoint_that_fails(ask, handle, path, driver):
    handle.error = OSError("no room")
    request = ask("POST", f"{path}/savepoints")[1]["request-id"]
    driver._operations.wait(10)
    told = ask("GET", f"{path}/savepoints/{request}")[1]
    cause = {"class": "OSError", "stack-trace": "no room"}
    assert told["operation"] == {"failure-cause": cause}


def test_bad_requests(ask, handle, path):
    assert ask("POST", f"{path}/savepoints", {"target-directory": 3})[0] == 400
    assert ask("PATCH", path, mode="suspend")[0] == 400
    assert ask("GET", f"{path}/savepoints/unknown")[0] == 404
    assert ask("GET", f"{path}/checkpoints/details/x")[0] == 400
    assert ask("GET", f"{path}/checkpoints/details/9")[0] == 404


def test_cancel(ask, handle, path):
    assert ask("PATCH", path, mode="cancel") == (202, {})
    assert handle.ended.wait(10)
    status, told = ask("PATCH", path)
    assert status == 409
    assert "CANCELED" in told["errors"][0]


def test_checkpoints(ask, handle, path):
    history = handle.job.history
    for number, size in ((1, 10), (2, 30)):
        with history.checkpoint(number, f"file:/chk-{number}", savepoint=False) as record:
            record.size = size
    with history.checkpoint(3, "file:/sp", savepoint=True):
        during = ask("GET", f"{path}/checkpoints")[1]
    assert during["counts"] == {
        "restored": 0, "total": 3, "completed": 2, "failed": 0, "in_progress": 1
    }  # fmt: skip
    told = ask("GET", f"{path}/checkpoints")[1]
    assert told["latest"]["completed"]["external_path"] == "file:/chk-2"
    assert told["latest"]["savepoint"]["id"] == 3
    assert told["latest"]["failed"] is None
    assert [each["id"] for each in told["history"]] == [3, 2, 1]
    assert told["summary"]["state_size"]["max"] == 30
    assert ask("GET", f"{path}/checkpoints/details/2")[1]["state_size"] == 30


def test_how_checkpoints_are_made(ask, start):
    configured = start(
        configuration={
            "execution.checkpointing.interval": "5 s",
            "execution.checkpointing.dir": "file:///data",
        }
    )
    path = f"/jobs/{configured.job.settings.job_id}/checkpoints/config"
    told = ask("GET", path)[1]
    assert (told["interval"], told["mode"]) == (5000, "exactly_once")
    assert told["externalization"] == {"enabled": True, "delete_on_cancellation": True}
