"""Tables of Parquet, ORC and Avro files."""

from __future__ import annotations

import datetime
from decimal import Decimal

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from pyflink_on_spark.common import Row
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.errors import JobExecutionError
from pyflink_on_spark.table import StreamTableEnvironment
from pyflink_on_spark.testing import local_engine
from pyflink_on_spark.util.exceptions import TableException

COLUMNS = """
    b BOOLEAN, t TINYINT, s SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, n DECIMAL(20, 4),
    c STRING, x BYTES, da DATE, ti TIME(3), ts TIMESTAMP(3), a ARRAY<INT>, m MAP<STRING, DATE>,
    r ROW<k INT, v ARRAY<STRING>>
"""
VALUES = """
    (TRUE, CAST(1 AS TINYINT), CAST(-2 AS SMALLINT), 3, 4000000000, CAST(0.5 AS FLOAT), 1e300,
     CAST('-1234567890123456.7891' AS DECIMAL(20, 4)), 'text', CAST(x'0102' AS BYTES),
     DATE '2024-02-29', TIME '01:02:03',
     TIMESTAMP '1969-12-31 23:59:59.123', ARRAY[1, CAST(NULL AS INT), 3],
     MAP['k', DATE '2000-01-01'], ROW(7, ARRAY['p', 'q']))
"""
ROW = (
    True, 1, -2, 3, 4000000000, 0.5, 1e300, Decimal("-1234567890123456.7891"), "text", b"\x01\x02",
    datetime.date(2024, 2, 29), datetime.time(1, 2, 3),
    datetime.datetime(1969, 12, 31, 23, 59, 59, 123000), [1, None, 3],
    {"k": datetime.date(2000, 1, 1)}, Row(7, ["p", "q"]),
)  # fmt: skip
FORMATS = ("parquet", "orc", "avro")


@pytest.fixture(autouse=True)
def engine():
    with local_engine():
        yield


@pytest.fixture
def t_env():
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    return StreamTableEnvironment.create(environment)


def create(t_env, name, path, columns, file_format, rest="", partitions=""):
    t_env.execute_sql(
        f"CREATE TABLE {name} ({columns}) {partitions} WITH ('connector' = 'filesystem', "
        f"'path' = '{path}', 'format' = '{file_format}'{rest})"
    )


def rows(t_env, text):
    with t_env.execute_sql(text).collect() as found:
        return [tuple(row) for row in found]


def files(path):
    return sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith((".", "_")))


@pytest.mark.parametrize("file_format", FORMATS)
def test_all_types_come_back(t_env, tmp_path, file_format):
    columns, values, row = COLUMNS, VALUES, ROW
    if file_format == "orc":  # which has no times of day
        columns = columns.replace("ti TIME(3),", "")
        values = values.replace("TIME '01:02:03',", "")
        row = (*row[:11], *row[12:])
    create(t_env, "kept", tmp_path, columns, file_format)
    t_env.execute_sql(f"INSERT INTO kept VALUES {values}").wait()
    t_env.execute_sql("INSERT INTO kept (b) VALUES (CAST(NULL AS BOOLEAN))").wait()
    found = sorted(rows(t_env, "SELECT * FROM kept"), key=repr)
    assert sorted([row, (None,) * len(row)], key=repr) == found


@pytest.mark.parametrize("file_format", FORMATS)
def test_partitions(t_env, tmp_path, file_format):
    columns = "city STRING, n INT, big BOOLEAN"
    create(t_env, "kept", tmp_path, columns, file_format, partitions="PARTITIONED BY (city)")
    t_env.execute_sql(
        "INSERT INTO kept VALUES ('oslo', 1, TRUE), ('rome', 2, FALSE), (CAST(NULL AS STRING), 3, "
        "TRUE)"
    ).wait()
    assert [path.parent.name for path in files(tmp_path)] == [
        "city=__DEFAULT_PARTITION__", "city=oslo", "city=rome",
    ]  # fmt: skip
    assert sorted(rows(t_env, "SELECT * FROM kept"), key=repr) == [
        ("oslo", 1, True), ("rome", 2, False), (None, 3, True),
    ]  # fmt: skip
    assert rows(t_env, "SELECT big FROM kept WHERE city = 'rome'") == [(False,)]


def test_parquet_files_are_those_of_flink(t_env, tmp_path):
    columns = "i INT, n DECIMAL(10, 2), ts TIMESTAMP(3), a ARRAY<ROW<x INT>>"
    create(t_env, "kept", tmp_path, columns, "parquet", ", 'parquet.compression' = 'GZIP'")
    t_env.execute_sql(
        "INSERT INTO kept VALUES "
        "(1, 2.50, TIMESTAMP '2024-01-02 03:04:05.678', ARRAY[ROW(4), ROW(5)])"
    ).wait()
    (path,) = files(tmp_path)
    found = pq.ParquetFile(path)
    assert found.read().to_pylist() == [
        {
            "i": 1,
            "n": Decimal("2.50"),
            "ts": datetime.datetime(2024, 1, 2, 3, 4, 5, 678000),
            "a": [{"x": 4}, {"x": 5}],
        }
    ]
    assert found.metadata.row_group(0).column(0).compression == "GZIP"
    assert found.schema.column(2).physical_type == "INT96"


@pytest.mark.parametrize(("unit", "name"), [("millis", "ms"), ("micros", "us"), ("nanos", "ns")])
def test_units_of_parquet_timestamps(t_env, tmp_path, unit, name):
    options = (
        f", 'parquet.write.int64.timestamp' = 'true', 'parquet.timestamp.time.unit' = '{unit}'"
    )
    create(t_env, "kept", tmp_path, "ts TIMESTAMP(6)", "parquet", options)
    t_env.execute_sql("INSERT INTO kept VALUES (TIMESTAMP '2024-01-02 03:04:05.678901')").wait()
    (path,) = files(tmp_path)
    assert pq.read_schema(path).field("ts").type.unit == name
    digits = 678000 if unit == "millis" else 678901
    ((moment,),) = rows(t_env, "SELECT CAST(ts AS STRING) FROM kept")
    assert moment == f"2024-01-02 03:04:05.{digits}"


def test_files_of_others(t_env, tmp_path):
    table = pa.table({"n": pa.array([1, 2], pa.int32()), "s": ["a", None], "more": [0.5, 1.5]})
    (tmp_path / "p").mkdir()
    (tmp_path / "o").mkdir()
    (tmp_path / "a").mkdir()
    pq.write_table(table, tmp_path / "p/file", row_group_size=1)
    orc.write_table(table, tmp_path / "o/file")
    record = {
        "type": "record", "name": "other", "fields": [
            {"name": "s", "type": ["null", "string"]}, {"name": "n", "type": "int"},
        ],
    }  # fmt: skip
    with open(tmp_path / "a/file", "wb") as file:
        fastavro.writer(file, record, [{"n": 1, "s": "a"}, {"n": 2, "s": None}], codec="deflate")
    for folder, file_format in zip("poa", FORMATS):
        create(t_env, folder, tmp_path / folder, "s STRING, n BIGINT, absent INT", file_format)
        assert rows(t_env, f"SELECT * FROM {folder}") == [("a", 1, None), (None, 2, None)]


def test_avro_files_name_their_codec_and_types(t_env, tmp_path):
    create(t_env, "kept", tmp_path, "n DECIMAL(10, 2), r ROW<t TIME(0)>", "avro")
    t_env.execute_sql("INSERT INTO kept SELECT 1.25, ROW(TIME '00:00:01')").wait()
    (path,) = files(tmp_path)
    with open(path, "rb") as file:
        reader = fastavro.reader(file)
        assert reader.metadata["avro.codec"] == "snappy"
        assert list(reader) == [{"n": Decimal("1.25"), "r": {"t": datetime.time(0, 0, 1)}}]
    assert reader.writer_schema["name"] == "org.apache.flink.avro.generated.record"


@pytest.mark.parametrize(
    ("columns", "file_format", "rest", "text"),
    [
        ("t TIMESTAMP(6)", "avro", "", "TIMESTAMP type with precision: 6"),
        ("t TIMESTAMP_LTZ(3)", "avro", "", "timestamp_mapping.legacy"),
        ("m MAP<INT, INT>", "avro", "", "non-string as key"),
        ("n INT", "avro", ", 'avro.codec' = 'rar'", "avro.codec"),
        ("n INT", "parquet", ", 'parquet.compression' = 'rar'", "parquet.compression is one of"),
        ("t TIME(0)", "orc", "", r"'orc' has no type for TIME\(0\)"),
        ("t VARIANT", "parquet", "", "'parquet' has no type for VARIANT"),
        ("n INT", "orc", ", 'orc.compress' = 'rar'", "orc.compress is one of"),
    ],
)
def test_what_a_format_cannot_do(t_env, tmp_path, columns, file_format, rest, text):
    create(t_env, "kept", tmp_path, columns, file_format, rest)
    with pytest.raises(Exception, match=text):
        t_env.execute_sql("INSERT INTO kept SELECT * FROM kept")


def test_a_format_of_files_has_no_messages(t_env):
    t_env.execute_sql(
        "CREATE TABLE k (n INT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'parquet', "
        "'properties.bootstrap.servers' = 'localhost:1', 'properties.group.id' = 'g')"
    )
    with pytest.raises(Exception, match="it is a format of files"):
        t_env.execute_sql("SELECT * FROM k")


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_damaged_file_is_named(t_env, tmp_path, file_format):
    (tmp_path / "file").write_bytes(b"no file of this format, with some bytes more")
    create(t_env, "kept", tmp_path, "n INT", file_format)
    with pytest.raises(JobExecutionError, match=str(tmp_path / "file")):
        rows(t_env, "SELECT * FROM kept")


def test_streaming_mode_refuses_to_overwrite(t_env, tmp_path):
    create(t_env, "kept", tmp_path, "n INT", "parquet")
    with pytest.raises(TableException, match="Streaming mode not support overwrite"):
        t_env.execute_sql("INSERT OVERWRITE kept VALUES (1)")
