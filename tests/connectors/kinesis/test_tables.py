"""Tables of data streams of moto's server."""

from __future__ import annotations

import json
import time
from itertools import islice

import pytest

from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.errors import PyFlinkOnSparkError
from pyflink_on_spark.table import StreamTableEnvironment
from tests.connectors.kinesis.moto_server import REGION

FROM_THE_BEGINNING = "'source.init.position' = 'TRIM_HORIZON'"
COLUMNS = "id INT, name STRING"


@pytest.fixture
def t_env(local_engine):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    found = StreamTableEnvironment.create(env)
    found.get_config().set_local_timezone("UTC")
    return found


def arn(stream):
    return f"'stream.arn' = 'arn:aws:kinesis:{REGION}:123456789012:stream/{stream}'"


def create(t_env, aws, name, columns, *options, connector="kinesis", partitioned=""):
    keys = ("'aws.credentials.basic.accesskeyid' = 'me'",
            "'aws.credentials.basic.secretkey' = 'hush'")  # fmt: skip
    reached = (f"'connector' = '{connector}'", f"'aws.endpoint' = '{aws.endpoint}'", *keys)
    given = ", ".join([*reached, "'format' = 'json'", *options])
    t_env.execute_sql(f"CREATE TABLE {name} ({columns}) {partitioned} WITH ({given})")


def put(kinesis, stream, *messages):
    for message in messages:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        kinesis.put_record(StreamName=stream, Data=data, PartitionKey="any")


def records(kinesis, stream):
    """Return the partition keys and the texts of all records."""
    found = []
    for shard in kinesis.list_shards(StreamName=stream)["Shards"]:
        iterator = kinesis.get_shard_iterator(
            StreamName=stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )
        answer = kinesis.get_records(ShardIterator=iterator["ShardIterator"])
        found += [(each["PartitionKey"], each["Data"].decode()) for each in answer["Records"]]
    return sorted(found, key=lambda record: record[1])


def first(t_env, count, text):
    with t_env.execute_sql(text).collect() as found:
        return [tuple(row) for row in islice(found, count)]


def refusal(t_env, text):
    with pytest.raises(PyFlinkOnSparkError) as caught:
        t_env.execute_sql(text)
    return str(caught.value)


def test_there_and_back(aws, kinesis, stream, t_env):
    create(t_env, aws, "t", COLUMNS, arn(stream), FROM_THE_BEGINNING)
    t_env.execute_sql("INSERT INTO t VALUES (1, 'a'), (2, CAST(NULL AS STRING))").wait()
    texts = [text for _, text in records(kinesis, stream)]
    assert texts == ['{"id":1,"name":"a"}', '{"id":2,"name":null}']
    assert sorted(first(t_env, 2, "SELECT id + 1, name FROM t")) == [(2, "a"), (3, None)]


def test_metadata(aws, kinesis, stream, t_env):
    before = time.time() * 1000
    put(kinesis, stream, {"id": 7})
    metadata = (
        "id INT, at_ TIMESTAMP_LTZ(3) NOT NULL METADATA FROM 'timestamp' VIRTUAL, "
        "shard VARCHAR(128) NOT NULL METADATA FROM 'shard-id' VIRTUAL, "
        "number VARCHAR(128) NOT NULL METADATA FROM 'sequence-number' VIRTUAL"
    )
    create(t_env, aws, "t", metadata, arn(stream), FROM_THE_BEGINNING)
    ((at, shard, number, identity),) = first(t_env, 1, "SELECT at_, shard, number, id FROM t")
    assert before - 2000 <= at.to_epoch_milli() <= time.time() * 1000 + 2000
    assert shard.startswith("shardId-")
    assert number.isdigit()
    assert identity == 7


@pytest.mark.parametrize("connector", ["kinesis", "kinesis-legacy"])
def test_the_options_of_the_connector_before(aws, kinesis, stream, t_env, connector):
    put(kinesis, stream, {"id": 1, "name": "a"})
    told = (f"'stream' = '{stream}'", f"'aws.region' = '{REGION}'",
            "'scan.stream.initpos' = 'TRIM_HORIZON'", "'sink.batch.max-size' = '100'")  # fmt: skip
    create(t_env, aws, "t", COLUMNS, *told, connector=connector)
    assert first(t_env, 1, "SELECT * FROM t") == [(1, "a")]


def test_a_time_to_begin_at(aws, kinesis, stream, t_env):
    put(kinesis, stream, {"id": 1, "name": "a"})
    told = ("'source.init.position' = 'AT_TIMESTAMP'",
            "'source.init.timestamp' = '2020-01-01T00:00:00.000+00:00'")  # fmt: skip
    create(t_env, aws, "t", COLUMNS, arn(stream), *told)
    assert first(t_env, 1, "SELECT * FROM t") == [(1, "a")]


def test_columns_as_partition_key(aws, kinesis, stream, t_env):
    create(
        t_env, aws, "t", "id INT, name STRING, paid BOOLEAN", arn(stream),
        "'sink.partitioner-field-delimiter' = ';'", partitioned="PARTITIONED BY (name, id)",
    )  # fmt: skip
    t_env.execute_sql("INSERT INTO t VALUES (1, 'a', TRUE), (2, 'b', FALSE)").wait()
    assert records(kinesis, stream) == [
        ("a;1", '{"id":1,"name":"a","paid":true}'), ("b;2", '{"id":2,"name":"b","paid":false}'),
    ]  # fmt: skip


def test_one_partition_key_for_a_subtask(aws, kinesis, stream, t_env):
    create(t_env, aws, "t", COLUMNS, arn(stream), "'sink.partitioner' = 'fixed'")
    t_env.execute_sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')").wait()
    assert [key for key, _ in records(kinesis, stream)] == ["0", "0"]


def test_corrupt_records(aws, kinesis, stream, t_env):
    put(kinesis, stream, b"{", {"id": 1, "name": "a"})
    create(t_env, aws, "t", COLUMNS, arn(stream), FROM_THE_BEGINNING)
    with pytest.raises(PyFlinkOnSparkError, match=r"Failed to deserialize JSON '\{'"):
        first(t_env, 1, "SELECT * FROM t")
    lenient = "/*+ OPTIONS('json.ignore-parse-errors' = 'true') */"
    assert first(t_env, 1, f"SELECT * FROM t {lenient}") == [(1, "a")]


class TestRefused:
    """Wrong options."""

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ((), "Missing required options are:\n\nstream.arn"),
            (("'stream.arn' = 'orders'",), "no ARN of a Kinesis stream"),
            ((arn("s"), "'stream' = 's'"), "cannot be set together"),
            ((arn("s"), "'source.init.position' = 'FIRST'"), "Invalid value for option"),
            (
                (arn("s"), "'source.init.position' = 'AT_TIMESTAMP'"),
                "but source.init.timestamp is not set",
            ),
            (
                (arn("s"), "'scan.stream.initpos' = 'LATEST'"),
                "Unsupported options:\n\nscan.stream.initpos",
            ),
            ((arn("s"), "'source.reader.type' = 'EFO'"), "enhanced fan-out"),
        ],
    )
    def test_sources(self, aws, t_env, options, message):
        create(t_env, aws, "t", COLUMNS, *options)
        assert message in refusal(t_env, "SELECT * FROM t")

    def test_a_partitioner_beside_columns(self, aws, t_env):
        told = (arn("s"), "'sink.partitioner' = 'random'")
        create(t_env, aws, "t", COLUMNS, *told, partitioned="PARTITIONED BY (id)")
        assert "PARTITIONED BY" in refusal(t_env, "INSERT INTO t VALUES (1, 'a')")

    def test_numbers_that_contradict_each_other(self, aws, t_env):
        create(t_env, aws, "t", COLUMNS, arn("s"), "'sink.requests.max-buffered' = '10'")
        assert "strictly greater" in refusal(t_env, "INSERT INTO t VALUES (1, 'a')")

    def test_metadata_that_would_be_written(self, aws, t_env):
        columns = "id INT, `shard-id` VARCHAR(128) METADATA"
        create(t_env, aws, "t", columns, arn("s"))
        assert "declare it VIRTUAL" in refusal(t_env, "INSERT INTO t VALUES (1, 'a')")

    def test_secrets_are_not_shown(self, aws, t_env):
        create(t_env, aws, "t", COLUMNS)
        text = refusal(t_env, "SELECT * FROM t")
        assert "'aws.credentials.basic.secretkey'='******'" in text
        assert "hush" not in text


@pytest.fixture
def delivered(aws):
    """Reads the texts that a new delivery stream has put into its bucket."""
    files = aws.client("s3")
    files.create_bucket(
        Bucket="deliveries", CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    place = {"RoleARN": "arn:aws:iam::1:role/any", "BucketARN": "arn:aws:s3:::deliveries"}
    aws.client("firehose").create_delivery_stream(
        DeliveryStreamName="orders", ExtendedS3DestinationConfiguration=place
    )

    def read():
        found = files.list_objects_v2(Bucket="deliveries").get("Contents", [])
        bodies = (files.get_object(Bucket="deliveries", Key=each["Key"])["Body"] for each in found)
        return "".join(body.read().decode() for body in bodies)

    return read


def test_a_delivery_stream(aws, t_env, delivered):
    options = (
        "'delivery-stream' = 'orders'", f"'aws.region' = '{REGION}'", "'sink.batch.max-size' = '2'",
    )  # fmt: skip
    create(t_env, aws, "sent", COLUMNS, *options, connector="firehose")
    values = "(1, 'pear'), (2, 'fig'), (3, CAST(NULL AS STRING))"
    t_env.execute_sql(f"INSERT INTO sent VALUES {values}").wait()
    parts = [part + "}" for part in delivered().split("}") if part]
    assert sorted(parts) == [
        '{"id":1,"name":"pear"}', '{"id":2,"name":"fig"}', '{"id":3,"name":null}',
    ]  # fmt: skip
    assert "can only be used as a sink" in refusal(t_env, "SELECT * FROM sent")
    counted = "INSERT INTO sent SELECT CAST(COUNT(*) AS INT), name FROM sent_from GROUP BY name"
    t_env.execute_sql("CREATE VIEW sent_from AS SELECT * FROM (VALUES ('a'), ('a')) AS t(name)")
    assert "doesn't support consuming update changes" in refusal(t_env, counted)


def test_a_delivery_stream_has_a_name(aws, t_env):
    create(t_env, aws, "sent", COLUMNS, connector="firehose")
    assert "delivery-stream" in refusal(t_env, "INSERT INTO sent VALUES (1, 'pear')")
