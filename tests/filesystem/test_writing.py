"""File sinks on other file systems: every element once, whatever happens."""

from __future__ import annotations

import io
import re

import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from pyflink_on_spark._connectors.files.config import (
    Compaction,
    CompactionStrategy,
    Concatenation,
    PartAffixes,
    RollingLimits,
)
from pyflink_on_spark.common import Encoder, Types
from pyflink_on_spark.common.types import Row
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import BucketAssigner, FileSink
from pyflink_on_spark.datastream.formats.csv import CsvBulkWriters, CsvSchema
from pyflink_on_spark.datastream.formats.orc import OrcBulkWriters
from pyflink_on_spark.datastream.formats.parquet import ParquetBulkWriters
from pyflink_on_spark.table.types import DataTypes
from tests.connectors.files.test_file_sink_checkpoints import HIDDEN, SinkJob, options_for

TYPE = Types.ROW_NAMED(["n", "s"], [Types.LONG(), Types.STRING()])
ROW_TYPE = DataTypes.ROW(
    [DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("s", DataTypes.STRING())]
)
SCHEMA = (
    CsvSchema.builder().add_number_column("n", DataTypes.BIGINT()).add_string_column("s").build()
)


def test_each_checkpoint_finishes_a_part(place):
    job = SinkJob(options_for(place, rolling=RollingLimits()))
    job.write("ab")
    job.checkpoint(commit=False)
    (name,) = place.hidden()
    assert re.fullmatch(HIDDEN, name)
    assert place.visible() == []
    job.commit()
    assert (place.visible(), place.hidden()) == (["a", "b"], [])
    job.write("c")
    job.checkpoint()
    job.write("d")
    job.finish()
    assert place.visible() == ["a", "b", "c", "d"]
    assert sorted(place.tree().values()) == [b"a\nb\n", b"c\n", b"d\n"]


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("committed", [True, False])
def test_what_came_after_the_checkpoint_is_gone_after_a_restart(place, closed, committed):
    job = SinkJob(options_for(place), 2)
    job.write("ab", 0)
    job.write("c", 1)
    job.checkpoint(commit=committed)
    job.write("de")
    job.half_a_checkpoint()
    job.write("f")
    job.killed = job.subtasks  # what is killed closes nothing
    job.restart(3, closed=closed)
    assert place.visible() == ["a", "b", "c"]
    job.write("de")
    job.finish()
    assert (place.visible(), place.hidden()) == (["a", "b", "c", "d", "e"], [])


def test_what_was_committed_may_be_committed_again(place):
    job = SinkJob(options_for(place))
    job.write("ab")
    job.checkpoint()
    for again in (False, True):
        job.commit(again)
    assert place.visible() == ["a", "b"]
    (name,) = place.tree()
    place.files.rename(f"{place.path}/{name}", f"{place.path}/moved")
    job.commit(again=True)
    assert place.visible() == ["a", "b"]


def test_a_commit_that_was_cut_off_after_the_copy(place):
    job = SinkJob(options_for(place))
    job.write("ab")
    job.checkpoint(commit=False)
    (hidden,) = place.hidden()
    target = re.sub(r"^\.(.*)\.inprogress\..*", r"\1", hidden)
    (place / target).write((place / hidden).read())
    job.commit(again=True)
    assert (place.visible(), place.hidden()) == (["a", "b"], [])


def test_what_a_checkpoint_has_is_no_secret(place):
    job = SinkJob(options_for(place))
    job.write("ab")
    job.checkpoint()
    assert b"sesame" not in job.safe + job.saved
    assert b"folder" in job.safe
    assert "sesame" not in repr(job.options)


def test_sizes_and_names(place):
    affixes = PartAffixes("x", ".txt")
    rolling = RollingLimits(part_size=1)
    job = SinkJob(options_for(place, affixes=affixes, rolling=rolling, named_by_subtask=True))
    job.write("abc")
    job.checkpoint()
    assert sorted(place.tree()) == ["x-0-0.txt", "x-0-1.txt", "x-0-2.txt"]
    job = SinkJob(options_for(place, affixes=affixes, named_by_subtask=True))
    job.write("d")
    job.finish()
    assert sorted(place.tree()) == [f"x-0-{number}.txt" for number in range(4)]


@pytest.mark.parametrize("checkpoints", [1, 2])
def test_compaction(place, checkpoints):
    compaction = Compaction(CompactionStrategy(checkpoints=checkpoints), Concatenation())
    job = SinkJob(options_for(place, compaction=compaction), 2)
    for _ in range(2):
        job.write("a", 0)
        job.write("b", 1)
        job.checkpoint()
    assert place.visible() == ["a", "a", "b", "b"]
    assert len(place.tree()) == 3 - checkpoints
    job.restart()
    assert place.visible() == ["a", "a", "b", "b"]


def test_the_end_without_success_leaves_nothing(place):
    job = SinkJob(options_for(place))
    job.write("ab")
    ((operator, _),) = job.subtasks
    operator.close()
    assert place.tree() == {}


def test_a_file_in_the_place_of_the_folder(place):
    place.write(b"x")
    with pytest.raises(NotADirectoryError, match="folder"):
        SinkJob(options_for(place))


@pytest.mark.parametrize(
    ("factory", "read"),
    [
        (
            lambda: ParquetBulkWriters.for_row_type(ROW_TYPE),
            lambda content: pq.read_table(io.BytesIO(content)).to_pylist(),
        ),
        (
            lambda: OrcBulkWriters.for_row_type(ROW_TYPE),
            lambda content: orc.read_table(io.BytesIO(content)).to_pylist(),
        ),
        (lambda: CsvBulkWriters.for_schema(SCHEMA), bytes.decode),
    ],
    ids=["parquet", "orc", "csv"],
)
def test_bulk_formats(place, local_engine, factory, read):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    sink = (
        FileSink.for_bulk_format(str(place), factory())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .build()
    )
    env.from_collection([Row(1, "a"), Row(2, "b")], TYPE).sink_to(sink)
    env.execute()
    (content,) = place.tree().values()
    found = read(content)
    assert found in ([{"n": 1, "s": "a"}, {"n": 2, "s": "b"}], "1,a\n2,b\n")


def test_a_job_writes_and_another_reads_it(place, local_engine):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    sink = FileSink.for_row_format(str(place), Encoder.simple_string_encoder()).build()
    env.from_collection(["a", "b"], Types.STRING()).sink_to(sink)
    env.execute()
    (name,) = place.tree()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d--\d\d/part-[0-9a-f-]{36}-0", name)
    assert sorted(env.read_text_file(str(place)).execute_and_collect()) == ["a", "b"]
