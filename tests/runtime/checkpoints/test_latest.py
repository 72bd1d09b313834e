"""The checkpoint or savepoint with which a job continues is the latest that is complete."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import METADATA, complete
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder, folder
from pyflink_on_spark.state import latest_checkpoint


def written(path, time, checkpoint_id=1, job="j", savepoint=False):
    place = folder(path.as_uri())
    complete(
        place,
        checkpoint_id=checkpoint_id,
        job_id=job,
        job_name="job",
        time=time,
        savepoint=savepoint,
        files=[],
        committables=[],
    )
    return place.uri


@pytest.fixture
def folders(tmp_path):
    return (tmp_path / "checkpoints").as_uri(), (tmp_path / "savepoints").as_uri()


def test_nothing_was_written(folders, tmp_path):
    assert latest_checkpoint(*folders) is None
    (tmp_path / "checkpoints" / "job" / "chk-1").mkdir(parents=True)
    assert latest_checkpoint(*folders) is None


def test_the_latest_of_all_folders(folders, tmp_path):
    checkpoint = written(tmp_path / "checkpoints" / "job" / "chk-9", time=1)
    assert latest_checkpoint(*folders) == checkpoint
    savepoint = written(tmp_path / "savepoints" / "savepoint-1", time=3, job="k")
    written(tmp_path / "checkpoints" / "other job" / "chk-1", time=2, job="l")
    assert latest_checkpoint(*folders) == savepoint
    assert latest_checkpoint(folders[0]) != savepoint


def test_of_one_time_the_one_with_the_highest_number(folders, tmp_path):
    job = tmp_path / "checkpoints" / "job"
    tenth = written(job / "chk-10", time=1, checkpoint_id=10)
    written(job / "chk-9", time=1, checkpoint_id=9)
    assert latest_checkpoint(*folders) == tenth


def test_the_clock_may_be_set_back_while_a_job_runs(folders, tmp_path):
    job = tmp_path / "checkpoints" / "job"
    written(job / "chk-9", time=3_600_000, checkpoint_id=9)
    tenth = written(job / "chk-10", time=1, checkpoint_id=10)
    assert latest_checkpoint(*folders) == tenth
    written(tmp_path / "savepoints" / "savepoint-1", 4_000_000, checkpoint_id=8, savepoint=True)
    assert latest_checkpoint(*folders) == tenth


def test_the_clock_may_be_set_back_between_a_job_and_the_next_that_continues_it(folders, tmp_path):
    first = tmp_path / "checkpoints" / "a"
    ninth = written(first / "chk-9", time=3_600_000, checkpoint_id=9, job="a")
    (first / "_owner").write_text("b\nchk-9\nprogram\n1")
    assert latest_checkpoint(*folders) == ninth, "the next job has none of its own yet"
    tenth = written(tmp_path / "checkpoints" / "b" / "chk-10", time=1, checkpoint_id=10, job="b")
    assert latest_checkpoint(*folders) == tenth
    (first / "_owner").write_text("a")
    assert latest_checkpoint(*folders) == ninth


def test_shared_and_hidden_folders_hold_no_checkpoints(folders, tmp_path):
    for name in ("shared", ".trash"):
        written(tmp_path / "checkpoints" / name / "chk-1", time=1)
    assert latest_checkpoint(*folders) is None


def test_one_that_is_removed_meanwhile_does_not_count(folders, tmp_path, monkeypatch):
    earlier = written(tmp_path / "checkpoints" / "job" / "chk-1", time=1)
    written(tmp_path / "checkpoints" / "job" / "chk-2", time=2)
    read = Folder.read

    def removed(place, name):
        if place.uri.endswith("chk-2"):
            raise FileNotFoundError(name)
        return read(place, name)

    monkeypatch.setattr(Folder, "read", removed)
    assert latest_checkpoint(*folders) == earlier


def test_a_damaged_one_is_not_passed_over(folders, tmp_path):
    written(tmp_path / "checkpoints" / "job" / "chk-1", time=1)
    (tmp_path / "checkpoints" / "job" / "chk-1" / METADATA).write_text("{")
    with pytest.raises(CheckpointError, match="chk-1/_metadata is damaged"):
        latest_checkpoint(*folders)
