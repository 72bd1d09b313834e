"""FileSink in row format: contents and names of its files."""

# ruff: noqa: DTZ005 - local times are what is tested

from __future__ import annotations

import datetime
import re

import pytest
from pyflink.common import Encoder, Row, Types
from pyflink.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    OutputFileConfig,
    RollingPolicy,
)

UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def sink_to(folder):
    return FileSink.for_row_format(str(folder), Encoder.simple_string_encoder())


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def lines(folder):
    return [line for path in files(folder) for line in path.read_text().splitlines()]


def test_defaults(env, tmp_path):
    env.from_collection(["a", "b"], Types.STRING()).sink_to(sink_to(tmp_path).build())
    before = datetime.datetime.now()
    env.execute()
    after = datetime.datetime.now()
    (path,) = files(tmp_path)
    assert path.read_text() == "a\nb\n"
    assert path.parent.name in {f"{time:%Y-%m-%d--%H}" for time in (before, after)}
    assert re.fullmatch(f"part-{UUID}-0", path.name)


def test_prefix_suffix_and_base_path(env, tmp_path):
    config = OutputFileConfig.builder().with_part_prefix("pre").with_part_suffix(".txt").build()
    sink = (
        sink_to(tmp_path)
        .with_output_file_config(config)
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .build()
    )
    env.from_collection(["a"], Types.STRING()).sink_to(sink)
    env.execute()
    (path,) = files(tmp_path)
    assert path.parent == tmp_path
    assert re.fullmatch(rf"pre-{UUID}-0\.txt", path.name)


def test_date_time_buckets(env, tmp_path):
    assigner = BucketAssigner.date_time_bucket_assigner("yyyy", "UTC")
    sink = sink_to(tmp_path).with_bucket_assigner(assigner).build()
    env.from_collection(["a"], Types.STRING()).sink_to(sink)
    env.execute()
    (path,) = files(tmp_path)
    assert path.parent.name == str(datetime.datetime.now(datetime.UTC).year)


@pytest.mark.one_attempt("looks at a writer's numbers, which each attempt restarts")
def test_rolling_by_size(env, tmp_path):
    policy = RollingPolicy.default_rolling_policy(part_size=10)
    sink = sink_to(tmp_path).with_rolling_policy(policy).build()
    env.from_collection(["12345"] * 6, Types.STRING()).sink_to(sink)
    env.execute()
    counters = {int(path.name.rsplit("-", 1)[1]): path.read_text() for path in files(tmp_path)}
    assert counters == {0: "12345\n" * 2, 1: "12345\n" * 2, 2: "12345\n" * 2}


@pytest.mark.parametrize("parallelism", [2])
@pytest.mark.one_attempt("each attempt writes files of its own")
def test_one_file_per_subtask(env, tmp_path):
    stream = env.from_collection(list("abcd"), Types.STRING()).rebalance()
    stream.sink_to(sink_to(tmp_path).build())
    env.execute()
    assert len(files(tmp_path)) == 2
    assert sorted(lines(tmp_path)) == ["a", "b", "c", "d"]


def test_java_s_text(env, tmp_path):
    type_info = Types.TUPLE([Types.STRING(), Types.DOUBLE(), Types.LIST(Types.INT())])
    env.from_collection([0]).map(lambda _: ("a b", 1e7, [1, 2]), type_info).sink_to(
        sink_to(tmp_path / "tuple").build()
    )
    row = Types.ROW([Types.INT(), Types.STRING(), Types.BOOLEAN()])
    env.from_collection([0]).map(lambda _: Row(1, None, True), row).sink_to(
        sink_to(tmp_path / "row").build()
    )
    env.execute()
    assert lines(tmp_path / "tuple") == ["(a b,1.0E7,[1, 2])"]
    assert lines(tmp_path / "row") == ["+I[1, null, true]"]


def test_utf_8(env, tmp_path):
    env.from_collection(["ä€\U0001f600"], Types.STRING()).sink_to(sink_to(tmp_path).build())
    env.execute()
    (path,) = files(tmp_path)
    assert path.read_bytes() == "ä€\U0001f600\n".encode()


def test_no_element_no_file(env, tmp_path):
    stream = env.from_collection(["a"], Types.STRING()).filter(lambda v: False)
    stream.sink_to(sink_to(tmp_path).build())
    env.execute()
    assert files(tmp_path) == []


def test_a_failed_job_publishes_nothing(env, tmp_path):
    stream = env.from_collection([1, 0]).map(lambda v: str(1 // v), Types.STRING())
    stream.sink_to(sink_to(tmp_path).build())
    with pytest.raises(Exception, match="ZeroDivisionError"):
        env.execute()
    assert [path for path in files(tmp_path) if not path.name.startswith(".")] == []


PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


def test_sink_of_a_reduced_stream(env, tmp_path):
    keyed = env.from_collection([("a", 1), ("a", 2)], PAIR).key_by(lambda v: v[0], Types.STRING())
    keyed.sum(1).sink_to(sink_to(tmp_path).build())
    env.execute()
    assert lines(tmp_path) == ["(a,1)", "(a,3)"]


@pytest.mark.pyflink_bug("a sink of a keyed stream gets rows of key and element")
def test_sink_of_a_keyed_stream(env, tmp_path):
    keyed = env.from_collection([("a", 1), ("a", 2)], PAIR).key_by(lambda v: v[0], Types.STRING())
    keyed.sink_to(sink_to(tmp_path).build())
    env.execute()
    assert lines(tmp_path) == ["(a,1)", "(a,2)"]


def test_a_file_can_be_read_back(env, tmp_path):
    from pyflink.common import WatermarkStrategy
    from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

    env.from_collection(["x", "y"], Types.STRING()).sink_to(sink_to(tmp_path).build())
    env.execute()
    source = FileSource.for_record_stream_format(
        StreamFormat.text_line_format(), str(tmp_path)
    ).build()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "again")
    assert list(stream.execute_and_collect()) == ["x", "y"]


@pytest.mark.parametrize("on_checkpoint", [True, False])
def test_under_checkpoints_every_line_once_and_nothing_in_progress(env, tmp_path, on_checkpoint):
    env.enable_checkpointing(20)
    policy = (
        RollingPolicy.on_checkpoint_rolling_policy()
        if on_checkpoint
        else RollingPolicy.default_rolling_policy(part_size=200)
    )
    sink = sink_to(tmp_path).with_rolling_policy(policy).build()
    elements = [f"{number}" for number in range(500)]
    env.from_collection(elements, Types.STRING()).sink_to(sink)
    env.execute()
    assert sorted(lines(tmp_path)) == sorted(elements)
    assert all(re.fullmatch(rf"part-{UUID}-\d+", path.name) for path in files(tmp_path))
