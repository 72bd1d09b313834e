"""DataFrames in and out of jobs."""

from __future__ import annotations

import datetime
import decimal
import time
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import JobExecutionError
from pyflink_on_spark._spark.session.frames import staged
from pyflink_on_spark.common import Configuration, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.extensions import from_spark, to_spark
from pyflink_on_spark.table import StreamTableEnvironment


@pytest.fixture
def env():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    return env


def test_there_and_back(spark, env):
    columns = (
        "id LONG, name STRING, price DECIMAL(10, 2), day DATE, at TIMESTAMP_NTZ,"
        "tags ARRAY<STRING>,"
        "inner STRUCT<a: INT, b: DOUBLE>, counts MAP<STRING, INT>, raw BINARY, flag BOOLEAN"
    )
    rows = [
        (
            1, "a", decimal.Decimal("1.50"), datetime.date(2024, 5, 6),
            datetime.datetime(2024, 5, 6, 7, 8, 9, 123000), ["x", "y"], (1, 2.5), {"k": 3},
            bytearray(b"raw"), True,
        ),
        (2, None, None, None, None, [], None, {}, None, None),
    ]  # fmt: skip
    frame = spark.createDataFrame(rows, columns)
    found = []
    stream = from_spark(env, frame)
    assert stream.get_type().get_field_names() == frame.columns
    to_spark(stream, lambda back, number: found.append((back.collect(), back.schema, number)))
    env.execute()
    ((back, schema, number),) = found
    assert number == 0
    assert schema.names == frame.columns
    by_id = {row.id: row for row in back}
    assert by_id[1].asDict(recursive=True) == {
        "id": 1, "name": "a", "price": decimal.Decimal("1.50"), "day": datetime.date(2024, 5, 6),
        "at": datetime.datetime(2024, 5, 6, 7, 8, 9, 123000), "tags": ["x", "y"],
        "inner": {"a": 1, "b": 2.5}, "counts": {"k": 3}, "raw": bytearray(b"raw"), "flag": True,
    }  # fmt: skip
    assert (by_id[2].name, by_id[2].tags, by_id[2].inner) == (None, [], None)


def test_rows_have_their_columns_names(spark, env):
    frame = spark.createDataFrame([("a", 1), ("b", 2), ("a", 3)], "key STRING, value INT")
    stream = from_spark(env, frame).map(lambda row: (row["key"], row[1]))
    totals = stream.key_by(lambda t: t[0]).sum(1)
    with totals.execute_and_collect() as results:
        assert max(r for r in results if r[0] == "a") == ("a", 4)


def test_single_values_are_a_column(spark, env):
    found = []
    numbers = env.from_collection([3, 1, 2], Types.INT())
    to_spark(numbers, lambda frame, _: found.extend(row.value for row in frame.collect()))
    env.execute()
    assert sorted(found) == [1, 2, 3]


def test_frames_as_tables(spark, env):
    rows = [("a", decimal.Decimal("1.50"), datetime.datetime(2024, 5, 6, 7, 8, 9)),
            ("b", decimal.Decimal("2.00"), None), ("a", decimal.Decimal("0.25"), None)]  # fmt: skip
    frame = spark.createDataFrame(rows, "name STRING, price DECIMAL(10, 2), at TIMESTAMP_NTZ")
    t_env = StreamTableEnvironment.create(env)
    t_env.create_temporary_view("orders", t_env.from_data_stream(from_spark(env, frame)))
    t_env.get_config().set_local_timezone("Asia/Tokyo")
    kept = t_env.sql_query(
        "SELECT name, price * 2 AS twice, `at`, CAST(`at` AS DATE) AS on_day,"
        " CAST(`at` AS TIMESTAMP_LTZ(3)) AS instant FROM orders WHERE name = 'a'"
    )
    found = []
    seconds = "CAST(instant AS LONG) AS instant"
    to_spark(
        t_env.to_data_stream(kept),
        lambda back, _: found.extend(
            back.selectExpr("name", "twice", "at", "on_day", seconds).collect()
        ),
    )
    env.execute()
    at = datetime.datetime(2024, 5, 6, 7, 8, 9)
    instant = datetime.datetime(2024, 5, 5, 22, 8, 9, tzinfo=datetime.UTC).timestamp()
    assert sorted(map(tuple, found), key=repr) == [
        ("a", decimal.Decimal("0.50"), None, None, None),
        ("a", decimal.Decimal("3.00"), at, at.date(), instant),
    ]


def test_a_stream_needs_a_type(spark, env):
    with pytest.raises(TypeError, match="has no column for"):
        to_spark(env.from_collection([1]), lambda frame, _: None)
    with pytest.raises(TypeError, match="DataFrame, not"):
        from_spark(env, [1])


@pytest.mark.parametrize("engine", ["hosts", "structured"])
def test_a_streaming_frame(spark, env, tmp_path, engine):
    configuration = Configuration()
    configuration.set_string("pyflink-on-spark.engine", engine)
    env.configure(configuration)
    source = tmp_path / "source"
    source.mkdir()
    frame = spark.readStream.schema("n INT").json(str(source))
    env.enable_checkpointing(100)
    found = []
    doubled = from_spark(env, frame).map(lambda row: row[0] * 2, Types.INT())
    to_spark(doubled, lambda back, _: found.extend(row.value for row in back.collect()))
    client = env.execute_async()
    for number in range(3):
        (source / f"{number}.json").write_text(f'{{"n": {number}}}\n')
        deadline = time.monotonic() + 60
        while len(found) <= number and time.monotonic() < deadline:
            time.sleep(0.05)
    client.cancel().result()
    assert found == [0, 2, 4]
    assert not [query for query in spark.streams.active if "staging" in (query.name or "")]


def test_a_streaming_frame_that_fails(spark, env, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    strict = spark.readStream.schema("n INT").option("mode", "FAILFAST").json(str(source))
    found = []
    to_spark(
        from_spark(env, strict).map(lambda row: row[0], Types.INT()),
        lambda back, _: found.extend(row.value for row in back.collect()),
    )
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.interval", "100 ms")
    configuration.set_string("restart-strategy.type", "fixed-delay")
    configuration.set_string("restart-strategy.fixed-delay.attempts", "1")
    configuration.set_string("restart-strategy.fixed-delay.delay", "0 s")
    env.configure(configuration)
    (source / "0.json").write_text('{"n": 1}\n')
    client = env.execute_async()
    deadline = time.monotonic() + 60
    while not found and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found == [1]
    (source / "1.json").write_text("no JSON\n")
    with pytest.raises(JobExecutionError, match="streaming DataFrame that the job reads has ended"):
        client.get_job_execution_result().result()
    assert not [query for query in spark.streams.active if "staging" in (query.name or "")]


def test_batches_that_checkpoints_are_past_are_removed(spark, env, tmp_path):
    source, staging = tmp_path / "source", tmp_path / "staging"
    source.mkdir()
    env.enable_checkpointing(100)
    found = []
    stream = from_spark(
        env, spark.readStream.schema("n INT").json(str(source)), staging=str(staging)
    ).map(lambda row: row[0], Types.INT())
    to_spark(stream, lambda back, _: found.extend(row.value for row in back.collect()))
    client = env.execute_async()
    deadline = time.monotonic() + 60
    for number in range(3):
        (source / f"{number}.json").write_text(f'{{"n": {number}}}\n')
        while len(found) <= number and time.monotonic() < deadline:
            time.sleep(0.05)
    while list(staging.glob("batch-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    client.cancel().result()
    assert found == [0, 1, 2]
    assert not list(staging.glob("batch-*"))


@pytest.fixture
def lenient(spark):
    """Spark's settings with which it skips files that it cannot read."""
    names = ["spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles"]
    before = {name: spark.conf.get(name) for name in names}
    for name in names:
        spark.conf.set(name, "true")
    yield
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_bytes(b"PAR1 no more")])
def test_staged_rows_are_all_read_or_none(spark, tmp_path, damage):
    files = []
    for number in range(3):
        spark.range(number, number + 1).coalesce(1).write.parquet(str(tmp_path / f"{number}"))
        files.extend(str(file) for file in (tmp_path / f"{number}").glob("*.parquet"))
    frame = staged(spark, files)
    assert sorted(row.id for row in frame.collect()) == [0, 1, 2]
    damage(Path(files[1]))
    assert len(spark.read.schema("id LONG").parquet(*files[::2]).collect()) == 2
    with pytest.raises(Exception, match=Path(files[1]).name):
        frame.collect()
    with pytest.raises(Exception, match=Path(files[1]).name):
        staged(spark, files).collect()
