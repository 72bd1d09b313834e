"""Where rows are staged, and what follows a DataFrame; without Spark."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from pyflink_on_spark._compat.errors import CheckpointError, EnvironmentSetupError
from pyflink_on_spark._connectors.spark_rows.sink import StagedSink, StagingPlace
from pyflink_on_spark._connectors.spark_rows.source import BatchFolder
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.checkpoints.coordinator import CheckpointCoordinator
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.contract.plan import JobSettings, OperatorPlan
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._runtime.operators.stateless import SinkOperator
from pyflink_on_spark._spark.jobs.running_job import RunningJob
from pyflink_on_spark._spark.session.frames import (
    FollowingQuery,
    _write_batch,
    given_place,
    staging_place,
)
from pyflink_on_spark.common import Types

INTERVAL = {"execution.checkpointing.interval": "1 s"}
CHECKPOINTS, SAVEPOINTS = "execution.checkpointing.dir", "execution.checkpointing.savepoint-dir"


@pytest.mark.parametrize(
    "settings",
    [
        {CHECKPOINTS: "kept"},
        {SAVEPOINTS: "kept"},
        {CHECKPOINTS: "kept", SAVEPOINTS: "other"},
        {CHECKPOINTS: "s3://bucket/x", SAVEPOINTS: "kept"},
    ],
)
def test_where_checkpoints_are(tmp_path, settings):
    place = staging_place(
        {
            name: value if "://" in value else (tmp_path / value).as_uri()
            for name, value in settings.items()
        }
    )
    assert (place.path, place.stays) == (str(tmp_path / "kept" / "staged-for-spark"), True)


@pytest.mark.parametrize("settings", [{}, {CHECKPOINTS: "s3://bucket/x"}])
def test_a_temporary_one_where_nothing_local_stays(settings):
    assert not staging_place(settings).stays


def test_where_the_user_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = given_place("rows")({CHECKPOINTS: "file:///elsewhere"})
    assert (place.path, place.stays) == (str(tmp_path / "rows"), True)


def coordinator(configuration, place=staging_place):
    sink = StagedSink(place, lambda files, number: None).with_input_type(Types.STRING())
    operator = SinkOperator(sink.with_configuration(configuration), 1)
    plan = OperatorPlan(1, "sink", operator, "sink")
    return CheckpointCoordinator(
        CheckpointSettings.of(configuration), "j", "job", [plan],
        {1: operator._sink}, SystemClock(),
    )  # fmt: skip


def test_a_job_with_checkpoints_that_stay_stages_nothing_in_a_temporary_folder(tmp_path):
    stays = {**INTERVAL, CHECKPOINTS: tmp_path.as_uri()}
    with pytest.raises(CheckpointError, match=r"to_spark\(\) stages rows in a temporary folder"):
        coordinator(stays, lambda _: StagingPlace(str(tmp_path), False))
    coordinator(stays)
    coordinator(stays, given_place(str(tmp_path)))
    coordinator(INTERVAL)


def test_no_savepoint_of_rows_in_a_temporary_folder(tmp_path):
    with pytest.raises(CheckpointError, match=r"to_spark\(\) stages rows in a temporary folder"):
        coordinator(INTERVAL).savepoint_folder(str(tmp_path / "s"))
    assert not (tmp_path / "s").exists()
    coordinator(INTERVAL, given_place(str(tmp_path))).savepoint_folder(str(tmp_path / "s"))


class Query:
    """A streaming query, as far as it is asked."""

    def __init__(self, active, error=None):
        self.isActive, self._error = active, error

    def exception(self):
        return self._error


def test_a_query_that_goes_on_has_not_failed():
    assert FollowingQuery(Query(True)).failure() is None


def test_a_query_that_has_failed_says_why():
    cause = RuntimeError("[STREAM_FAILED] no more Kafka")
    error = FollowingQuery(Query(False, cause)).failure()
    assert "the streaming DataFrame that the job reads has ended: [STREAM_FAILED]" in str(error)
    assert error.__cause__ is cause


def test_a_query_that_somebody_stopped_is_a_failure_too():
    assert "its query was stopped" in str(FollowingQuery(Query(False)).failure())


class Frame:
    """A batch, as far as it is written."""

    def __init__(self):
        self.written = []
        self.write = self

    def mode(self, mode):
        assert mode == "overwrite"
        return self

    def parquet(self, path):
        self.written.append(path)
        Path(path).mkdir()


def test_a_batch_is_written_once_and_not_after_it_was_removed(tmp_path):
    folder, frame = BatchFolder(str(tmp_path)), Frame()
    for number in (0, 0, 1):
        _write_batch(frame, folder, number)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["batch-0", "batch-1"]
    assert len(frame.written) == 2
    folder.note_position(1, 0, 2)
    folder.remove_read(1, 1)
    _write_batch(frame, folder, 1)
    assert len(frame.written) == 2
    assert not folder.is_there(1)


class Restarting(RunningJob):
    """A job whose attempts are those of a test."""

    def __init__(self, job, attempt):
        super().__init__(job)
        self._attempt = attempt

    cancel = trigger_savepoint = stop_with_savepoint = None
    _run = _clean_up = _attempt = None

    def _failed_printer(self):
        return None

    def _check_spark(self, error):
        """Nothing: there is no Spark."""


def test_each_attempt_but_the_first_begins_with_what_has_failed():
    restarts = {
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "0 s",
        "restart-strategy.fixed-delay.attempts": "3",
    }
    events = []

    def attempt(number):
        events.append(number)
        if number < 2:
            raise RuntimeError("Kafka is gone")

    job = Job("job", JobSettings("j", configuration=restarts), ())
    object.__setattr__(job, "begins_again", lambda: events.append("again"))
    Restarting(job, attempt)._attempts()
    assert events == [0, "again", 1, "again", 2]


def test_rows_that_spark_writes_on_another_machine_are_missed(tmp_path):
    elsewhere = SimpleNamespace(parquet=lambda _: None)
    frame = SimpleNamespace(write=SimpleNamespace(mode=lambda _: elsewhere))
    with pytest.raises(EnvironmentSetupError, match="a folder that this one sees as well"):
        _write_batch(frame, BatchFolder(str(tmp_path)), 0)
