"""Parquet, ORC and Avro files, written and read by whole jobs."""

from __future__ import annotations

import datetime
import os
import time
from decimal import Decimal
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from pyflink_on_spark._connectors.formats.avro import AvroFileInput
from pyflink_on_spark._connectors.formats.file_format import (
    CorruptRecordError,
    FileSplit,
    excerpt,
    locating,
)
from pyflink_on_spark._connectors.formats.parquet import ParquetFileWriter, ParquetOptions
from pyflink_on_spark.common import Configuration, Instant, Row, Types, WatermarkStrategy
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    FileSource,
    OutputFileConfig,
    StreamingFileSink,
)
from pyflink_on_spark.datastream.formats.avro import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from pyflink_on_spark.datastream.formats.orc import OrcBulkWriters
from pyflink_on_spark.datastream.formats.parquet import (
    AvroParquetReaders,
    AvroParquetWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from pyflink_on_spark.table import DataTypes
from pyflink_on_spark.testing import local_engine

BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
COLUMNS = {
    "i": (DataTypes.INT(), Types.INT(), 1),
    "big": (DataTypes.BIGINT(), Types.LONG(), 2**60),
    "small": (DataTypes.SMALLINT(), Types.SHORT(), -3),
    "tiny": (DataTypes.TINYINT(), Types.BYTE(), 4),
    "f": (DataTypes.FLOAT(), Types.FLOAT(), 0.5),
    "d": (DataTypes.DOUBLE(), Types.DOUBLE(), 0.1),
    "yes": (DataTypes.BOOLEAN(), Types.BOOLEAN(), True),
    "s": (DataTypes.STRING(), Types.STRING(), "a\xe9"),
    "c": (DataTypes.CHAR(2), Types.STRING(), "ab"),
    "b": (DataTypes.BYTES(), BYTES, b"xy"),
    "dec": (DataTypes.DECIMAL(5, 2), Types.BIG_DEC(), Decimal("1.24")),
    "day": (DataTypes.DATE(), Types.SQL_DATE(), datetime.date(2020, 1, 2)),
    "ts": (
        DataTypes.TIMESTAMP(3),
        Types.SQL_TIMESTAMP(),
        datetime.datetime(2020, 7, 2, 3, 4, 5, 6000),
    ),
    "at": (DataTypes.TIMESTAMP_LTZ(3), Types.INSTANT(), Instant(5, 7_000_000)),
    "l": (DataTypes.ARRAY(DataTypes.INT()), Types.BASIC_ARRAY(Types.INT()), [1, None, 2]),
    "m": (
        DataTypes.MAP(DataTypes.STRING(), DataTypes.DECIMAL(3, 1)),
        Types.MAP(Types.STRING(), Types.BIG_DEC()),
        {"k": Decimal("1.5")},
    ),
    "r": (
        DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT())]),
        Types.ROW_NAMED(["x"], [Types.INT()]),
        Row(x=7),
    ),
}
TIME = {"t": (DataTypes.TIME(3), Types.SQL_TIME(), datetime.time(3, 4, 5, 6000))}
RECORD = AvroSchema.parse_string("""
{"type": "record", "name": "r", "namespace": "n", "fields": [
  {"name": "a", "type": "int"},
  {"name": "b", "type": ["null", "string"], "default": null},
  {"name": "m", "type": {"type": "map", "values": "long"}},
  {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["X", "Y"]}},
  {"name": "t", "type": {"type": "long", "logicalType": "timestamp-millis"}},
  {"name": "l", "type": {"type": "array", "items": {"type": "record", "name": "q", "fields": [
    {"name": "x", "type": "double"}]}}}]}
""")
RECORDS = [
    {
        "a": number,
        "b": None if number % 2 else "b",
        "m": {"k": number},
        "e": "X",
        "t": datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC),
        "l": [{"x": 0.5}],
    }
    for number in range(3)
]


def environment():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    return env


def row_type(columns):
    return DataTypes.ROW([DataTypes.FIELD(name, about[0]) for name, about in columns.items()])


def rows_of(columns):
    full = [about[2] for about in columns.values()]
    return [Row(*full), Row(*[None] * len(full))]


def write(stream, sink_class, folder, factory):
    builder = sink_class.for_bulk_format(str(folder), factory)
    builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    builder.with_output_file_config(OutputFileConfig("part", ".bin"))
    sink = builder.build()
    stream.add_sink(sink) if sink_class is StreamingFileSink else stream.sink_to(sink)
    with local_engine():
        stream.get_execution_environment().execute()
    return [str(folder / name) for name in sorted(os.listdir(folder)) if name.endswith(".bin")]


def write_rows(columns, folder, factory, sink_class=FileSink):
    declared = Types.ROW_NAMED(list(columns), [about[1] for about in columns.values()])
    stream = environment().from_collection(rows_of(columns), declared)
    [path] = write(stream, sink_class, folder, factory)
    return path


def read_all(source):
    with local_engine():
        stream = environment().from_source(source, WatermarkStrategy.no_watermarks(), "source")
        return list(stream.map(lambda element: element).execute_and_collect())


def read_parquet(path, kind, **options):
    form = ParquetColumnarRowInputFormat(kind, **options)
    return read_all(FileSource.for_bulk_file_format(form, str(path)).build())


@pytest.fixture(params=["UTC", "America/New_York"])
def zone(request, monkeypatch):
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("sink_class", [FileSink, StreamingFileSink])
@pytest.mark.parametrize("utc", [True, False])
@pytest.mark.filterwarnings("ignore:Deprecated in 1.15")  # what PyFlink says of StreamingFileSink
def test_rows_come_back_from_parquet(tmp_path, zone, sink_class, utc):
    columns = COLUMNS | TIME
    kind = row_type(columns)
    factory = ParquetBulkWriters.for_row_type(kind, utc_timestamp=utc)
    path = write_rows(columns, tmp_path, factory, sink_class)
    read = read_parquet(path, kind, is_utc_timestamp=utc)
    expected = [about[2] for about in columns.values()]
    expected[list(columns).index("b")] = b"xy"
    assert [list(row) for row in read] == [expected, [None] * len(expected)]
    written = pq.read_table(path)["ts"][0].as_py().to_pydatetime()
    hours = 0 if utc or zone == "UTC" else 4
    assert written == datetime.datetime(2020, 7, 2, 3 + hours, 4, 5, 6000)


def test_parquet_is_written_as_flink_does(tmp_path):
    kind = row_type(COLUMNS)
    path = write_rows(COLUMNS, tmp_path, ParquetBulkWriters.for_row_type(kind))
    file = pq.ParquetFile(path)
    types = {column.name: column.physical_type for column in map(file.schema.column, range(13))}
    assert types["ts"] == "INT96"
    assert types["dec"] == "FIXED_LEN_BYTE_ARRAY"
    assert file.metadata.row_group(0).column(0).compression == "SNAPPY"


def test_options_of_parquet(tmp_path):
    hadoop = Configuration()
    hadoop.set_string("parquet.compression", "GZIP")
    hadoop.set_string("parquet.enable.dictionary", "false")
    columns = {"s": COLUMNS["s"]}
    path = write_rows(columns, tmp_path, ParquetBulkWriters.for_row_type(row_type(columns), hadoop))
    column = pq.ParquetFile(path).metadata.row_group(0).column(0)
    assert column.compression == "GZIP"
    assert not any("DICTIONARY" in encoding for encoding in column.encodings)
    hadoop.set_string("parquet.compression", "zip")
    with pytest.raises(ValueError, match=r"parquet\.compression is one of"):
        ParquetBulkWriters.for_row_type(row_type(columns), hadoop)


def test_decimals_are_rounded_and_too_large_ones_are_null(tmp_path):
    kind = DataTypes.ROW([DataTypes.FIELD("d", DataTypes.DECIMAL(4, 2))])
    rows = [Row(Decimal("1.235")), Row(Decimal("-99.994")), Row(Decimal("99.995")), Row(None)]
    stream = environment().from_collection(rows, Types.ROW_NAMED(["d"], [Types.BIG_DEC()]))
    [path] = write(stream, FileSink, tmp_path, ParquetBulkWriters.for_row_type(kind))
    values = pq.read_table(path)["d"].to_pylist()
    assert values == [Decimal("1.24"), Decimal("-99.99"), None, None]


def test_rows_in_orc(tmp_path):
    properties = Configuration()
    properties.set_string("orc.compress", "ZSTD")
    path = write_rows(COLUMNS, tmp_path, OrcBulkWriters.for_row_type(row_type(COLUMNS), properties))
    first, second = orc.read_table(path).to_pylist()
    assert first["m"] == [("k", Decimal("1.5"))]
    assert first["r"] == {"x": 7}
    assert first["ts"].to_pydatetime() == COLUMNS["ts"][2]
    assert [first[name] for name in ("i", "big", "s", "dec", "day", "l")] == [
        COLUMNS[name][2] for name in ("i", "big", "s", "dec", "day", "l")
    ]
    assert set(second.values()) == {None}
    assert orc.ORCFile(path).compression == "ZSTD"


def test_columns_by_name(tmp_path):
    table = pa.table({"B": ["x"], "a": pa.array([1], pa.int16()), "c": [0.5]})
    pq.write_table(table, tmp_path / "f.parquet")
    kind = DataTypes.ROW(
        [
            DataTypes.FIELD("a", DataTypes.INT()),
            DataTypes.FIELD("b", DataTypes.STRING()),
            DataTypes.FIELD("z", DataTypes.STRING()),
        ]
    )
    assert read_parquet(tmp_path, kind) == [Row(a=1, b=None, z=None)]
    insensitive = read_parquet(tmp_path, kind, is_case_sensitive=False)
    assert insensitive == [Row(a=1, b="x", z=None)]
    wrong = DataTypes.ROW([DataTypes.FIELD("B", DataTypes.INT())])
    with pytest.raises(Exception, match=r"f\.parquet: column 'B' is of type string, not int32"):
        read_parquet(tmp_path, wrong)


@pytest.mark.parametrize("position", range(11))
def test_parquet_is_read_on_from_any_row(tmp_path, position):
    schema = pa.schema([("n", pa.int32())])
    with open(tmp_path / "f", "wb") as file:
        writer = ParquetFileWriter(file, schema, ParquetOptions(row_group_bytes=1))
        for start in (0, 4, 8):
            writer.write([(number,) for number in range(start, min(start + 4, 10))])
            writer._make_batch()
            writer._write_row_group()
        writer.finish()
    kind = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())])
    form = ParquetColumnarRowInputFormat(kind, batch_size=3)._format
    split = FileSplit(str(tmp_path / "f"))
    read = list(form.resume(split, position))
    assert [row["n"] for bundle, _ in read for row in bundle.values] == list(range(position, 10))
    assert all(1 <= len(bundle.values) <= 3 for bundle, _ in read)
    if read:
        assert read[-1][1] == 10


def test_a_file_that_is_damaged_is_named(tmp_path):
    path = write_rows(COLUMNS, tmp_path, ParquetBulkWriters.for_row_type(row_type(COLUMNS)))
    content = Path(path).read_bytes()
    for damaged in (content[: len(content) // 2], b"", b"text"):
        Path(path).write_bytes(damaged)
        with pytest.raises(Exception, match=f"cannot read {path}"):
            read_parquet(path, row_type(COLUMNS))


def test_what_does_not_fit_its_column_is_named(tmp_path):
    kind = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())])
    factory = ParquetBulkWriters.for_row_type(kind)
    texts = environment().from_collection([Row("x")], Types.ROW([Types.STRING()]))
    with pytest.raises(Exception, match="a value of column 'n' is not of type int32"):
        write(texts, FileSink, tmp_path / "a", factory)
    pairs = environment().from_collection([Row(1, 2)], Types.ROW([Types.INT(), Types.INT()]))
    with pytest.raises(Exception, match="has 2 fields, and the file 1 columns"):
        write(pairs, FileSink, tmp_path / "b", factory)
    untyped = environment().from_collection([Row(1)])
    with pytest.raises(TypeError, match="writes rows, and the stream is of"):
        write(untyped, FileSink, tmp_path / "c", factory)
    assert not [name for folder in os.listdir(tmp_path) for name in os.listdir(tmp_path / folder)]


def write_records(folder, factory):
    declared = GenericRecordAvroTypeInfo(RECORD)
    stream = environment().from_collection(RECORDS).map(lambda e: e, output_type=declared)
    [path] = write(stream, FileSink, folder, factory.for_generic_record(RECORD))
    return path


def test_records_come_back_from_parquet(tmp_path):
    path = write_records(tmp_path, AvroParquetWriters)
    form = AvroParquetReaders.for_generic_record(RECORD)
    assert read_all(FileSource.for_record_stream_format(form, path).build()) == RECORDS
    assert not pq.ParquetFile(path).schema_arrow.field("a").nullable
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "UNCOMPRESSED"


def test_an_avro_file_with_records_within_records_without_end(tmp_path):
    """The file has its own schema, and the compiled reader would end the process."""
    fields = [{"name": "a", "type": "int"}, {"name": "next", "type": ["null", "n"]}]
    path = tmp_path / "deep.avro"
    with path.open("wb") as file:
        writer = fastavro.write.Writer(file, {"type": "record", "name": "n", "fields": fields})
        writer.write({"a": 1, "next": {"a": 2, "next": None}})
        writer.flush()
    own = {"type": "record", "name": "n", "fields": fields[:1]}
    rows = AvroFileInput(own, Types.PICKLED_BYTE_ARRAY())
    assert [v for b in rows.read(FileSplit(str(path))) for v in b.values] == [{"a": 1}]
    content = path.read_bytes()
    head, sync = content[:-22], content[-16:]
    block = b"\x02\x02" * 100_000 + b"\x02\0"
    size = len(block) << 1
    length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14])
    path.write_bytes(head + b"\x02" + length + block + sync)
    with pytest.raises(CorruptRecordError, match=r"deep\.avro after record 0: it is nested too"):
        list(rows.read(FileSplit(str(path))))


def test_records_come_back_from_avro(tmp_path):
    pytest.importorskip("fastavro", reason="Avro files need fastavro")
    path = write_records(tmp_path, AvroBulkWriters)

    def read():
        with local_engine():
            stream = environment().create_input(AvroInputFormat(path, RECORD))
            return list(stream.map(lambda element: element).execute_and_collect())

    assert read() == RECORDS
    content = Path(path).read_bytes()
    for damaged in (content[:-20], b"Obj\x01", b"text"):
        Path(path).write_bytes(damaged)
        with pytest.raises(Exception, match=f"cannot read {path} after record 0"):
            read()


def test_a_reader_may_ask_for_other_fields(tmp_path):
    pytest.importorskip("fastavro", reason="Avro files need fastavro")
    path = write_records(tmp_path, AvroBulkWriters)
    fewer = AvroSchema.parse_string(
        '{"type":"record","name":"r","namespace":"n","fields":['
        '{"name":"z","type":"int","default":5},{"name":"a","type":"long"}]}'
    )
    with local_engine():
        stream = environment().create_input(AvroInputFormat(path, fewer))
        assert list(stream.execute_and_collect())[1] == {"z": 5, "a": 1}


@pytest.mark.parametrize("factory", [AvroBulkWriters, AvroParquetWriters])
def test_only_records_are_written(tmp_path, factory):
    stream = environment().from_collection(RECORDS)
    with pytest.raises(TypeError, match="writes Avro records, and the stream is of"):
        write(stream, FileSink, tmp_path, factory.for_generic_record(RECORD))


MESSAGE = """
{"type": "record", "name": "r", "fields": [
  {"name": "a", "type": "int"},
  {"name": "t", "type": {"type": "long", "logicalType": "timestamp-micros"}},
  {"name": "n", "type": ["null", {"type": "record", "name": "q", "fields": [
    {"name": "x", "type": "string"}]}]},
  {"name": "again", "type": {"type": "array", "items": "q"}},
  {"name": "m", "type": {"type": "map", "values": "bytes"}}]}
"""


def test_rows_come_back_from_avro_messages():
    pytest.importorskip("fastavro", reason="Avro messages need fastavro")
    write_row = AvroRowSerializationSchema(avro_schema_string=MESSAGE)._serializer()
    schema = AvroRowDeserializationSchema(avro_schema_string=MESSAGE)
    inner = Types.ROW_NAMED(["x"], [Types.STRING()])
    assert schema._produced_type() == Types.ROW_NAMED(
        ["a", "t", "n", "again", "m"],
        [
            Types.INT(),
            Types.SQL_TIMESTAMP(),
            inner,
            Types.OBJECT_ARRAY(inner),
            Types.MAP(Types.STRING(), BYTES),
        ],
    )
    moment = datetime.datetime(2020, 1, 1, 2, 3, 4, 5000)
    row = Row(a=1, t=moment, n=None, again=[Row(x="z")], m={"k": b"v"})
    read = schema._deserializer()
    data = write_row(row)
    assert data[0] == 2
    assert data.endswith(b"\x00\x02\x02z\x00\x02\x02k\x02v\x00")
    assert read(data) == row
    for damaged in (b"", data[:-3], b"\xff"):
        with pytest.raises(ValueError, match="Failed to deserialize Avro record"):
            read(damaged)
    with pytest.raises(ValueError, match="Failed to serialize row"):
        write_row(Row("x", moment, None, [], {}))
    with pytest.raises(TypeError, match="Avro is written of rows, not of dict"):
        write_row({"a": 1})


def test_errors_say_where():
    def fail():
        with locating(lambda: "partition 3, offset 17"):
            raise ValueError("bad")

    with pytest.raises(CorruptRecordError, match="cannot read partition 3, offset 17: bad"):
        fail()
    assert excerpt(b"\xff" + b"a" * 300).endswith("... (301 bytes)")
