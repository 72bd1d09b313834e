"""Reads data streams of moto's server."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

pytest.importorskip("botocore", reason="boto3 is not installed")

from botocore.exceptions import ClientError

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark._connectors.formats.file_format import CorruptRecordError
from pyflink_on_spark._connectors.kinesis.client import KinesisError, make_client
from pyflink_on_spark._connectors.kinesis.config import KinesisSourceConfig, ShardAssignment
from pyflink_on_spark._connectors.kinesis.source import (
    ShardPosition,
    Start,
    StreamsSource,
    start_of,
)
from pyflink_on_spark._runtime.contract.connector import FlinkSplits
from pyflink_on_spark.common import SimpleStringSchema
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.kinesis import FlinkKinesisConsumer
from pyflink_on_spark.testing import ManualClock
from tests.connectors.reading import checkpoint, close, context_of, readers_of

SECONDS = 30
FROM_THE_BEGINNING = {"flink.stream.initpos": "TRIM_HORIZON"}


@pytest.fixture
def reading(aws, stream):
    properties = aws.properties | {
        "flink.shard.getrecords.intervalmillis": "1",
        "flink.shard.discovery.intervalmillis": "1",
    }
    return KinesisSourceConfig((stream,), SimpleStringSchema(), properties)


def source_of(reading, **properties):
    told = {f"flink.{key.replace('_', '.')}": value for key, value in properties.items()}
    return StreamsSource(replace(reading, properties=reading.properties | told))


def put(kinesis, stream, *texts):
    for text in texts:
        # As many in each shard, more or less.
        key = {"ExplicitHashKey": str(2**127 * (int(text) % 2) + 1)}
        kinesis.put_record(StreamName=stream, Data=text.encode(), PartitionKey="any", **key)


def take(readers, count):
    found = []
    until = time.monotonic() + SECONDS
    while len(found) < count:
        assert time.monotonic() < until, f"only {found}"
        for reader in readers:
            bundle = reader.poll()
            found += bundle.values if bundle else []
    return sorted(found, key=int)


def test_a_job_reads_a_stream(local_engine, aws, kinesis, stream):
    put(kinesis, stream, "0", "1", "2")
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    properties = aws.properties | FROM_THE_BEGINNING
    consumer = FlinkKinesisConsumer(stream, SimpleStringSchema(), properties)
    with env.add_source(consumer).execute_and_collect() as results:
        assert sorted(next(results) for _ in range(3)) == ["0", "1", "2"]


def test_each_record_once_across_restarts(kinesis, stream, reading):
    source = source_of(reading, stream_initpos="TRIM_HORIZON")
    put(kinesis, stream, *map(str, range(10)))
    readers = readers_of(source, 1)
    readers[0].limit = 2
    found = take(readers, 4)
    saved = checkpoint(readers)
    take(readers, 2)
    close(readers)
    for parallelism in (3, 2):
        readers = readers_of(source, parallelism, saved)
        for reader in readers:
            reader.limit = 1
        found += take(readers, 2)
        saved = checkpoint(readers)
        close(readers)
    readers = readers_of(source, 1, saved)
    found += take(readers, 10 - len(found))
    assert sorted(found, key=int) == [str(n) for n in range(10)]
    assert readers[0].poll() is None
    close(readers)


def test_records_have_the_time_of_their_arrival(kinesis, stream, reading):
    before = time.time() * 1000
    put(kinesis, stream, "0")
    (reader,) = readers_of(source_of(reading, stream_initpos="TRIM_HORIZON"), 1)
    while (bundle := reader.poll()) is None:
        pass
    assert before - 2000 <= bundle.timestamps[0] <= time.time() * 1000 + 2000
    reader.close()


def test_the_latest(kinesis, stream, reading):
    put(kinesis, stream, "0", "1")
    readers = readers_of(source_of(reading), 1)
    for _ in range(4):
        assert readers[0].poll() is None
    put(kinesis, stream, "2", "3")
    assert take(readers, 2) == ["2", "3"]
    close(readers)


def test_the_latest_is_as_of_the_start_after_a_restart(kinesis, stream, reading):
    source = source_of(reading)
    readers = readers_of(source, 1)
    readers[0].poll()
    saved = checkpoint(readers)
    assert {position.start for position in saved} == {Start.AT_TIMESTAMP}
    close(readers)
    put(kinesis, stream, "2", "3")
    readers = readers_of(source, 1, saved)
    assert take(readers, 2) == ["2", "3"]
    close(readers)


def test_the_latest_is_as_of_the_start_when_an_iterator_expires(kinesis, stream, reading):
    (reader,) = readers_of(source_of(reading), 1)
    while any(shard.iterator is None for shard in reader._shards):
        assert reader.poll() is None
    # As after five minutes in which nobody asked.
    for shard in reader._shards:
        response = {"Error": {"Code": "ExpiredIteratorException"}}
        reader._recover(shard, ClientError(response, "GetRecords"), 0)
    put(kinesis, stream, "2", "3")
    assert take([reader], 2) == ["2", "3"]
    reader.close()


def test_shards_are_looked_for_again_when_aws_is_busy(kinesis, stream, reading, monkeypatch):
    clock = ManualClock(0)
    source = source_of(reading, stream_initpos="TRIM_HORIZON")
    (reader,) = readers_of(source, 1, clock=clock)
    busy = ["LimitExceededException"]
    list_shards = reader._client.list_shards

    def list_or_not(**request):
        if busy:
            raise ClientError({"Error": {"Code": busy.pop()}}, "ListShards")
        return list_shards(**request)

    monkeypatch.setattr(reader._client, "list_shards", list_or_not)
    put(kinesis, stream, "1")
    clock.advance(1)
    assert take([reader], 1) == ["1"]
    assert not busy
    busy.append("AccessDeniedException")
    clock.advance(1)
    with pytest.raises(KinesisError, match=f"stream '{stream}': .*AccessDenied"):
        take([reader], 1)
    reader.close()


def test_from_a_timestamp(kinesis, stream, reading):
    put(kinesis, stream, "0", "1")
    time.sleep(1.1)  # moto compares whole seconds in places
    moment = time.time()
    put(kinesis, stream, "2", "3")
    source = source_of(reading, stream_initpos="AT_TIMESTAMP", stream_initpos_timestamp=str(moment))
    readers = readers_of(source, 1)
    assert take(readers, 2) == ["2", "3"]
    close(readers)


def test_a_shard_that_is_split_while_it_is_read(kinesis, stream, reading):
    source = source_of(reading, stream_initpos="TRIM_HORIZON")
    put(kinesis, stream, "0", "1")
    readers = readers_of(source, 2)
    assert take(readers, 2) == ["0", "1"]
    shard = kinesis.list_shards(StreamName=stream)["Shards"][0]
    middle = int(shard["HashKeyRange"]["EndingHashKey"]) // 2
    kinesis.split_shard(
        StreamName=stream, ShardToSplit=shard["ShardId"], NewStartingHashKey=str(middle)
    )
    put(kinesis, stream, "2", "3", "4")
    assert take(readers, 3) == ["2", "3", "4"]
    saved = checkpoint(readers)
    assert len(saved) == 4
    close(readers)
    # What was split before is not read by one who begins with the latest.
    assert Start.ENDED in {position.start for position in source_of(reading).splits(1)[0]}
    put(kinesis, stream, "5", "6")
    readers = readers_of(source, 1, saved)
    assert take(readers, 2) == ["5", "6"]
    close(readers)


def test_shards_are_dealt_out():
    width = 2**128 // 8
    shards = [
        ShardPosition("s", f"shard-{n}", n * width + width // 2, Start.LATEST) for n in range(8)
    ]
    uniform = [shard.owner(4, ShardAssignment.UNIFORM) for shard in shards]
    assert uniform == [0, 0, 1, 1, 2, 2, 3, 3]
    hashed = {shard.owner(4, ShardAssignment.BY_HASH) for shard in shards}
    assert hashed <= set(range(4))
    assert len(hashed) > 1


@pytest.mark.parametrize(
    ("data", "why"), [(b"x", "invalid literal"), (b"\xf3\x89\x9a\xc2 y", "AggregationEnabled")]
)
def test_a_record_that_cannot_be_read(kinesis, stream, reading, data, why):
    class Numbers(SimpleStringSchema):
        def _deserializer(self):
            return int

    kinesis.put_record(StreamName=stream, Data=data, PartitionKey="a")
    told = reading.properties | FROM_THE_BEGINNING
    source = StreamsSource(replace(reading, deserializer=Numbers(), properties=told))
    reader = source.reader(source.splits(1), None, context_of())
    place = rf"stream '{stream}', shard shardId-\d+, sequence number \d+: .*{why}"
    with pytest.raises(CorruptRecordError, match=place):
        take([reader], 1)
    reader.close()


def test_a_stream_that_is_not_there(aws):
    source = StreamsSource(KinesisSourceConfig(("missing",), SimpleStringSchema(), aws.properties))
    with pytest.raises(KinesisError, match="there is no Kinesis stream 'missing'") as caught:
        source.splits(1)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("properties", "found"),
    [
        ({}, (Start.LATEST, None)),
        ({"": "TRIM_HORIZON"}, (Start.TRIM_HORIZON, None)),
        ({"": "AT_TIMESTAMP", ".timestamp": "1.5"}, (Start.AT_TIMESTAMP, 1.5)),
        (
            {"": "AT_TIMESTAMP", ".timestamp": "1970-01-01T01:00:02.500+01:00"},
            (Start.AT_TIMESTAMP, 2.5),
        ),
    ],
)
def test_where_to_begin(properties, found):
    assert start_of({f"flink.stream.initpos{k}": v for k, v in properties.items()}) == found


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"": "FIRST"}, "initpos is LATEST, TRIM_HORIZON or AT_TIMESTAMP"),
        ({"": "AT_TIMESTAMP"}, "timestamp is not set"),
        ({"": "AT_TIMESTAMP", ".timestamp": "-1"}, "must not be negative"),
        ({"": "AT_TIMESTAMP", ".timestamp": "1970-01-01T00:00:00"}, "ISO 8601 with a zone"),
        ({"": "AT_TIMESTAMP", ".timestamp": "soon"}, "ISO 8601 with a zone"),
    ],
)
def test_where_it_cannot_begin(properties, error):
    with pytest.raises(ValueError, match=error):
        start_of({f"flink.stream.initpos{k}": v for k, v in properties.items()})


def test_what_is_not_there_yet():
    with pytest.raises(UnsupportedFlinkFeature, match="EFO"):
        start_of({"flink.stream.recordpublisher": "EFO"})
    key = "flink.stream.initpos"
    told = {key: "AT_TIMESTAMP", f"{key}.timestamp": "1", f"{key}.timestamp.format": "yyyy"}
    with pytest.raises(UnsupportedFlinkFeature, match="Java date patterns"):
        start_of(told)
    with pytest.raises(UnsupportedFlinkFeature, match="WEB_IDENTITY_TOKEN"):
        make_client("kinesis", {"aws.credentials.provider": "WEB_IDENTITY_TOKEN"})
    with pytest.raises(ValueError, match="secretkey is not set"):
        make_client("kinesis", {"aws.credentials.provider.basic.accesskeyid": "me"})


def test_positions_of_flinks_consumer_continue(kinesis, stream, reading):
    put(kinesis, stream, *map(str, range(6)))
    elements = []
    for shard in kinesis.list_shards(StreamName=stream)["Shards"]:
        where = {"StreamName": stream, "ShardId": shard["ShardId"]}
        iterator = kinesis.get_shard_iterator(**where, ShardIteratorType="TRIM_HORIZON")
        first = kinesis.get_records(ShardIterator=iterator["ShardIterator"], Limit=1)["Records"][0]
        keys = {key[0].lower() + key[1:]: value for key, value in shard["HashKeyRange"].items()}
        named = {"streamName": stream, "shardId": shard["ShardId"], **keys}
        elements.append((named, (1, first["SequenceNumber"], -1)))
    source = source_of(reading)
    found = FlinkSplits((), of_function={"Kinesis-Stream-Shard-State": elements})
    readers = readers_of(source, 2, source.positions_of_flink(found))
    assert take(readers, 4) == ["2", "3", "4", "5"]
    close(readers)


def test_positions_of_newer_sources_are_refused(reading):
    with pytest.raises(ValueError, match="only positions of a FlinkKinesisConsumer are known"):
        source_of(reading).positions_of_flink(FlinkSplits(()))
