"""Writes to data streams and delivery streams of moto's server."""

from __future__ import annotations

from itertools import chain

import pytest

from pyflink_on_spark._connectors.kinesis.client import KinesisError
from pyflink_on_spark._connectors.kinesis.config import (
    Batching,
    FirehoseSinkConfig,
    PartitionKeys,
    StreamsSinkConfig,
)
from pyflink_on_spark._connectors.kinesis.sink import FirehoseWriter, StreamsWriter
from pyflink_on_spark.common import SimpleStringSchema, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.kinesis import (
    KinesisFirehoseSink,
    KinesisStreamsSink,
    PartitionKeyGenerator,
)
from pyflink_on_spark.testing import ManualClock
from tests.connectors.reading import context_of


def written(kinesis, stream):
    """Return the texts of each shard of a stream."""
    shards = []
    for shard in kinesis.list_shards(StreamName=stream)["Shards"]:
        iterator = kinesis.get_shard_iterator(
            StreamName=stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )
        records = kinesis.get_records(ShardIterator=iterator["ShardIterator"])["Records"]
        shards.append([record["Data"].decode() for record in records])
    return shards


def writing(aws, stream, keys=PartitionKeys.RANDOM, fail_on_error=False, **batching):
    return StreamsSinkConfig(
        stream, SimpleStringSchema(), fail_on_error, Batching(**batching), aws.properties, keys
    )


def job(sink):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    stream = env.from_collection([str(number) for number in range(20)], Types.STRING())
    stream.sink_to(sink)
    env.execute()


def test_a_job_writes_a_stream(local_engine, aws, kinesis, stream):
    builder = KinesisStreamsSink.builder().set_kinesis_client_properties(aws.properties)
    builder.set_serialization_schema(SimpleStringSchema()).set_stream_name(stream)
    builder.set_partition_key_generator(PartitionKeyGenerator.random()).set_max_batch_size(7)
    job(builder.build())
    first, second = written(kinesis, stream)
    assert sorted(first + second, key=int) == [str(number) for number in range(20)]
    assert first
    assert second


def test_a_job_writes_a_delivery_stream(local_engine, aws):
    files = aws.client("s3")
    files.create_bucket(
        Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    destination = {"RoleARN": "arn:aws:iam::1:role/any", "BucketARN": "arn:aws:s3:::bucket"}
    aws.client("firehose").create_delivery_stream(
        DeliveryStreamName="deliveries", ExtendedS3DestinationConfiguration=destination
    )
    builder = KinesisFirehoseSink.builder().set_firehose_client_properties(aws.properties)
    builder.set_serialization_schema(SimpleStringSchema())
    builder.set_delivery_stream_name("deliveries").set_max_batch_size(15)
    job(builder.build())
    found = [
        files.get_object(Bucket="bucket", Key=item["Key"])["Body"].read().decode()
        for item in files.list_objects_v2(Bucket="bucket")["Contents"]
    ]
    assert len(found) == 2
    assert sorted("".join(found)) == sorted("".join(str(number) for number in range(20)))


def test_a_fixed_key_is_one_shard(aws, kinesis, stream):
    writer = StreamsWriter(writing(aws, stream, PartitionKeys.FIXED), context_of())
    writer.write(map(str, range(9)))
    writer.prepare_checkpoint(1)
    writer.close()
    assert sorted(map(len, written(kinesis, stream))) == [0, 9]


def test_requests_are_of_the_size(aws, kinesis, stream):
    clock = ManualClock(0)
    told = writing(aws, stream, elements=3, in_bytes=10, element_bytes=10, milliseconds=50)
    writer = StreamsWriter(told, context_of(clock=clock))

    def count():
        return sum(map(len, written(kinesis, stream)))

    writer.write(iter(["1", "2"]))
    assert count() == 0
    writer.write(iter(["3", "4"]))
    assert count() == 3
    writer.write(iter(["123456789"]))
    assert count() == 5
    writer.write(iter(["5"]))
    writer.advance_processing_time(49)
    assert count() == 5
    writer.advance_processing_time(50)
    assert count() == 6
    with pytest.raises(ValueError, match="an element has 11 bytes, more than the 10"):
        writer.write(iter(["x" * 11]))
    writer.close()


class Refusing:
    """Stands between a writer and its client, and refuses every second record at first."""

    def __init__(self, client, times):
        self.client, self.times, self.requests = client, times, []

    def close(self):
        self.client.close()

    def put_records(self, StreamName, Records):  # noqa: N803 - boto3's names
        self.requests.append(len(Records))
        if self.times == 0:
            return self.client.put_records(StreamName=StreamName, Records=Records)
        self.times -= 1
        taken = self.client.put_records(StreamName=StreamName, Records=Records[::2])
        refused = {"ErrorCode": "ProvisionedThroughputExceededException", "ErrorMessage": "slow"}
        answers = [refused] * len(Records)
        answers[::2] = taken["Records"]
        return {"FailedRecordCount": len(Records) // 2, "Records": answers}


def test_what_was_refused_is_sent_again(aws, kinesis, stream):
    pauses = []
    writer = StreamsWriter(writing(aws, stream), context_of(), pauses.append)
    writer._client = refusing = Refusing(writer._client, 2)
    writer.write(map(str, range(8)))
    writer.prepare_commit()
    writer.close()
    assert refusing.requests == [8, 4, 2]
    assert 0.05 <= pauses[0] <= 0.1 <= pauses[1] <= 0.2
    assert sorted(chain(*written(kinesis, stream))) == [str(number) for number in range(8)]


def test_what_was_refused_fails_the_job_if_told_to(aws, stream):
    writer = StreamsWriter(writing(aws, stream, fail_on_error=True), context_of())
    writer._client = Refusing(writer._client, 1)
    writer.write(map(str, range(8)))
    with pytest.raises(KinesisError, match=r"4 of 8 records refused: Provisioned.*: slow"):
        writer.prepare_commit()
    writer.close()


def test_streams_that_are_not_there(aws):
    writer = StreamsWriter(writing(aws, "missing"), context_of())
    writer.write(iter(["a"]))
    with pytest.raises(KinesisError, match=r"missing: .*ResourceNotFoundException"):
        writer.prepare_commit()
    writer.close()
    told = FirehoseSinkConfig("gone", SimpleStringSchema(), False, Batching(), aws.properties)
    other = FirehoseWriter(told, context_of())
    other.write(iter(["a"]))
    with pytest.raises(KinesisError, match=r"gone: .*ResourceNotFoundException"):
        other.prepare_commit()
    other.close()
