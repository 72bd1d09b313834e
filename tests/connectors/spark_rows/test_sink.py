"""Rows staged for Spark are handed over once, or again as the same rows; processes die anywhere."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from pyarrow import parquet

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._connectors.spark_rows.sink import StagedSink, StagingPlace, make_durable
from pyflink_on_spark._job.checkpoints.commits import Commits
from pyflink_on_spark._runtime.contract.operator import OperatorContext, RuntimeContext, TaskInfo
from pyflink_on_spark._runtime.elements.bundle import Cursor
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark.common import Types


class Killed(BaseException):
    """The immediate end of a process."""


class Run:
    """One run of a job: its sink in the driver, and writers as workers have them."""

    def __init__(self, path, calls, stays=True):
        self.calls, self.then = calls, lambda: None
        sink = StagedSink(lambda _: StagingPlace(str(path), stays), self._write)
        self.sink = sink.with_input_type(Types.STRING()).with_configuration({})

    def _write(self, files, number):
        rows = [row["value"] for file in files for row in parquet.read_table(file).to_pylist()]
        self.calls.append((sorted(rows), number))
        self.then()

    def writer(self, attempt=0):
        task = TaskInfo("sink", 0, 1, attempt=attempt)
        runtime = RuntimeContext(task, None, SystemClock())
        context = OperatorContext(task, Cursor(), SystemClock(), None, None, None, runtime)
        return pickle.loads(pickle.dumps(self.sink)).writer(context)

    def prepared(self, number, *values, attempt=0):
        """Return the committables of a checkpoint: a file for each of some subtasks."""
        found = []
        for value in values:
            writer = self.writer(attempt)
            writer.write(iter([value]))
            found += writer.prepare_checkpoint(number)
        return pickle.loads(pickle.dumps(found))


@pytest.fixture
def calls():
    return []


@pytest.fixture
def run(tmp_path, calls):
    return Run(tmp_path, calls)


def files(path):
    return [found.name for found in Path(path).rglob("*.parquet")]


def test_a_checkpoint_is_handed_over_once(run, calls, tmp_path):
    run.sink.commit(run.prepared(5, "a", "b"))
    run.sink.commit(run.prepared(6, "c"))
    assert calls == [(["a", "b"], 5), (["c"], 6)]
    assert not files(tmp_path)


def test_what_was_handed_over_is_not_handed_over_again(run, calls, tmp_path):
    fifth, sixth = run.prepared(5, "a"), run.prepared(6, "b")
    run.sink.commit(fifth)
    run.sink.commit(sixth)
    another = Run(tmp_path, calls)
    another.sink.commit_again(sixth)
    another.sink.commit_again(fifth)
    another.sink.commit(another.prepared(6, "c"))
    assert calls == [(["a"], 5), (["b"], 6), (["c"], 6)]


@pytest.mark.parametrize("survivors", [0, 1, 2])
def test_killed_while_files_are_removed(run, calls, tmp_path, monkeypatch, survivors):
    checkpoint = run.prepared(5, "a", "b")
    left = [2 - survivors]
    unlink = Path.unlink

    def remove(path, missing_ok=False):
        if path.suffix == ".parquet":
            if not left[0]:
                raise Killed
            left[0] -= 1
        unlink(path, missing_ok=missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", remove)
        if survivors:
            with pytest.raises(Killed):
                run.sink.commit(checkpoint)
        else:
            run.sink.commit(checkpoint)
    assert len(files(tmp_path)) == survivors
    Run(tmp_path, calls).sink.commit_again(checkpoint)
    assert calls == [(["a", "b"], 5)]
    assert not files(tmp_path)


def test_killed_before_it_is_noted(run, calls, tmp_path):
    checkpoint = run.prepared(5, "a", "b")

    def die():
        raise Killed

    run.then = die
    with pytest.raises(Killed):
        run.sink.commit(checkpoint)
    Run(tmp_path, calls).sink.commit_again(checkpoint)
    assert calls == [(["a", "b"], 5)] * 2
    assert not files(tmp_path)


def test_killed_before_anything_is_handed_over(run, calls, tmp_path):
    checkpoint = run.prepared(5, "a", "b")
    Run(tmp_path, calls).sink.commit_again(checkpoint)
    assert calls == [(["a", "b"], 5)]


@pytest.mark.parametrize("gone", [1, 2])
def test_files_that_are_gone_without_a_note_are_an_error(run, calls, tmp_path, gone):
    checkpoint = run.prepared(5, "a", "b")
    for file in checkpoint[:gone]:
        Path(file.path).unlink()
    with pytest.raises(FileNotFoundError, match=f"checkpoint 5 .*{gone} of 2 files"):
        Run(tmp_path, calls).sink.commit_again(checkpoint)
    assert not calls


def test_a_failed_write_gets_all_again(run, calls):
    checkpoint = run.prepared(5, "a", "b")

    def fail():
        raise OSError("no space left")

    run.then = fail
    with pytest.raises(OSError, match="space"):
        run.sink.commit(checkpoint)
    run.then = lambda: None
    run.sink.commit_again(checkpoint)
    assert calls == [(["a", "b"], 5)] * 2


def test_an_aborted_checkpoint_goes_with_the_next_one(run, calls):
    run.sink.commit(run.prepared(4, "a"))
    run.sink.commit([*run.prepared(5, "b"), *run.prepared(6, "c")])
    assert calls == [(["a"], 4), (["b", "c"], 6)]


def test_what_ended_before_a_checkpoint_has_its_number(run, calls):
    writer = run.writer()
    writer.write(iter(["a"]))
    run.sink.commit(writer.prepare_checkpoint(7))
    writer.write(iter(["b"]))
    ended = writer.prepare_commit()
    ended += writer.prepare_checkpoint(8)
    run.sink.commit(pickle.loads(pickle.dumps(ended)))
    assert calls == [(["a"], 7), (["b"], 8)]


def test_without_checkpoints_nothing_stays(run, calls, tmp_path):
    writer = run.writer()
    writer.write(iter(["a"]))
    run.sink.commit(writer.prepare_commit())
    assert calls == [(["a"], 0)]
    assert not list(tmp_path.iterdir())
    writer = run.writer(attempt=1)
    writer.write(iter(["b"]))
    run.sink.abort(writer.prepare_commit())
    assert not list(tmp_path.iterdir())


def test_without_checkpoints_another_attempt_is_handed_over_too(run, calls):
    for attempt in (0, 1):
        writer = run.writer(attempt)
        writer.write(iter([str(attempt)]))
        run.sink.commit(writer.prepare_commit())
    assert calls == [(["0"], 0), (["1"], 0)]


def test_what_a_lost_attempt_has_left_is_removed(run, calls, tmp_path):
    run.prepared(3, "lost")
    kept = run.prepared(4, "begun later", attempt=2)
    other = Run(tmp_path, calls)
    other.prepared(3, "of another run")
    run.sink.commit(run.prepared(4, "a", attempt=1))
    assert sorted(name[0] for name in files(tmp_path)) == ["0", "2"]
    run.sink.commit(kept)
    assert [name[0] for name in files(tmp_path)] == ["0"]
    assert Path(tmp_path, Path(other.sink._folder).name).is_dir()


def test_a_run_hands_over_what_a_savepoint_has_though_the_job_went_back_behind_it(
    run, calls, tmp_path
):
    run.sink.commit(run.prepared(1, "row 2"))
    savepoint = run.prepared(2, "rows 3 to 6")
    for _ in range(2):
        run.sink.keep(savepoint)
    lost = run.prepared(3, "lost")
    # The attempt fails, and the next one goes back to checkpoint 1.
    run.sink.commit(run.prepared(3, "row 3", attempt=1))
    run.sink.commit(run.prepared(4, "rows 4 to 6", attempt=1))
    assert not Path(lost[0].path).exists()
    another = Run(tmp_path, calls)
    another.sink.commit_again(savepoint)
    another.sink.commit_again(savepoint)
    another.sink.commit(another.prepared(3, "row 7"))
    assert calls[3:] == [(["rows 3 to 6"], 2), (["row 7"], 3)]


def test_a_savepoint_of_what_the_job_has_handed_over_hands_nothing_over(run, calls, tmp_path):
    savepoint = run.prepared(2, "a")
    run.sink.keep(savepoint)
    run.sink.commit([*savepoint, *run.prepared(3, "b")])
    run.sink.commit(run.prepared(3, "c", attempt=1))
    assert not files(tmp_path)
    Run(tmp_path, calls).sink.commit_again(savepoint)
    assert calls == [(["a", "b"], 3), (["c"], 3)]


def test_a_job_that_fails_without_a_checkpoint_after_a_savepoint(run, calls, tmp_path):
    savepoint = run.prepared(1, "a")
    run.sink.keep(savepoint)
    run.sink.commit(run.prepared(2, "A", attempt=1))
    Run(tmp_path, calls).sink.commit_again(savepoint)
    assert calls == [(["A"], 2), (["a"], 1)]


def test_a_writer_that_is_given_up_leaves_nothing(run, tmp_path):
    writer = run.writer()
    writer.write(iter(["a"]))
    writer.close()
    assert not files(tmp_path)


def test_the_note_is_safe_before_a_file_goes(run, monkeypatch):
    order = []
    monkeypatch.setattr(
        "pyflink_on_spark._connectors.spark_rows.sink.note_handed_over",
        lambda _: order.append("note"),
    )
    monkeypatch.setattr(
        "pyflink_on_spark._connectors.spark_rows.sink.remove_files",
        lambda _: order.append("remove"),
    )
    run.sink.commit(run.prepared(5, "a"))
    assert order == ["note", "remove"]


def test_files_are_safe_before_the_checkpoint_is(run, monkeypatch):
    safe = []
    monkeypatch.setattr(
        "pyflink_on_spark._connectors.spark_rows.sink.make_durable",
        lambda path: (make_durable(path), safe.append(str(path))),
    )
    (file,) = run.prepared(5, "a")
    assert safe == [file.path]


def test_a_temporary_folder_takes_no_durable_checkpoint(tmp_path, calls):
    commits = Commits({"sink": Run(tmp_path, calls, stays=False).sink})
    with pytest.raises(CheckpointError, match=r"to_spark\(\) .*temporary.*staging="):
        commits.check_durable()
    Commits({"sink": Run(tmp_path, calls).sink}).check_durable()
