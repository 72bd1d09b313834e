"""The messages of a job in the driver's log."""

from __future__ import annotations

import logging

import pytest

from pyflink_on_spark._operate.view.job_log import JobLog
from pyflink_on_spark._operate.view.jobs import OperatedJob
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark._runtime.task.progress import JobProgress, TaskProgress
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
    handle.enter(JobStatus.RUNNING)
    handle.enter(JobStatus.RESTARTING)
    handle.enter(JobStatus.RUNNING)
    first, second = caplog.messages
    assert first.startswith(f"'counter' ({handle.job.settings.job_id}) begins: ")
    assert first.endswith("x1")
    assert second == "'counter' begins with checkpoint 3: file:/chk-3"


def test_a_script_that_logs_at_info_sees_only_its_own(handle, caplog):
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


def test_a_heartbeat(handle):
    assert handle.log.heartbeat() == "'counter' is RUNNING"
    source = TaskProgress("read", 2, 1_500, 990_000, 0, 12, 250.0)
    done = TaskProgress("rest", 2, 0, MAX_WATERMARK, 3, None)
    handle.progress = JobProgress("counter", 0, 4, (source, done))
    assert handle.log.heartbeat() == (
        "counter | 1,500 records | 250/s | backlog 12 | watermark 1970-01-01 00:16:30 | state 3 | "
        "checkpoint 4 | watermark lag 10.0 s"
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
