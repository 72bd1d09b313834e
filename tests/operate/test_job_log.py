"""The messages of a job in the driver's log."""

from __future__ import annotations

import logging

import pytest

from pyflink_on_spark._operate.view.job_log import JobLog, for_people
from pyflink_on_spark._operate.view.jobs import OperatedJob
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark._runtime.task.subtask_threads import JobProgress, TaskProgress
from pyflink_on_spark.common import JobStatus
from tests.operate.operated import Handle, job


@pytest.fixture
def handle(caplog):
    caplog.set_level(logging.INFO, "pyflink_on_spark.job")
    made = job(configuration={"pyflink-on-spark.log.heartbeat-interval": "0 ms"})
    handle = Handle(made)
    handle.log = JobLog(OperatedJob(made, handle), now=lambda: 1_000.0)
    made.history.listen(handle.log)
    return handle


def test_the_beginning(handle, caplog):
    handle.job.history.restored_from(3, "file:/chk-3", savepoint=False)
    handle.job.history.begins()
    first, second = caplog.messages
    assert first.startswith(f"'counter' ({handle.job.settings.job_id}) begins: ")
    assert first.endswith("x1")
    assert second == "'counter' begins with checkpoint 3: file:/chk-3"


def test_a_script_that_logs_at_info_sees_only_its_own(handle, caplog):
    caplog.set_level(logging.NOTSET, "pyflink_on_spark")
    caplog.set_level(logging.NOTSET, "pyflink_on_spark.job")
    caplog.set_level(logging.INFO)
    logging.getLogger("script").info("the script's")
    handle.enter(JobStatus.RUNNING)
    assert caplog.messages == ["the script's"]


def test_checkpoints(handle, caplog):
    with handle.job.history.checkpoint(4, "file:/chk-4", savepoint=False) as record:
        record.size = 12_345
    with pytest.raises(OSError, match="full"), handle.job.history.checkpoint(5, None, True):
        raise OSError("full")
    first, second = caplog.messages
    assert first.startswith("'counter': checkpoint 4 has 12,345 bytes in ")
    assert first.endswith(" ms: file:/chk-4")
    assert second.startswith("'counter': savepoint 5 was aborted after ")


def test_the_end_and_why(handle, caplog):
    handle.enter(JobStatus.FAILED, RuntimeError("the disk is full\nmuch more"))
    assert caplog.messages[0].startswith("'counter' is FAILED after ")
    assert caplog.messages[0].endswith(" s: the disk is full")


def test_the_end_names_the_exception_and_not_the_traceback(handle, caplog):
    text = (
        "Traceback (most recent call last):\n"
        '  File "/job.py", line 13, in parse\n'
        "    return float(amount)\n"
        "           ^^^^^^^^^^^^^\n"
        "ValueError: could not convert string to float: '12,50'\n"
        "in operator 'parse', added at /job.py:18 (task parse (1/2))\n"
        "while it worked on 'a;12,50'"
    )
    handle.enter(JobStatus.FAILED, RuntimeError(text))
    assert caplog.messages[0].endswith(" s: ValueError: could not convert string to float: '12,50'")


def test_states_with_the_cause_of_restarts(handle, caplog):
    history = handle.job.history
    history.begins()
    caplog.clear()
    handle.enter(JobStatus.RUNNING)
    history.attempt_failed(RuntimeError("Traceback:\n  x = m[k]\nKeyError: 'k'\n"), 100)
    handle.enter(JobStatus.RESTARTING)
    handle.enter(JobStatus.RUNNING)
    first, second = caplog.messages
    assert first.startswith("'counter' is RUNNING, ")
    assert second.startswith("'counter' is RUNNING again, after restart 1, ")


def test_the_heart_of_a_job_that_does_not_run(handle, monkeypatch):
    history = handle.job.history
    monkeypatch.setattr(handle.log, "_now", lambda: handle.log._operated.since / 1000 + 12)
    handle.enter(JobStatus.CREATED)
    assert handle.log.heartbeat() == "'counter' is CREATED for 12 s"
    history.initializes()
    assert handle.log.heartbeat() == "'counter' is INITIALIZING for 12 s"
    handle.enter(JobStatus.RUNNING)
    handle.progress = JobProgress("counter", 0, 4, ())
    history.attempt_failed(RuntimeError("Traceback:\nKeyError: 'k'\n"), 100)
    handle.enter(JobStatus.RESTARTING)
    assert handle.log.heartbeat() == (
        "'counter' is RESTARTING for 12 s | restarts: 1, the last one because of KeyError: 'k'"
    )
    handle.enter(JobStatus.RUNNING)
    assert handle.log.heartbeat() == "'counter' is RUNNING, and its tasks have not reported yet"


def test_a_heartbeat(handle):
    source = TaskProgress("read", 2, 1_500, 990_000, 0, 12, 250.0)
    done = TaskProgress("rest", 2, 0, MAX_WATERMARK, 3, None)
    handle.progress = JobProgress("counter", 0, 4, (source, done))
    assert handle.log.heartbeat() == (
        "counter | 1,500 records | 250/s | backlog 12 | watermark 1970-01-01 00:16:30 | state 3 | "
        "checkpoint 4 | watermark lag 10.0 s"
    )


def test_the_heart_of_a_job_whose_driver_waits(handle):
    """Its figures are those of the time before."""
    handle.progress = JobProgress("counter", 0, 4, (TaskProgress("read", 2, 9, None, 0, 0, 250.0),))
    handle.job.history.waiting = ("the sink Files to commit checkpoint 7", 948_000)
    assert handle.log.heartbeat() == (
        "'counter' is RUNNING; the driver waits for the sink Files to commit checkpoint 7, "
        "since 52 s"
    )


def test_hearts_beat_until_the_end(caplog):
    caplog.set_level(logging.INFO, "pyflink_on_spark.job")
    made = job(configuration={"pyflink-on-spark.log.heartbeat-interval": "1 ms"})
    handle = Handle(made)
    beats = []
    log = JobLog(OperatedJob(made, handle))

    def beat():
        beats.append(1)
        if len(beats) == 3:
            handle.enter(JobStatus.FINISHED)
        return "beat"

    log.heartbeat = beat
    made.history.listen(log)
    handle.enter(JobStatus.RUNNING)
    assert handle.ended.wait(10)
    assert len(beats) == 3


@pytest.mark.parametrize(("name", "shown"), [
    ("a -> _stream_key_by_map_operator (1/2)", "a -> Key By (1/2)"),
    ("_partition_custom_map_operator", "partition custom map"),
    ("_keyed_stream_values_operator -> x", "keyed stream values -> x"),
    ("my_map_operator", "my_map_operator"), ("_parse_operator", "_parse_operator"),
])  # fmt: skip
def test_names_that_no_program_has_written(name, shown):
    assert for_people(name) == shown
