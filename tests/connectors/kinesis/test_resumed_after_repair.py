"""Errors name their cause; a job that resumes after a repair loses nothing."""

from __future__ import annotations

import pytest

from pyflink_on_spark._connectors.kinesis.client import KinesisError
from pyflink_on_spark._connectors.kinesis.config import (
    Batching,
    KinesisSourceConfig,
    PartitionKeys,
    StreamsSinkConfig,
)
from pyflink_on_spark._connectors.kinesis.sink import StreamsWriter
from pyflink_on_spark._connectors.kinesis.source import StreamsSource
from pyflink_on_spark.common import SimpleStringSchema
from tests.connectors.rabbitmq.proxy import Proxy
from tests.connectors.reading import checkpoint, close, context_of, readers_of, take
from tests.connectors.servers import free_port


class TestKinesis:
    @pytest.fixture(autouse=True)
    def one_attempt(self, monkeypatch):
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")

    def properties(self, aws, port):
        more = {"aws.endpoint": f"http://127.0.0.1:{port}", "flink.stream.initpos": "TRIM_HORIZON"}
        return {**aws.properties, **more, "flink.shard.getrecords.intervalmillis": "1"}

    def source(self, aws, port, stream):
        told = KinesisSourceConfig((stream,), SimpleStringSchema(), self.properties(aws, port))
        return StreamsSource(told)

    def test_an_endpoint_that_is_gone_at_the_start_and_in_the_middle(self, aws, kinesis, stream):
        def send(text):
            kinesis.put_record(StreamName=stream, Data=text.encode(), PartitionKey="any")

        send("a")
        nobody, port = free_port(), int(aws.endpoint.rpartition(":")[2])
        with pytest.raises(KinesisError, match=rf"(?s){stream}.*127.0.0.1:{nobody}"):
            readers_of(self.source(aws, nobody, stream), 1)
        proxy = Proxy(port)
        readers = readers_of(self.source(aws, proxy.port, stream), 1)
        assert take(readers, 1) == ["a"]
        saved = checkpoint(readers)
        send("b")
        proxy.close()
        with pytest.raises(
            KinesisError, match=rf"stream '{stream}', shard shardId-0+\d*: .*127\.0\.0"
        ):
            take(readers, 1)
        close(readers)
        readers = readers_of(self.source(aws, port, stream), 1, saved)
        assert take(readers, 1) == ["b"]
        close(readers)

    def test_an_endpoint_that_is_gone_while_records_are_written(self, aws, kinesis, stream):
        def writer(port):
            told = StreamsSinkConfig(
                stream,
                SimpleStringSchema(),
                False,
                Batching(),
                self.properties(aws, port),
                PartitionKeys.RANDOM,
            )
            return StreamsWriter(told, context_of(), lambda seconds: None)

        port = int(aws.endpoint.rpartition(":")[2])
        proxy = Proxy(port)
        lost = writer(proxy.port)
        lost.write(iter(["a"]))
        lost.prepare_checkpoint(1)
        proxy.close()
        lost.write(iter(["b"]))
        with pytest.raises(KinesisError, match=rf"{stream}: .*127.0.0.1:{proxy.port}"):
            lost.prepare_checkpoint(2)
        lost.close()
        again = writer(port)
        again.write(iter(["b"]))
        again.prepare_checkpoint(2)
        again.close()
        readers = readers_of(self.source(aws, port, stream), 1)
        assert sorted(take(readers, 2)) == ["a", "b"]
        close(readers)
