"""Sources of files on other file systems."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import lzma
import pickle
import tempfile
import zlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyflink_on_spark._connectors.files import config
from pyflink_on_spark.common import Configuration, Duration, WatermarkStrategy
from pyflink_on_spark.common.types import Row
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import (
    FileEnumeratorProvider,
    FileSource,
    StreamFormat,
)
from pyflink_on_spark.datastream.formats.avro import AvroInputFormat, AvroSchema
from pyflink_on_spark.datastream.formats.csv import CsvReaderFormat, CsvSchema
from pyflink_on_spark.datastream.formats.parquet import ParquetColumnarRowInputFormat
from pyflink_on_spark.table.types import DataTypes
from tests.connectors.reading import checkpoint, close, readers_of

LINES = StreamFormat.text_line_format()
SCHEMA = (
    CsvSchema.builder().add_number_column("n", DataTypes.BIGINT()).add_string_column("s").build()
)
ROWS = [Row(n=1, s="a"), Row(n=2, s="b")]


class ManualClock:
    time = 0

    def now(self):
        return self.time


def drain(readers):
    found = []
    for reader in readers:
        while (bundle := reader.poll()) is not None:
            found += bundle.values
    return found


def everything(builder, parallelism=1):
    readers = readers_of(builder.build()._source, parallelism)
    found = drain(readers)
    close(readers)
    return found


def test_text(place):
    (place / "b.txt").write(b"3\n4")
    (place / "a" / "x.txt").write(b"1\r\n2\n")
    (place / "_no").write(b"0")
    assert everything(FileSource.for_record_stream_format(LINES, str(place))) == list("1234")
    assert everything(FileSource.for_record_stream_format(LINES, f"{place}/*.txt")) == ["3", "4"]
    both = FileSource.for_record_stream_format(LINES, f"{place}/b.txt", f"{place}/a/")
    assert everything(both) == ["3", "4", "1", "2"]


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        ("gz", gzip.compress),
        ("bz2", bz2.compress),
        ("xz", lzma.compress),
        ("deflate", zlib.compress),
    ],
)
def test_compressed_text(place, suffix, compress):
    content = "".join(f"line {n}\n" for n in range(20_000))
    (place / f"x.{suffix}").write(compress(content.encode()))
    assert (
        everything(FileSource.for_record_stream_format(LINES, str(place)))
        == content.split("\n")[:-1]
    )


def test_a_large_file_is_cut(place, monkeypatch):
    monkeypatch.setattr(config.split_files, "__defaults__", (1000,))
    lines = [f"line {n}" for n in range(3000)]
    (place / "x").write("\n".join(lines).encode())
    builder = FileSource.for_record_stream_format(LINES, str(place)).set_file_enumerator(
        FileEnumeratorProvider.default_splittable_file_enumerator()
    )
    assert len(builder.build()._source.splits(3)) == 3
    assert everything(builder, 3) == lines


def test_going_on_in_the_middle(place):
    lines = [f"line {n}" for n in range(20_000)]
    (place / "x").write("\n".join(lines).encode())
    source = FileSource.for_record_stream_format(LINES, str(place)).build()._source
    readers = readers_of(source, 1)
    found = readers[0].poll().values
    saved = checkpoint(readers)
    close(readers)
    assert 0 < len(found) < len(lines)
    assert found + drain(readers_of(source, 1, saved)) == lines
    assert b"sesame" not in pickle.dumps(saved)


def test_a_file_that_is_gone(place):
    source = FileSource.for_record_stream_format(LINES, str((place / "x").write(b"1"))).build()
    (reader,) = readers_of(source._source, 1)
    place.files.remove(f"{place.path}/x")
    with pytest.raises(FileNotFoundError, match=r"/x was there when .* and is gone now"):
        reader.poll()
    with pytest.raises(FileNotFoundError, match=r"does not exist: .*/x"):
        source._source.splits(1)


def test_new_files_are_read_as_they_come(place):
    clock = ManualClock()
    (place / "b").write(b"b1\nb2\n")
    source = (
        FileSource.for_record_stream_format(LINES, str(place), f"{place}/not/*.yet")
        .monitor_continuously(Duration.of_millis(100))
        .build()
        ._source
    )
    readers = readers_of(source, 2, clock=clock)
    assert drain(readers) == ["b1", "b2"]
    saved = checkpoint(readers)
    (place / "s" / "c").write(b"c\n")
    (place / "not" / "a.yet").write(b"a\n")
    (place / "_hidden").write(b"no\n")
    assert drain(readers) == []
    clock.time = 100
    assert sorted(drain(readers)) == ["a", "c"]
    assert sorted(drain(readers_of(source, 3, saved, clock))) == ["a", "c"]


def test_csv(place):
    (place / "a.csv").write(b"1,a\n")
    (place / "b.csv.gz").write(gzip.compress(b"2,b\n"))
    builder = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(SCHEMA), str(place))
    assert everything(builder) == ROWS
    bad = (place / "c.csv").write(b"1,a\nx,b\n")
    with pytest.raises(ValueError, match=r"cannot read \w+://.*/c\.csv, line 2"):
        everything(
            FileSource.for_record_stream_format(CsvReaderFormat.for_schema(SCHEMA), str(bad))
        )


def test_parquet(place):
    output = io.BytesIO()
    pq.write_table(pa.table({"n": [1, 2], "s": ["a", "b"]}), output)
    (place / "x.parquet").write(output.getvalue())
    row_type = DataTypes.ROW(
        [DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("s", DataTypes.STRING())]
    )
    form = ParquetColumnarRowInputFormat(row_type, batch_size=1)
    assert everything(FileSource.for_bulk_file_format(form, str(place))) == ROWS


def test_avro(place, local_engine):
    fastavro = pytest.importorskip("fastavro", reason="fastavro is not installed")
    definition = '{"type":"record","name":"r","fields":[{"name":"n","type":"long"}]}'
    output = io.BytesIO()
    fastavro.writer(
        output,
        {"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]},
        [{"n": 1}],
    )
    file = (place / "x.avro").write(output.getvalue())
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    stream = env.create_input(AvroInputFormat(str(file), AvroSchema.parse_string(definition)))
    assert list(stream.map(lambda record: record["n"]).execute_and_collect()) == [1]


def test_read_text_file(place, local_engine):
    (place / "x").write(b"a\nb\n")
    env = StreamExecutionEnvironment.get_execution_environment()
    assert sorted(env.read_text_file(str(place)).execute_and_collect()) == ["a", "b"]
    source = FileSource.for_record_stream_format(LINES, str(place)).build()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "files")
    assert sorted(stream.execute_and_collect()) == ["a", "b"]


def test_what_is_copied_to_be_read_is_removed(place, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (place / "a.csv").write(b"1,a\n2,b\n")
    builder = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(SCHEMA), str(place))
    (reader,) = readers_of(builder.build()._source, 1)
    assert reader.poll().values == ROWS
    assert len(list(tmp_path.iterdir())) == 1
    assert reader.poll() is None
    close([reader])
    gc.collect()
    assert list(tmp_path.iterdir()) == []
