"""Flink's requests about one job and its metrics, without a server."""

from __future__ import annotations

import logging
import socket
from dataclasses import replace

import pytest

from pyflink_on_spark._operate.server.rest import overview
from pyflink_on_spark._operate.server.rest.control import is_below
from pyflink_on_spark._operate.server.rest.overview import ProcessRoutes
from pyflink_on_spark._operate.server.rest.routing import Request, Router
from pyflink_on_spark._operate.view.job_log import LogTail
from pyflink_on_spark._operate.view.jobs import OperatedJob
from pyflink_on_spark._runtime.task.stacks import Current, Samples, Stack
from pyflink_on_spark._runtime.task.subtask_threads import (
    JobProgress,
    StateEntries,
    TaskProgress,
    combine,
)
from pyflink_on_spark.common import JobStatus, Types
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from pyflink_on_spark.state import SavepointWriter
from tests.operate.operated import Handle
from tests.runtime.rounds import CutSource, job_of


@pytest.fixture
def operated(driver, monkeypatch):
    """A job of three tasks in two subtasks that has reported."""
    monkeypatch.setattr(OperatedJob, "duration", 12)
    job = job_of(
        lambda stream: stream.map(str).name("read").key_by(len).map(str).name("count"),
        CutSource([1]),
        parallelism=2,
        configuration={"sasl.password": "x", "parallelism.default": "2"},
    )
    operated = OperatedJob(job, Handle(job))
    source, read, *_ = operated.tasks
    operated.handle.parts = [
        TaskProgress(source.name, 1, 70, 5_000, 0, 12, 7.5, 0),
        TaskProgress(
            read.name, 1, 40, None, 3, None, 4.0, 0, busy=1.5, backpressured=0.5, busy_share=0.2,
            backpressured_share=0.6, states=(StateEntries("count", "total", 3),),
        ),
        TaskProgress(
            read.name, 1, 30, 4_000, 2, None, 3.0, 1, busy=3.0, busy_share=0.25,
            states=(StateEntries("count", "total", 2),),
        ),
    ]  # fmt: skip
    operated.handle.progress = JobProgress("x", 0, None, combine(operated.handle.parts))
    driver.offer(operated)
    return operated


@pytest.fixture
def ask(driver, operated):
    def asked(path="", **query):
        request = Request("GET", f"/jobs/{operated.id}{path}", query)
        answer = driver.router.answer(request)
        return answer.content if answer.status == 200 else (answer.status, answer.content)

    return asked


def test_a_job(ask, operated):
    told = ask()
    assert (told["jid"], told["state"], told["job-type"]) == (operated.id, "RUNNING", "STREAMING")
    assert told["timestamps"]["RUNNING"] >= told["timestamps"]["CREATED"] > 0
    assert told["timestamps"]["FAILED"] == 0
    source, read, *_ = told["vertices"]
    assert source["metrics"]["read-records"] == 70
    assert source["metrics"]["write-records"] == 70
    assert source["metrics"]["write-records-complete"]
    assert not source["metrics"]["read-bytes-complete"]
    assert read["parallelism"] == read["tasks"]["RUNNING"] == 2
    assert sum(told["status-counts"].values()) == len(told["vertices"])


def test_a_plan(ask, operated):
    nodes = {node["description"]: node for node in ask("/plan")["plan"]["nodes"]}
    ids = {node["id"] for node in nodes.values()}
    inputs = [entry for node in nodes.values() for entry in node["inputs"]]
    count = next(node for name, node in nodes.items() if name.startswith("count"))
    assert {entry["id"] for entry in inputs} <= ids
    assert [entry["ship_strategy"] for entry in count["inputs"]] == ["HASH"]
    assert ask()["plan"] == ask("/plan")["plan"]


def test_a_task(ask, operated):
    read = operated.tasks[1]
    told = ask(f"/vertices/{read.id}")
    assert [each["metrics"]["read-records"] for each in told["subtasks"]] == [40, 30]
    assert [each["metrics"]["accumulated-busy-time"] for each in told["subtasks"]] == [1500, 3000]
    assert ask(f"/vertices/{read.id}/subtasks/1") == told["subtasks"][1]
    assert ask(f"/vertices/{read.id}/subtasks/1/attempts/0") == told["subtasks"][1]
    assert ask(f"/vertices/{read.id}/subtasks/2")[0] == 404
    assert ask(f"/vertices/{read.id}/subtasks/1/attempts/1")[0] == 404
    assert ask("/vertices/unknown")[0] == 404


def test_backpressure(ask, operated):
    told = ask(f"/vertices/{operated.tasks[1].id}/backpressure")
    assert (told["status"], told["backpressureLevel"]) == ("ok", "high")
    first, second = told["subtasks"]
    assert (first["ratio"], first["busyRatio"]) == (0.6, 0.2)
    assert first["idleRatio"] == pytest.approx(0.2)
    assert (second["backpressureLevel"], second["idleRatio"]) == ("ok", 0.75)
    before = ask(f"/vertices/{operated.tasks[-1].id}/backpressure")
    assert before == {"status": "deprecated", "subtasks": []}


def test_times_in_metrics(ask, operated):
    names = "busyTimeMsPerSecond,idleTimeMsPerSecond,backPressuredTimeMsPerSecond"
    path = f"/vertices/{operated.tasks[1].id}/subtasks/metrics"
    told = ask(path, get=names, agg="max")
    assert [each["max"] for each in told] == [250, 750, 600]
    assert ask(path, get=names, agg="max", subtasks="1")[2]["max"] == 0


def test_state(ask, operated, tmp_path):
    assert ask("/state") == {
        "states": [{"operator": "count", "state": "total", "entries": 5}],
        "checkpoint": None,
        "sizes": [],
    }
    count = ValueStateDescriptor("v", Types.LONG())
    plan = next(plan for task in operated.tasks for plan in task.operators if plan.name == "count")
    writer = SavepointWriter().put(plan.state_id, count, [("k", 1)])
    path = writer.write((tmp_path / "chk-7").as_uri())
    with operated.history.checkpoint(7, path, savepoint=False):
        pass
    told = ask("/state")
    assert told["checkpoint"] == 7
    (size,) = told["sizes"]
    assert size["operator"] == "count"
    assert size["bytes"] > 0


def test_the_log(driver, tmp_path):
    asked = lambda path: driver.router.answer(Request("GET", path))  # noqa: E731
    tail = LogTail()
    process = ProcessRoutes(driver.jobs, lambda: driver.log, tail)
    driver.router = Router()
    process.add_to(driver.router)
    tail.handle(logging.LogRecord("a", logging.INFO, "", 1, "a line", (), None))
    assert asked("/jobmanager/log").content.decode().endswith(" INFO    a - a line\n")
    assert asked("/jobmanager/logs").content == {"logs": []}
    driver.log = str(tmp_path / "job.log")
    (tmp_path / "job.log").write_text("all of it")
    assert asked("/jobmanager/log").content == b"all of it"
    assert asked("/jobmanager/logs").content["logs"][0]["size"] == 9
    assert asked("/jobmanager/logs/job.log").content == b"all of it"
    assert asked("/jobmanager/logs/other").status == 404


@pytest.mark.parametrize("path", ["/jobmanager/stdout", "/taskmanagers/driver/stdout"])
def test_the_file_of_the_standard_output(driver, tmp_path, monkeypatch, path):
    def asked(**query):
        return driver.router.answer(Request("GET", path, query))

    printed = tmp_path / "printed"
    with printed.open("wb") as file:
        monkeypatch.setattr(overview, "_STANDARD_OUTPUT", file.fileno())
        file.write(b"first\nsecond\n")
        file.flush()
        assert (asked().content, asked(**{"from": "6"}).content) == (
            b"first\nsecond\n",
            b"second\n",
        )
        printed.unlink()
        assert asked().content == b"first\nsecond\n"
    with socket.socketpair()[0] as terminal:
        monkeypatch.setattr(overview, "_STANDARD_OUTPUT", terminal.fileno())
        assert asked().status == 404
        assert "to no file" in str(asked().content)


STACK = Stack("read", 1, "read", ("Reader.map (job.py:3)", "parse (job.py:9)"))
OTHER = Stack("read", 0, "read", ("Reader.map (job.py:3)",))


@pytest.fixture
def sampled(operated):
    """The job's stacks can be sampled; the list grows with each time that hosts are asked."""
    asked = []
    task = operated.tasks[1]

    def sample_stacks(samples, pause):
        asked.append(samples)
        stacks = {replace(STACK, task=task.name): 30, replace(OTHER, task=task.name): 10}
        return [Samples(samples, stacks, (Current(STACK, "'<b>'", "7", True),))]

    operated.handle.sample_stacks = sample_stacks
    return asked


def test_a_flame_graph(ask, operated, sampled):
    path = f"/vertices/{operated.tasks[1].id}/flamegraph"
    graph = ask(path)["data"]
    assert (graph["name"], graph["value"]) == ("root", 40)
    (operator,) = graph["children"]
    (function,) = operator["children"]
    assert (operator["name"], function["name"]) == ("read", "Reader.map (job.py:3)")
    assert (function["value"], function["children"][0]["value"]) == (40, 30)
    assert ask(path, subtaskindex="0")["data"]["value"] == 10
    assert ask(path, type="on_cpu")[0] == 400
    assert ask(f"/vertices/{operated.tasks[0].id}/flamegraph")["data"]["value"] == 0
    assert len(sampled) == 1  # hosts are not asked again within seconds


def test_the_element_of_each_subtask(ask, operated, sampled):
    (told,) = ask("/stacks")["stacks"]
    assert (told["element"], told["key"], told["unchanged"]) == ("'<b>'", "7", True)
    assert told["frames"] == list(STACK.frames)


def test_the_threads_of_the_task_manager(driver, sampled):
    path = "/taskmanagers/driver/thread-dump"
    answer = driver.router.answer(Request("GET", path))
    (info,) = answer.content["threadInfos"]
    assert info == {
        "threadName": "read (1)",
        "stringifiedThreadInfo": "parse (job.py:9)\nReader.map (job.py:3)",
    }
    assert driver.router.answer(Request("GET", path.replace("driver", "tm-7"))).status == 404


def test_what_flink_tells_of_the_master_of_a_job(driver, ask, operated):
    told = {each["key"]: each["value"] for each in ask("/jobmanager/config")}
    assert told == {"sasl.password": "******", "parallelism.default": "2"}
    assert ask("/jobmanager/environment")["jvm"]["version"].startswith("CPython")
    assert ask(f"/vertices/{operated.tasks[0].id}/jm-operator-metrics") == []
    assert ask("/vertices/other/jm-operator-metrics")[0] == 404
    assert send(driver, "PATCH", f"/jobs/{operated.id}/rescaling", parallelism=3)[0] == 409


def test_no_stacks(ask, operated):
    assert ask("/stacks")[0] == 409
    operated.handle.sample_stacks = lambda samples, pause: []
    operated.handle.enter(JobStatus.FINISHED)
    assert ask("/stacks")[0] == 409


def send(driver, method, path, **body):
    answer = driver.router.answer(Request(method, path, {}, body))
    return answer.status, answer.content


def test_a_checkpoint_on_demand(driver, operated):
    path = f"/jobs/{operated.id}/checkpoints"
    assert send(driver, "POST", path)[0] == 409
    operated.handle.trigger_checkpoint = lambda: "17"
    assert send(driver, "POST", path, checkpointType="SLOW")[0] == 400
    status, told = send(driver, "POST", path, checkpointType="CONFIGURED")
    driver._operations.wait(10)
    assert status == 202
    assert send(driver, "GET", f"{path}/{told['request-id']}")[1] == {
        "status": {"id": "COMPLETED"},
        "operation": {"checkpointId": 17},
    }
    assert send(driver, "GET", f"{path}/unknown")[0] == 404


def test_a_savepoint_is_disposed(driver, operated, tmp_path):
    path = SavepointWriter().write((tmp_path / "savepoint-1").as_uri())
    results = []
    for _ in range(2):
        _, told = send(driver, "POST", "/savepoint-disposal", **{"savepoint-path": path})
        driver._operations.wait(10)
        results.append(send(driver, "GET", f"/savepoint-disposal/{told['request-id']}")[1])
    assert results[0] == {"status": {"id": "COMPLETED"}, "operation": {}}
    assert "_metadata is missing" in results[1]["operation"]["failure-cause"]["stack-trace"]
    assert not (tmp_path / "savepoint-1").exists()
    assert send(driver, "POST", "/savepoint-disposal")[0] == 400


def test_a_checkpoint_by_task_and_subtask(ask, operated, tmp_path):
    plan = next(plan for task in operated.tasks for plan in task.operators if plan.name == "count")
    task = next(task for task in operated.tasks if plan in task.operators)
    writer = SavepointWriter().put(
        plan.state_id, ValueStateDescriptor("v", Types.LONG()), [("k", 1)]
    )
    path = writer.write((tmp_path / "chk-7").as_uri())
    with operated.history.checkpoint(7, path, savepoint=False):
        pass
    whole = ask("/checkpoints/details/7")["tasks"][task.id]
    told = ask(f"/checkpoints/details/7/subtasks/{task.id}")
    sizes = [each["state_size"] for each in told["subtasks"]]
    assert len(sizes) == task.parallelism
    assert sum(sizes) == whole["state_size"] == told["state_size"] > 0
    assert told["summary"]["state_size"]["max"] == max(sizes)
    (tmp_path / "chk-7" / "_metadata").unlink()
    assert ask(f"/checkpoints/details/7/subtasks/{task.id}")[0] == 404
    assert ask("/checkpoints/details/7")["tasks"] == {}
    assert ask(f"/checkpoints/details/8/subtasks/{task.id}")[0] == 404


@pytest.mark.parametrize(
    "path",
    ["/jobmanager/metrics", "/jobmanager/environment", "/jobmanager/thread-dump",
     "/taskmanagers/driver", "/taskmanagers/metrics", "/taskmanagers/driver/metrics",
     "/taskmanagers/driver/logs", "/jobs/{job}/resource-requirements",
     "/jobs/{job}/vertices/{task}/subtasks/1/metrics"],
)  # fmt: skip
def test_what_dashboards_and_autoscalers_ask(driver, operated, path):
    path = path.format(job=operated.id, task=operated.tasks[1].id)
    assert send(driver, "GET", path)[0] == 200
    status, told = send(driver, "OPTIONS", path)
    assert (status, told) == (204, b"")
    assert send(driver, "HEAD", path)[0] == 200


def test_metrics_of_one_subtask(ask, operated):
    path = f"/vertices/{operated.tasks[1].id}/subtasks/1/metrics"
    assert ask(path, get="numRecordsIn") == [{"id": "numRecordsIn", "value": "30"}]
    assert ask(path.replace("/1/", "/7/"))[0] == 404


def test_the_parallelism_of_a_running_job_stays(driver, operated):
    path = f"/jobs/{operated.id}/resource-requirements"
    bounds = {"parallelism": {"lowerBound": 2, "upperBound": 2}}
    assert send(driver, "GET", path)[1][operated.tasks[1].id] == bounds
    status, told = send(driver, "PUT", path)
    assert status == 409
    assert "run -p N -s SAVEPOINT" in told["errors"][0]


def test_unknown_task_managers(driver, operated):
    assert send(driver, "GET", "/taskmanagers/other")[0] == 404
    assert send(driver, "GET", "/taskmanagers/other/metrics")[0] == 404
    assert send(driver, "OPTIONS", "/nowhere")[0] == 404


def test_metrics_of_the_job(ask):
    assert {"id": "numRestarts"} in ask("/metrics")
    assert ask("/metrics", get="numRestarts,nothing") == [{"id": "numRestarts", "value": "0"}]


def test_metrics_of_a_task(ask, operated):
    path = f"/vertices/{operated.tasks[1].id}"
    assert {"id": "1.numRecordsIn"} in ask(f"{path}/metrics")
    assert ask(f"{path}/metrics", get="1.numRecordsIn") == [{"id": "1.numRecordsIn", "value": "30"}]
    assert {"id": "stateEntries"} in ask(f"{path}/subtasks/metrics")
    assert ask(f"{path}/subtasks/metrics", get="numRecordsIn") == [
        {"id": "numRecordsIn", "min": 30, "max": 40, "avg": 35, "sum": 70}
    ]
    assert ask(f"{path}/subtasks/metrics", get="numRecordsIn", agg="max") == [
        {"id": "numRecordsIn", "max": 40}
    ]
    assert ask(f"{path}/subtasks/metrics", get="numRecordsIn", agg="median")[0] == 400


def test_watermarks(ask, operated):
    assert ask(f"/vertices/{operated.tasks[1].id}/watermarks") == [
        {"id": "0.currentInputWatermark", "value": str(-(2**63))},
        {"id": "1.currentInputWatermark", "value": "4000"},
    ]
    assert ask(f"/vertices/{operated.tasks[0].id}/watermarks")[0]["value"] == "5000"


def test_exceptions(ask, operated):
    assert ask("/exceptions")["exceptionHistory"]["entries"] == []
    operated.history.attempt_failed(RuntimeError("Traceback:\n  line\nKeyError: 'x'\n"), 100)
    operated.handle.enter(JobStatus.FAILED, RuntimeError("last"))
    told = ask("/exceptions")
    assert told["root-exception"] == "last"
    last, first = told["exceptionHistory"]["entries"]
    assert last["exceptionName"] == "last"
    assert first["exceptionName"] == "KeyError: 'x'"
    assert first["stacktrace"].startswith("Traceback:")


def test_a_configuration_shows_no_secrets(ask):
    shown = ask("/config")["execution-config"]["user-config"]
    assert shown["sasl.password"] == "******"
    assert shown["parallelism.default"] == "2"


def test_accumulators(ask):
    assert ask("/accumulators")["user-task-accumulators"] == [
        {"name": "seen", "type": "int", "value": "3"}
    ]
    assert ask("/status") == {"status": "RUNNING"}


@pytest.mark.parametrize(
    ("place", "allowed"),
    [
        ("file:///data/savepoints", True),
        ("/data/savepoints/mine", True),
        ("file:/data/savepoints/../other", False),
        ("/data/savepoints-of-others", False),
        ("/data", False),
        ("s3://bucket/jobs/a", True),
        ("s3://bucket/jobs/../other", False),
        ("s3://other/jobs", False),
    ],
)
def test_savepoints_below_the_allowed_folders(place, allowed):
    assert is_below(place, ["file:///data/savepoints", "s3://bucket/jobs/"]) is allowed


def test_a_link_does_not_lead_out_of_the_allowed_folders(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path)
    assert not is_below(str(tmp_path / "in" / "link" / "x"), [str(tmp_path / "in")])


def test_savepoints_elsewhere_are_refused(driver, start, tmp_path):
    handle = start(configuration={"pyflink-on-spark.rest.savepoint-folders": "/data/savepoints"})
    path = f"/jobs/{handle.job.settings.job_id}"
    for rest, name in (("/savepoints", "target-directory"), ("/stop", "targetDirectory")):
        status, told = send(driver, "POST", path + rest, **{name: str(tmp_path)})
        assert status == 403
        assert "/data/savepoints (pyflink-on-spark.rest.savepoint-folders)" in told["errors"][0]
    assert send(driver, "POST", "/savepoint-disposal", **{"savepoint-path": "/x"})[0] == 403
    assert handle.asked == []
    assert send(driver, "POST", f"{path}/savepoints")[0] == 202
    driver._operations.wait(10)
    assert handle.asked == [("savepoint", None)]
