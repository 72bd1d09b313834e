"""Batches that Spark stages are read once each, kept while they are needed, and watched."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from pyflink_on_spark._connectors.hybrid import SourceChain
from pyflink_on_spark._connectors.spark_rows.source import BatchFolder, StagedRows
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.contract.plan import (
    JobSettings,
    OperatorChainPlan,
    StagePlan,
    VertexPlan,
)
from pyflink_on_spark.common import Types
from tests.connectors.reading import checkpoint, readers_of, take


class Staged:
    """Spark, as far as a job sees it."""

    def __init__(self):
        self.folders, self.ended, self.asked, self.failed = [], 0, 0, None

    def __call__(self, folder):
        self.folders.append(folder)
        self.failed = None
        return self

    def failure(self):
        self.asked += 1
        return self.failed

    def end(self):
        self.ended += 1


class Seconds:
    """A clock that a test moves; picklable, as the real one is."""

    now = 0.0

    def __call__(self):
        return self.now


class World:
    def __init__(self, path, lasting=True):
        self.spark = Staged()
        self.source = StagedRows(
            str(path), lasting, Types.ROW([Types.INT()]), False, self.spark, Seconds()
        ).with_configuration({})

    def pass_seconds(self, seconds):
        self.source._clock.now += seconds

    def begin(self, parallelism=2, saved=None):
        self.source.splits(parallelism)
        return self.readers(parallelism, saved)

    def readers(self, parallelism=2, saved=None):
        return readers_of(self.source, parallelism, saved, splits=[])

    @property
    def folder(self):
        return BatchFolder(self.spark.folders[-1])

    def write(self, number, *files):
        """Write a batch: a list of values for each file."""
        batch = self.folder.batch(number)
        batch.mkdir(parents=True)
        for index, values in enumerate(files):
            parquet.write_table(pa.table({"n": list(values)}), batch / f"part-{index}.parquet")

    def batches(self):
        return sorted(int(p.name[6:]) for p in Path(self.folder.path).glob("batch-*"))


@pytest.fixture
def world(tmp_path):
    return World(tmp_path / "staging")


def values(readers, count):
    return sorted(row[0] for row in take(readers, count))


def completed(world, readers, number, oldest=None):
    """Make a checkpoint, and let the driver know of the oldest that is kept."""
    saved = checkpoint(readers, number)
    world.source.maintain(number if oldest is None else oldest)
    return saved


def test_all_batches_are_read_by_all_subtasks(world):
    readers = world.begin()
    world.write(0, [1, 2], [3])
    world.write(1)
    world.write(2, [4])
    assert values(readers, 4) == [1, 2, 3, 4]
    assert [reader.poll() for reader in readers] == [None, None]


def test_a_checkpoint_in_the_middle_of_a_batch(world):
    (reader,) = world.begin(1)
    reader.limit = 2
    world.write(0, [1, 2, 3])
    assert [row[0] for row in reader.poll().values] == [1, 2]
    again = world.readers(1, checkpoint([reader]))
    assert values(again, 1) == [3]


def test_batches_that_are_read_go_with_the_oldest_checkpoint(world):
    readers = world.begin()
    saved, left = {}, {}
    for number in range(4):
        world.write(number, [10 * number], [10 * number + 1])
        assert values(readers, 2) == [10 * number, 10 * number + 1]
        assert [reader.poll() for reader in readers] == [None, None]
        oldest = max(1, number)  # two are retained
        saved[number + 1] = completed(world, readers, number + 1, oldest)
        left[number + 1] = world.batches()
    assert left == {1: [], 2: [1], 3: [2], 4: [3]}
    world.write(4, [40])
    assert values(world.readers(2, saved[3]), 3) == [30, 31, 40]
    assert values(world.readers(2, saved[4]), 1) == [40]


def test_the_slowest_subtask_decides(world):
    readers = world.begin()
    world.write(0, [1], [2])
    world.write(1, [3], [4])
    assert values(readers[:1], 2) == [1, 3]
    readers[0].poll()
    completed(world, readers, 1)
    assert world.batches() == [0, 1]
    assert values(readers[1:], 1) == [2]
    assert readers[1].poll().values[0][0] == 4
    completed(world, readers, 2)
    assert world.batches() == [1]


def test_without_the_positions_of_all_nothing_goes(world):
    readers = world.begin(2)
    world.write(0, [1], [2])
    values(readers, 2)
    checkpoint(readers[:1], 1)
    world.source.maintain(1)
    assert world.batches() == [0]


def test_notes_of_positions_go_too(world):
    readers = world.begin()
    for number in range(1, 6):
        completed(world, readers, number, max(1, number - 1))
    assert sorted(p.name for p in Path(world.folder.path, "positions").iterdir()) == ["4", "5"]


def test_no_checkpoint_no_removal(world):
    readers = world.begin()
    world.write(0, [1], [2])
    values(readers, 2)
    world.source.maintain(None)
    assert world.batches() == [0]


@pytest.fixture
def past(world):
    """A world whose first batch is gone, and a checkpoint that needs it."""
    readers = world.begin()
    early = checkpoint(readers, 1)
    world.write(0, [1], [2])
    values(readers, 2)
    assert [reader.poll() for reader in readers] == [None, None]
    completed(world, readers, 2)
    assert world.batches() == []
    return early


def test_a_checkpoint_whose_batches_are_gone_is_told(world, past):
    with pytest.raises(ValueError, match=r"this checkpoint needs batch 0 .* none before 1"):
        world.readers(2, past)


def test_a_fresh_job_does_not_wait_for_what_is_gone(world, past):
    with pytest.raises(ValueError, match="without a checkpoint begins with batch 0"):
        world.readers(2)


def test_a_removal_that_is_cut_short_counts(world, monkeypatch):
    readers = world.begin()
    early = checkpoint(readers, 1)
    world.write(0, [1], [2])
    values(readers, 2)
    assert [reader.poll() for reader in readers] == [None, None]
    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", lambda *_, **__: None)
        completed(world, readers, 2)
    assert world.batches() == [0]
    with pytest.raises(ValueError, match="batch 0"):
        world.readers(2, early)


def test_another_folder_is_told(world, tmp_path):
    saved = checkpoint(world.begin())
    other = World(tmp_path / "other")
    with pytest.raises(ValueError, match="staging folder with which it was made"):
        other.begin(2, saved)
    assert World(tmp_path / "staging").begin(2, saved)


def test_a_folder_that_a_worker_does_not_see_is_told(world):
    with pytest.raises(FileNotFoundError, match="all machines see"):
        world.readers(1)


def test_another_parallelism_between_batches_only(world):
    readers = world.begin(2)
    world.write(0, [1], [2, 3])
    assert values(readers, 3) == [1, 2, 3]
    assert [reader.poll() for reader in readers] == [None, None]
    between = checkpoint(readers)
    world.write(1, [4], [5], [6])
    assert values(world.readers(3, between), 3) == [4, 5, 6]
    readers[0].poll()
    with pytest.raises(ValueError, match="only with its former parallelism, which was 2"):
        world.readers(3, checkpoint(readers))


def test_a_failure_of_spark_ends_the_attempt(world):
    world.begin()
    world.source.maintain(None)
    world.spark.failed = RuntimeError("Kafka is gone")
    world.pass_seconds(0.5)
    world.source.maintain(None)
    assert world.spark.asked == 0
    world.pass_seconds(0.5)
    with pytest.raises(RuntimeError, match="Kafka is gone"):
        world.source.maintain(None)


def test_spark_is_not_asked_in_every_turn(world):
    world.begin()
    for _ in range(40):
        world.pass_seconds(0.25)
        world.source.maintain(None)
    assert world.spark.asked == 10


def test_the_next_attempt_begins_what_has_failed_again(world):
    world.begin()
    world.source.begin_again()
    assert (len(world.spark.folders), world.spark.ended) == (1, 0)
    world.spark.failed = RuntimeError("Kafka is gone")
    world.source.begin_again()
    assert (len(set(world.spark.folders)), len(world.spark.folders), world.spark.ended) == (1, 2, 1)


def test_temporary_folders_are_one_for_each_run_and_go_with_it(tmp_path):
    first, second = World(tmp_path, lasting=False), World(tmp_path, lasting=False)
    first.begin()
    second.begin()
    first.write(0, [1])
    assert first.spark.folders != second.spark.folders
    first.source.job_ended(False)
    assert first.spark.ended == 1
    assert [str(path) for path in tmp_path.iterdir()] == second.spark.folders


def test_a_lasting_folder_stays(world):
    world.begin()
    world.write(0, [1])
    world.source.job_ended(False)
    assert world.batches() == [0]


def test_a_bounded_frame_has_a_folder_for_each_run(tmp_path):
    spark = Staged()
    source = StagedRows(str(tmp_path), True, Types.ROW([Types.INT()]), True, spark)
    (tmp_path / "of the user's").touch()
    for _ in range(2):
        run = source.with_configuration({})
        run.splits(1)
        run.maintain(1)
        Path(spark.folders[-1]).mkdir()
        run.job_ended(False)
    assert len(set(spark.folders)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["of the user's"]


class BoundedRun:
    """A run of a job that reads a batch DataFrame."""

    def __init__(self, path, given=True, chained=False):
        spark = Staged()
        source = StagedRows(str(path), given, Types.ROW([Types.INT()]), True, spark)
        self.source = (SourceChain([source]) if chained else source).with_configuration({})

        def write(folder):
            batch = BatchFolder(folder).batch(0)
            batch.mkdir(parents=True)
            for index in range(3):
                rows = pa.table({"n": [2 * index, 2 * index + 1]})
                parquet.write_table(rows, batch / f"part-{index}.parquet")
            return spark(folder)

        source = self.source._sources[0] if chained else self.source
        source._stage = write

    def begin(self, parallelism, saved=None):
        splits = self.source.splits(parallelism)
        return readers_of(self.source, parallelism, saved, splits=splits)


@pytest.mark.parametrize("chained", [False, True])
def test_a_bounded_frame_is_gone_on_with_in_another_run(tmp_path, chained):
    first, second = BoundedRun(tmp_path, chained=chained), BoundedRun(tmp_path, chained=chained)
    readers = first.begin(2)
    before = values(readers[:1], 2)
    saved = checkpoint(readers)
    first.source.job_ended(True)
    after = values(second.begin(2 if chained else 1, saved), 4)
    assert sorted(before + after) == list(range(6))
    second.source.job_ended(False)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(("given", "resumable"), [(True, False), (False, True)])
def test_a_checkpoint_of_a_bounded_frame_that_is_gone_is_told(tmp_path, given, resumable):
    first, second = BoundedRun(tmp_path, given), BoundedRun(tmp_path, given)
    readers = first.begin(2)
    saved = checkpoint(readers)
    first.source.job_ended(resumable)
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError, match=r"resumes reading .*part-0.*gone.*staging="):
        second.begin(2, saved)


def test_a_checkpoint_that_has_read_a_bounded_frame_needs_no_file(tmp_path):
    first, second = BoundedRun(tmp_path), BoundedRun(tmp_path)
    readers = first.begin(1)
    values(readers, 6)
    assert readers[0].poll() is None
    saved = checkpoint(readers)
    first.source.job_ended(False)
    assert second.begin(1, saved)[0].ended


@pytest.mark.parametrize("chained", [False, True])
def test_a_job_looks_after_its_sources(world, chained):
    source = SourceChain([world.source]) if chained else world.source
    source.splits(1)
    segment = OperatorChainPlan((), source=source)
    job = Job("job", JobSettings("j"), (StagePlan((VertexPlan("source", 1, 0, (segment,)),)),))
    world.spark.failed = RuntimeError("Kafka is gone")
    world.pass_seconds(1)
    with pytest.raises(RuntimeError, match="Kafka is gone"):
        job.maintain_sources(None)
    job.begins_again()
    assert len(world.spark.folders) == 2
    job.ended(False)
    assert world.spark.ended == 2
