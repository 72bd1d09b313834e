"""CSV files as sources and sinks."""

from __future__ import annotations

import gzip

import pytest
from pyflink.common import Row, Types, WatermarkStrategy
from pyflink.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    FileSource,
    OutputFileConfig,
    RollingPolicy,
)
from pyflink.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from pyflink.table import DataTypes

from compat_tests.running import collect


def columns():
    return (
        CsvSchema.builder()
        .add_string_column("name")
        .add_number_column("count")
        .add_number_column("price", DataTypes.DECIMAL(6, 2))
        .add_number_column("weight", DataTypes.DOUBLE())
        .add_boolean_column("fresh")
        .add_array_column("tags", ";", DataTypes.STRING())
        .set_null_value("-")
    )


def read(env, schema, path):
    form = CsvReaderFormat.for_schema(schema)
    source = FileSource.for_record_stream_format(form, str(path)).build()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "csv")
    return collect(stream.map(lambda row: repr((type(row).__name__, *row))))


def test_values_of_all_kinds(env, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(
        b'"pear, ""green""",3,1.005,0.1,true,a;b\r\n x , 4 ,-,1e3,no,\r\n-,-,1,-,-,-\n'
    )
    assert read(env, columns().build(), path) == [
        "('Row', 'pear, \"green\"', 3, Decimal('1.01'), 0.1, True, ['a', 'b'])",
        "('Row', ' x ', 4, None, 1000.0, False, [])",
        "('Row', None, None, Decimal('1.00'), None, None, [None])",
    ]


def test_fields_have_no_names_to_rely_on_but_positions(env, tmp_path):
    (tmp_path / "a.csv").write_text("tea,1\n")
    schema = CsvSchema.builder().add_string_column("what").add_number_column("n").build()
    form = CsvReaderFormat.for_schema(schema)
    source = FileSource.for_record_stream_format(form, str(tmp_path)).build()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "csv")
    assert collect(stream.map(lambda row: row[0] * (row[1] + 1), Types.STRING())) == ["teatea"]


def test_header_comments_and_compression(env, tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"# fruit\ncount|name\nplum|1\n\n  # more\nfig|2\n"))
    builder = CsvSchema.builder().add_string_column("name").add_number_column("count")
    schema = builder.set_use_header().set_allow_comments().set_column_separator("|").build()
    assert read(env, schema, path) == ["('Row', 'plum', 1)", "('Row', 'fig', 2)"]


@pytest.mark.parametrize("line", ["x", "x,1,2,3", "x,y", '"x'])
def test_a_line_that_is_no_row_fails_the_job(env, tmp_path, line):
    (tmp_path / "a.csv").write_text(f"{line}\n")
    schema = CsvSchema.builder().add_string_column("a").add_number_column("b").build()
    with pytest.raises(Exception):  # noqa: B017, PT011 - of different kinds
        read(env, schema, tmp_path)


@pytest.mark.whole("wants one file, and each checkpoint ends one")
def test_what_is_written(env, tmp_path):
    schema = columns().set_use_header().build()
    rows = [
        Row('pear, "green"', 3, None, 1e10, True, ["a", "b c"]),
        Row("x", -4, None, 0.5, False, []),
        Row(None, None, None, None, None, None),
    ]
    declared = Types.ROW_NAMED(
        ["name", "count", "price", "weight", "fresh", "tags"],
        [
            Types.STRING(),
            Types.LONG(),
            Types.BIG_DEC(),
            Types.DOUBLE(),
            Types.BOOLEAN(),
            Types.BASIC_ARRAY(Types.STRING()),
        ],
    )
    sink = (
        FileSink.for_bulk_format(str(tmp_path / "out"), CsvBulkWriters.for_schema(schema))
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_output_file_config(OutputFileConfig("csv", ".csv"))
        .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        .build()
    )
    env.from_collection(rows, declared).sink_to(sink)
    env.execute()
    [path] = (tmp_path / "out").iterdir()
    assert path.name.startswith("csv-")
    assert path.name.endswith("-0.csv")
    assert path.read_text() == (
        "name,count,price,weight,fresh,tags\n"
        '"pear, ""green""",3,-,1.0E10,true,"a;b c"\n'
        "x,-4,-,0.5,false,\n"
        "-,-,-,-,-,-\n"
    )


def test_bulk_formats_roll_at_checkpoints_only(tmp_path):
    schema = CsvSchema.builder().add_string_column("a").build()
    builder = FileSink.for_bulk_format(str(tmp_path), CsvBulkWriters.for_schema(schema))
    with pytest.raises(ValueError, match="must be OnCheckpointRollingPolicy"):
        builder.with_rolling_policy(RollingPolicy.default_rolling_policy())


@pytest.mark.parametrize(
    ("text", "null", "expected"),
    [("-", "-", [None]), ("1;-;2", "-", [1, None, 2]), ("", "", []), (";1", "", [None, 1])],
)
def test_null_is_an_element_of_an_array_not_the_array(env, tmp_path, text, null, expected):
    (tmp_path / "a.csv").write_text(f"x,{text}\n")
    builder = CsvSchema.builder().add_string_column("a")
    schema = builder.add_array_column("l", ";", DataTypes.INT()).set_null_value(null).build()
    assert read(env, schema, tmp_path) == [repr(("Row", "x", expected))]
