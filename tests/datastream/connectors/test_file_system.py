from __future__ import annotations

import pickle
import re
import threading
from types import SimpleNamespace

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark._connectors.files.config import ON_CHECKPOINT, Enumeration
from pyflink_on_spark._runtime.contract.operator import OperatorContext, TaskInfo
from pyflink_on_spark._runtime.elements.bundle import Cursor
from pyflink_on_spark.common import Duration, Encoder, Types
from pyflink_on_spark.common.serialization import BulkWriterFactory
from pyflink_on_spark.datastream.connectors import file_system as fs
from pyflink_on_spark.datastream.connectors.base import (
    DeliveryGuarantee,
    Sink,
    Source,
    StreamTransformer,
    SupportsPreprocessing,
)
from pyflink_on_spark.datastream.connectors.number_seq import NumberSequenceSource
from pyflink_on_spark.datastream.functions import SinkFunction

LINES = fs.StreamFormat.text_line_format()
BASE = fs.BucketAssigner.base_path_bucket_assigner()


def lines_of(source):
    runtime = source._source
    return [
        line
        for split in runtime.splits(1)
        for bundle in runtime.read(split, None)
        for line in bundle.values
    ]


def run(sink, elements):
    """Write elements with the runtime's sink as one subtask, and commit."""
    runtime = pickle.loads(pickle.dumps(sink._sink.with_input_type(Types.STRING())))
    context = OperatorContext(
        task=TaskInfo("sink", 0, 1),
        cursor=Cursor(),
        clock=SimpleNamespace(now=lambda: 0),
        side_output=None,
        driver=None,
        keyed_state=None,
        runtime_context=None,
    )
    writer = runtime.writer(context)
    writer.write(iter(elements))
    runtime.commit(writer.prepare_commit())
    writer.close()


def texts(folder):
    return [path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()]


def test_a_file_source_reads_lines(tmp_path):
    (tmp_path / "a.txt").write_text("a\nb\n")
    source = fs.FileSource.for_record_stream_format(LINES, str(tmp_path)).build()
    assert isinstance(source, Source)
    assert lines_of(source) == ["a", "b"]
    assert source._source.produced_type == Types.STRING()


def test_a_bulk_format_is_read_by_its_own_runtime_format(tmp_path):
    (tmp_path / "a.txt").write_text("a\n")
    bulk = fs.BulkFormat(LINES._format)
    assert lines_of(fs.FileSource.for_bulk_file_format(bulk, str(tmp_path)).build()) == ["a"]


def test_monitoring_makes_a_source_unbounded(tmp_path):
    builder = fs.FileSource.for_record_stream_format(LINES, str(tmp_path))
    monitored = builder.monitor_continuously(Duration.of_seconds(2)).build()._source
    assert (monitored.bounded, monitored.config.discovery_interval) == (False, 2000)
    assert builder.process_static_file_set().build()._source.bounded
    assert not monitored.bounded


def test_monitoring_needs_a_positive_duration(tmp_path):
    builder = fs.FileSource.for_record_stream_format(LINES, str(tmp_path))
    with pytest.raises(ValueError, match="discoveryInterval must be > 0"):
        builder.monitor_continuously(Duration.of_millis(0))
    with pytest.raises(AttributeError):
        builder.monitor_continuously(5)


def test_the_enumerator_decides_whether_files_are_cut(tmp_path):
    builder = fs.FileSource.for_record_stream_format(LINES, str(tmp_path))
    assert builder.build()._source.config.enumeration is Enumeration.WHOLE_FILES
    builder.set_split_assigner(fs.FileSplitAssignerProvider.locality_aware_split_assigner())
    builder.set_file_enumerator(fs.FileEnumeratorProvider.default_splittable_file_enumerator())
    assert builder.build()._source.config.enumeration is Enumeration.SPLIT_LARGE_FILES
    builder.set_file_enumerator(fs.FileEnumeratorProvider.default_non_splittable_file_enumerator())
    assert builder.build()._source.config.enumeration is Enumeration.WHOLE_FILES


@pytest.mark.parametrize(
    ("paths", "error"),
    [
        ((), ValueError),
        (("",), ValueError),
        ((5,), TypeError),
        (("nowhere://b/x",), (ValueError, ModuleNotFoundError)),
    ],
)
def test_paths_are_checked_at_once(paths, error):
    with pytest.raises(error):
        fs.FileSource.for_record_stream_format(LINES, *paths)


def test_a_file_sink_writes_what_its_builder_says(tmp_path):
    names = fs.OutputFileConfig.builder().with_part_prefix("pre").with_part_suffix(".txt").build()
    sink = (
        fs.FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder("ISO-8859-1"))
        .with_bucket_assigner(fs.BucketAssigner.date_time_bucket_assigner("yyyy", "UTC"))
        .with_rolling_policy(fs.RollingPolicy.default_rolling_policy(1, 1000, 1000))
        .with_output_file_config(names)
        .with_bucket_check_interval(500)
        .build()
    )
    assert isinstance(sink, Sink)
    assert sink._sink._config.bucket_check_interval == 500
    run(sink, ["é", "b"])
    paths = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert [path.read_bytes() for path in paths] == [b"\xe9\n", b"b\n"]
    pattern = r"1970/pre-[0-9a-f-]{36}-[01]\.txt"
    assert all(re.fullmatch(pattern, str(path.relative_to(tmp_path))) for path in paths)


def test_compaction_can_be_switched_on_and_off(tmp_path):
    strategy = fs.FileCompactStrategy.builder().set_size_threshold(100).build()
    small = fs.RollingPolicy.default_rolling_policy(1)
    builder = (
        fs.FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
        .with_bucket_assigner(BASE)
        .with_rolling_policy(small)
        .enable_compact(strategy, fs.FileCompactor.concat_file_compactor(b"-"))
    )
    compacting = builder.build()
    run(builder.disable_compact().build(), ["a", "b"])
    assert texts(tmp_path) == ["a\n", "b\n"]
    run(compacting, ["c", "d"])
    assert texts(tmp_path) == ["c\n-d\n-", "a\n", "b\n"]


def test_a_streaming_file_sink_is_a_sink_function_that_warns(tmp_path):
    builder = fs.StreamingFileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
    builder.with_bucket_assigner(BASE).with_bucket_check_interval(100)
    builder.with_rolling_policy(fs.RollingPolicy.on_checkpoint_rolling_policy())
    builder.with_output_file_config(fs.OutputFileConfig("p", ".x"))
    with pytest.warns(DeprecationWarning, match="FileSink"):
        sink = builder.build()
    assert isinstance(sink, SinkFunction)
    run(sink, ["a"])
    assert [path.name for path in tmp_path.iterdir()] == ["p-0-0.x"]


@pytest.mark.parametrize("sink", [fs.FileSink, fs.StreamingFileSink])
def test_bulk_formats_are_finished_at_checkpoints_only(sink, tmp_path):
    builder = sink.for_bulk_format(str(tmp_path), BulkWriterFactory(object()))
    policy = fs.RollingPolicy.on_checkpoint_rolling_policy()
    assert builder.with_rolling_policy(policy)._config.rolling is ON_CHECKPOINT
    with pytest.raises(TypeError, match="takes a BulkWriterFactory"):
        sink.for_bulk_format(str(tmp_path), object())


def test_other_policies_are_refused_for_bulk_formats(tmp_path):
    builder = fs.FileSink.for_bulk_format(str(tmp_path), BulkWriterFactory(object()))
    with pytest.raises(ValueError, match="must be OnCheckpointRollingPolicy"):
        builder.with_rolling_policy(fs.RollingPolicy.default_rolling_policy())


@pytest.mark.parametrize(
    "make",
    [
        lambda: fs.RollingPolicy.default_rolling_policy(0, 1, 1),
        lambda: fs.RollingPolicy.default_rolling_policy(1, 0, 1),
        lambda: fs.FileCompactStrategy.builder().build(),
        lambda: fs.FileCompactStrategy.builder().enable_compaction_on_checkpoint(0).build(),
        lambda: (
            fs.FileCompactStrategy.builder()
            .set_size_threshold(1)
            .set_num_compact_threads(0)
            .build()
        ),
        lambda: fs.BucketAssigner.date_time_bucket_assigner("b"),
        lambda: fs.BucketAssigner.date_time_bucket_assigner("yyyy", "nope"),
        lambda: fs.FileSink.for_row_format("", Encoder.simple_string_encoder()),
        lambda: fs.StreamFormat.text_line_format("nope"),
        lambda: fs.FileSink.for_row_format("/x", Encoder.simple_string_encoder("nope")).build(),
    ],
)
def test_settings_without_sense_are_refused(make):
    with pytest.raises(ValueError):  # noqa: PT011 - the texts are tested where they are made
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: fs.RollingPolicy.default_rolling_policy("1"),
        lambda: fs.OutputFileConfig(None, ""),
        lambda: fs.FileCompactor.concat_file_compactor(5),
        lambda: fs.FileSink.for_row_format("/x", Encoder("UTF-8")).with_rolling_policy(None),
        lambda: fs.FileSink.for_row_format("/x", Encoder("UTF-8")).with_rolling_policy(BASE),
        lambda: fs.FileSink.for_row_format("/x", Encoder("UTF-8")).with_bucket_check_interval("1"),
        lambda: fs.FileSource(object()),
        lambda: fs.FileSink(threading.Lock()),
        lambda: fs.StreamFormat(5),
    ],
)
def test_things_of_another_kind_are_refused(make):
    with pytest.raises(TypeError):
        make()


def test_a_time_zone_that_is_no_text_counts_as_none():
    assert fs.BucketAssigner.date_time_bucket_assigner("yyyy", 5).get_java_object().bucket(0)


def test_small_readers():
    config = fs.OutputFileConfig("a", "b")
    assert (config.get_part_prefix(), config.get_part_suffix()) == ("a", "b")
    policy = fs.RollingPolicy.default_rolling_policy
    assert isinstance(policy(), fs.DefaultRollingPolicy)
    assert isinstance(fs.RollingPolicy.on_checkpoint_rolling_policy(), fs.OnCheckpointRollingPolicy)
    assert fs.FileCompactor.identical_file_compactor().get_java_object()


def test_a_transformer_is_handed_on(tmp_path):
    class Nothing(StreamTransformer):
        def apply(self, ds):
            return ds

    made = fs.FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    sink = fs.FileSink(made._sink, Nothing())
    assert made.get_transformer() is None
    assert isinstance(sink.get_transformer(), Nothing)
    assert isinstance(sink, SupportsPreprocessing)


def test_the_name_of_a_java_class_is_refused():
    for kind in (Source, Sink):
        with pytest.raises(UnsupportedFlinkFeature, match="connector"):
            kind("org.example.Source")


def test_delivery_guarantees_have_pyflinks_values():
    assert [guarantee.value for guarantee in DeliveryGuarantee] == [(0,), (1,), 2]


def test_a_number_sequence():
    source = NumberSequenceSource(1, 3)
    assert lines_of(source) == [1, 2, 3]
    assert source._source.produced_type == Types.LONG()
    with pytest.raises(ValueError, match="'from' must be <= 'to'"):
        NumberSequenceSource(5, 4)
