"""Errors name their cause; a job that resumes after a repair loses nothing."""

from __future__ import annotations

import contextlib
import threading
import time

import pytest

from pyflink_on_spark._connectors.kafka import sink as shutdown_budget
from pyflink_on_spark.common import SimpleStringSchema, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors import DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.kafka import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
)
from pyflink_on_spark.testing import local_engine as engine
from tests.connectors.kafka.jobs import elements, reading, writing
from tests.connectors.reading import checkpoint, close, context_of, readers_of, take

SOON = {"reconnect_backoff_ms": "10", "reconnect_backoff_max_ms": "50"}


IMPATIENT = {"delivery_timeout_ms": "3000", "linger_ms": "0", "default_api_timeout_ms": "3000"}


@contextlib.contextmanager
def later(seconds, call):
    """Call something while the block runs."""
    timer = threading.Timer(seconds, call)
    timer.start()
    yield
    timer.join()


@pytest.fixture
def env():
    with engine():
        environment = StreamExecutionEnvironment.get_execution_environment()
        environment.set_parallelism(1)
        yield environment


class TestKafka:
    @pytest.fixture
    def kafka(self):
        pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
        from tests.connectors.kafka.cluster import memory_cluster

        with memory_cluster() as cluster:
            yield cluster

    def read_on(self, kafka, topic, saved=None, starting=None, **more):
        """Return readers that never end, which are quick to connect again."""
        builder = reading(kafka.servers, topic)
        for key, value in (SOON | more).items():
            builder.set_property(key.replace("_", "."), value)
        builder._stopping, builder._bounded = None, False
        if starting is not None:
            builder.set_starting_offsets(starting)
        return readers_of(builder.build()._source, 1, saved)

    def test_a_broker_that_comes_late_is_waited_for(self, kafka, env):
        topic = kafka.topic(1)
        kafka.write(topic, ["a", "b"])
        kafka.broker.stop()
        with later(0.3, kafka.broker.start):
            assert elements(env, reading(kafka.servers, topic)) == ["a", "b"]

    @pytest.mark.parametrize("guarantee", list(DeliveryGuarantee))
    def test_a_broker_that_comes_late_gets_all_records(self, kafka, env, guarantee):
        topic = kafka.topic(1)
        kafka.broker.stop()
        sink = writing(kafka.servers, topic, guarantee, **SOON)
        env.from_collection(["a", "b"], Types.STRING()).sink_to(sink)
        with later(0.3, kafka.broker.start):
            env.execute()
        assert kafka.values(topic) == ["a", "b"]

    @pytest.mark.parametrize(
        "guarantee", [DeliveryGuarantee.AT_LEAST_ONCE, DeliveryGuarantee.EXACTLY_ONCE]
    )
    def test_a_broker_that_is_gone_while_records_are_written(self, kafka, guarantee):
        topic = kafka.topic(1)
        sink = writing(kafka.servers, topic, guarantee, **IMPATIENT)._sink
        writer = sink.writer(context_of())
        writer.write(iter(["a"]))
        sink.commit(writer.prepare_checkpoint(1))
        kafka.broker.stop()
        writer.write(iter(["b"]))
        prepared = []

        def take_checkpoint():
            prepared.extend(writer.prepare_checkpoint(2))
            sink.commit(prepared)

        with pytest.raises(ConnectionError, match=kafka.servers):
            take_checkpoint()
        writer.close()
        kafka.broker.start()
        # What is prepared is part of the checkpoint; else elements since the last one come again.
        again = writing(kafka.servers, topic, guarantee, **SOON)._sink
        writer = again.writer(context_of(restored=2))
        if prepared:
            again.commit_again(prepared)
        else:
            writer.write(iter(["b"]))
        again.commit(writer.prepare_checkpoint(3))
        writer.close()
        assert kafka.values(topic) == ["a", "b"]

    @pytest.mark.parametrize("guarantee", [DeliveryGuarantee.NONE, DeliveryGuarantee.AT_LEAST_ONCE])
    def test_what_waits_is_written_when_the_job_is_stopped(self, kafka, guarantee):
        """By a savepoint or a cancellation: no end of input comes then."""
        topic = kafka.topic(1)
        sink = writing(kafka.servers, topic, guarantee, linger_ms="60000")._sink
        writer = sink.writer(context_of())
        writer.write(iter(["a"]))
        writer.close()
        assert kafka.values(topic) == ["a"]

    def test_what_waits_is_given_up_when_the_job_has_failed(self, kafka):
        topic = kafka.topic(1)
        sink = writing(kafka.servers, topic, linger_ms="60000")._sink
        writer = sink.writer(context_of())

        def elements():
            yield "a"
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            writer.write(elements())
        writer.close()
        assert kafka.values(topic) == []

    def test_nobody_waits_long_for_a_broker_that_is_gone_when_the_job_is_stopped(
        self, kafka, caplog
    ):
        topic = kafka.topic(1)
        more = {"linger_ms": "60000", "default_api_timeout_ms": "300"}
        writer = writing(kafka.servers, topic, **more)._sink.writer(context_of())
        writer.write(iter(["a", "b"]))
        kafka.broker.stop()
        writer.close()
        kafka.broker.start()
        assert f"2 records were not written to Kafka at {kafka.servers}" in caplog.text

    def test_all_writers_of_a_process_together_wait_as_long_as_one(
        self, kafka, caplog, monkeypatch
    ):
        monkeypatch.setattr(
            shutdown_budget, "_budgets", {("", 0): shutdown_budget.ShutdownBudget(0.5)}
        )
        sink = writing(kafka.servers, kafka.topic(1), linger_ms="60000")._sink
        writers = [sink.writer(context_of()) for _ in range(6)]
        for writer in writers:
            writer.write(iter(["a"]))
        kafka.broker.stop()
        started = time.monotonic()
        for writer in writers:
            writer.close()
        seconds = time.monotonic() - started
        kafka.broker.start()
        assert 0.5 <= seconds < 2.5
        assert caplog.text.count("1 records were not written to Kafka") == 6

    def test_a_record_that_is_refused_while_the_job_is_stopped(self, kafka):
        more = {"linger_ms": "60000", "topic_metadata_propagation_max_ms": "50"}
        writer = writing(kafka.servers, "nowhere", **more)._sink.writer(context_of())
        writer.write(iter(["a"]))
        with pytest.raises(RuntimeError, match="topic 'nowhere' could not be written"):
            writer.close()

    def test_a_topic_that_is_made_later(self, kafka, env):
        missing = {"topic_metadata_propagation_max_ms": "50", **SOON}
        for guarantee in DeliveryGuarantee:
            name = f"later-{guarantee.name}"
            for attempt in range(2):
                stream = env.from_collection(["a", "b"], Types.STRING())
                stream.sink_to(writing(kafka.servers, name, guarantee, **missing))
                if attempt:
                    env.execute()
                    continue
                with pytest.raises(Exception, match=f"topic '{name}' could not be written"):
                    env.execute()
                kafka.broker.create(name)
            assert kafka.values(name) == ["a", "b"]

    def test_a_topic_that_is_deleted_and_comes_back(self, kafka):
        topic = kafka.topic(1)
        kafka.write(topic, ["a", "b"])
        readers = self.read_on(kafka, topic, partition_discovery_interval_ms="20")
        assert take(readers, 2) == ["a", "b"]
        saved = checkpoint(readers)
        log = kafka.broker.logs.pop((topic, 0))
        with pytest.raises(LookupError, match=f"there is no Kafka topic '{topic}'"):
            take(readers, 1)
        close(readers)
        kafka.broker.logs[topic, 0] = log
        kafka.write(topic, ["c"])
        readers = self.read_on(kafka, topic, saved)
        assert take(readers, 1) == ["c"]
        close(readers)

    def test_an_offset_that_is_gone(self, kafka):
        topic = kafka.topic(1)
        for text in "abcd":
            kafka.write(topic, [text])
        first = {KafkaTopicPartition(topic, 0): 0}
        strict = KafkaOffsetsInitializer.offsets(first, KafkaOffsetResetStrategy.NONE)
        readers = self.read_on(kafka, topic, None, strict)
        readers[0].limit = 1
        assert take(readers, 1) == ["a"]
        saved = checkpoint(readers)
        close(readers)
        kafka.broker.logs[topic, 0].drop_before(2)
        readers = self.read_on(kafka, topic, saved, strict)
        with pytest.raises(LookupError, match=f"the offset 1 of {topic}-0 is not there any more"):
            take(readers, 1)
        close(readers)
        readers = self.read_on(kafka, topic, saved, KafkaOffsetsInitializer.earliest())
        assert take(readers, 2) == ["c", "d"]
        close(readers)

    def test_a_record_that_cannot_be_read(self, kafka):
        topic = kafka.topic(1)
        kafka.write(topic, ["1"])
        kafka.write(topic, ["two", "3"])

        class Strict(SimpleStringSchema):
            def _deserializer(self):
                return int

        class Lenient(SimpleStringSchema):
            def _deserializer(self):
                return lambda data: int(data) if data.isdigit() else None

        def readers(schema, saved=None):
            builder = reading(kafka.servers, topic, schema=schema)
            builder._stopping, builder._bounded = None, False
            return readers_of(builder.build()._source, 1, saved)

        strict = readers(Strict())
        strict[0].limit = 1
        assert take(strict, 1) == [1]
        with pytest.raises(ValueError, match=f"record of {topic}-0 at offset 1 cannot be"):
            take(strict, 1)
        saved = checkpoint(strict)
        close(strict)
        lenient = readers(Lenient(), saved)
        assert take(lenient, 1) == [3]
        close(lenient)
