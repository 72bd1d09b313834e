"""Where rows are staged, and what follows a DataFrame; without Spark."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.connectors.staged_rows.sink import StagedSink, StagingPlace
from pyflink_on_spark._runtime.context import SystemClock
from pyflink_on_spark._runtime.operators.sink import SinkOperator
from pyflink_on_spark._runtime.plan import OperatorPlan
from pyflink_on_spark._spark.continuous.coordinator import CheckpointCoordinator
from pyflink_on_spark._spark.continuous.settings import CheckpointSettings
from pyflink_on_spark._spark.frames import given_place, staging_place
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
