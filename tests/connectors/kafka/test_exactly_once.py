"""Whose records they are: several sinks, jobs and runs that write exactly once."""

from __future__ import annotations

import pickle
import time
from dataclasses import replace

import pytest

from pyflink_on_spark._compat.errors import JobTranslationError
from pyflink_on_spark._connectors.kafka import sink as sink_module
from pyflink_on_spark._connectors.kafka.sink import Transactions
from pyflink_on_spark.common import SimpleStringSchema, Types, WatermarkStrategy
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors import DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.kafka import (
    FlinkKafkaProducer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    Semantic,
)
from pyflink_on_spark.testing import local_engine
from tests.connectors.kafka.jobs import reading, writing
from tests.connectors.reading import context_of

EXACTLY_ONCE = DeliveryGuarantee.EXACTLY_ONCE

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(params=[True, False], ids=["checkpoints", "one run"])
def env(request):
    with local_engine(checkpoint_each_turn=True):
        environment = StreamExecutionEnvironment.get_execution_environment()
        environment.set_parallelism(1)
        if request.param:
            environment.enable_checkpointing(10)
        yield environment


def producer(kafka, topic, **properties):
    given = {"bootstrap.servers": kafka.servers, **properties}
    return FlinkKafkaProducer(topic, SimpleStringSchema(), given, semantic=Semantic.EXACTLY_ONCE)


def stream(env, *texts):
    return env.from_collection(list(texts), Types.STRING())


def context(job="", attempt=0, checkpointed=True, restored=None):
    made = context_of(restored=restored)
    made.task = replace(made.task, job_id=job, attempt=attempt)
    made.checkpointed = checkpointed
    return made


def prepared(sink, *texts, checkpoint=1, **of_the_job):
    """Return, as a checkpoint has it, what a new writer of a sink prepares."""
    writer = sink.writer(context(**of_the_job))
    writer.write(iter(texts))
    found = writer.prepare_checkpoint(checkpoint)
    writer.close()
    return pickle.loads(pickle.dumps(found))


class TestTheEndOfAJob:
    """The driver closes its connections to the cluster, however the job ends."""

    @pytest.fixture
    def opened(self, monkeypatch):
        made = []

        class Watched(Transactions):
            def __init__(self, *arguments):
                super().__init__(*arguments)
                self.closed = 0
                made.append(self)

            def close(self):
                super().close()
                self.closed += 1

        monkeypatch.setattr(sink_module, "Transactions", Watched)
        return made

    def test_that_has_finished(self, kafka, env, opened):
        topic = kafka.topic(1)
        stream(env, "a", "b").sink_to(writing(kafka.servers, topic, EXACTLY_ONCE))
        env.execute()
        assert kafka.values(topic) == ["a", "b"]
        assert [each.closed for each in opened] == [1] * len(opened) != []

    def test_that_was_cancelled(self, kafka, env, opened):
        source, target = kafka.topic(1), kafka.topic(1)
        kafka.write(source, ["a"])
        env.enable_checkpointing(10)
        builder = reading(kafka.servers, source)
        builder._stopping, builder._bounded = None, False
        texts = env.from_source(builder.build(), WatermarkStrategy.no_watermarks(), "texts")
        texts.sink_to(writing(kafka.servers, target, EXACTLY_ONCE))
        job = env.execute_async()
        deadline = time.monotonic() + 20
        while not kafka.values(target):
            assert time.monotonic() < deadline
        assert [each.closed for each in opened] == [0]
        job.cancel().result()
        assert [each.closed for each in opened] == [1]

    def test_told_twice(self, kafka, opened):
        sink = writing(kafka.servers, kafka.topic(1), EXACTLY_ONCE)._sink
        sink.commit(prepared(sink, "a"))
        sink.job_ended()
        sink.job_ended()
        assert [each.closed for each in opened] == [1]


class TestSinksOfOneJob:
    def test_one_sink_for_two_streams(self, kafka, env):
        sink = writing(kafka.servers, kafka.topic(1), EXACTLY_ONCE)
        stream(env, "a").sink_to(sink, name="A")
        stream(env, "b").sink_to(sink, name="B")
        with pytest.raises(
            JobTranslationError, match="cannot both have the Kafka transactional id"
        ) as caught:
            env.execute()
        for word in ("'A' (", "'B' (", kafka.servers, "set_transactional_id_prefix", __file__):
            assert word in str(caught.value)

    def test_one_prefix_at_one_of_several_addresses(self, kafka, env):
        topic = kafka.topic(1)
        stream(env, "a").sink_to(writing(kafka.servers, topic, EXACTLY_ONCE))
        stream(env, "b").sink_to(writing(f"other:9092, {kafka.servers}", topic, EXACTLY_ONCE))
        with pytest.raises(JobTranslationError, match=f"at {kafka.servers} "):
            env.execute()

    @pytest.mark.parametrize("guarantee", [DeliveryGuarantee.NONE, DeliveryGuarantee.AT_LEAST_ONCE])
    def test_without_transactions_one_sink_takes_two_streams(self, kafka, env, guarantee):
        topic = kafka.topic(1)
        sink = writing(kafka.servers, topic, guarantee)
        stream(env, "a").sink_to(sink)
        stream(env, "b").sink_to(sink)
        env.execute()
        assert sorted(kafka.values(topic)) == ["a", "b"]

    def test_two_producers_of_one_topic(self, kafka, env):
        topic = kafka.topic(1)
        stream(env, "a1", "a2").add_sink(producer(kafka, topic))
        stream(env, "b1", "b2").add_sink(producer(kafka, topic)).uid("mine")
        env.execute("two")
        assert sorted(kafka.values(topic)) == ["a1", "a2", "b1", "b2"]
        names = sorted(kafka.broker.transactions)
        assert len(names) == 2
        assert names[1] == f"pyflink-on-spark-{topic}-two-mine"

    def test_one_producer_for_two_streams(self, kafka, env):
        topic = kafka.topic(1)
        one = producer(kafka, topic)
        stream(env, "a").add_sink(one)
        stream(env, "b").add_sink(one)
        env.execute()
        assert sorted(kafka.values(topic)) == ["a", "b"]

    def test_two_producers_with_one_name_of_their_own(self, kafka, env):
        topic = kafka.topic(1)
        for text in "ab":
            stream(env, text).add_sink(producer(kafka, topic, **{"transactional.id": "x"}))
        with pytest.raises(JobTranslationError, match="transactional id 'x'"):
            env.execute()


def test_two_jobs_with_producers_of_one_topic(kafka):
    topic = kafka.topic(1)
    one, two = (producer(kafka, topic)._sink.in_place(job, "1:Unnamed") for job in ("one", "two"))
    for number in (1, 2):
        one.commit(prepared(one, f"a{number}", checkpoint=number, job="1" * 32))
        two.commit(prepared(two, f"b{number}", checkpoint=number, job="2" * 32))
    assert sorted(kafka.values(topic)) == ["a1", "a2", "b1", "b2"]


class TestRuns:
    @pytest.mark.parametrize("written", [True, False])
    def test_a_run_with_another_name_goes_on_with_what_was_prepared(self, kafka, written):
        """The name of the run that prepared it says under which transaction to look."""
        topic = kafka.topic(1)
        before = producer(kafka, topic)._sink.in_place("monday", "1:Unnamed")
        saved = prepared(before, "a", job="1" * 32)
        if written:
            before.commit(saved)
        after = producer(kafka, topic)._sink.in_place("tuesday", "uid")
        after.take_over()
        after.commit_again(saved)
        after.commit(prepared(after, "b", checkpoint=2, job="2" * 32))
        assert kafka.values(topic) == ["a", "b"]

    def test_who_takes_over_shuts_out_who_was_there_even_with_nothing_to_commit(self, kafka):
        topic = kafka.topic(1)
        old = writing(kafka.servers, topic, EXACTLY_ONCE)._sink
        old.commit(prepared(old, "a"))
        writing(kafka.servers, topic, EXACTLY_ONCE)._sink.take_over()
        with pytest.raises(RuntimeError, match="another job writes to Kafka"):
            old.commit(prepared(old, "b", checkpoint=2))
        assert kafka.values(topic) == ["a"]

    def test_nothing_is_taken_over_without_transactions(self):
        for guarantee in (DeliveryGuarantee.NONE, DeliveryGuarantee.AT_LEAST_ONCE):
            writing("nobody:1", "t", guarantee)._sink.take_over()

    def test_without_checkpoints_the_next_attempt_leaves_out_what_is_written(self, kafka):
        """Another sink's commit may have failed: then all of the job runs again."""
        topic = kafka.topic(1)
        sink = writing(kafka.servers, topic, EXACTLY_ONCE)._sink
        for attempt in range(3):
            sink.commit(prepared(sink, "a", "b", job="1" * 32, attempt=attempt, checkpointed=False))
        sink.commit(prepared(sink, "c", job="2" * 32, checkpointed=False))
        assert kafka.values(topic) == ["a", "b", "c"]

    def test_with_checkpoints_each_attempt_counts_for_itself(self, kafka):
        """It may have begun with an older one than the last that was written."""
        topic = kafka.topic(1)
        sink = writing(kafka.servers, topic, EXACTLY_ONCE)._sink
        sink.commit(prepared(sink, "a", checkpoint=5, job="1" * 32))
        sink.commit(prepared(sink, "b", checkpoint=4, job="1" * 32, attempt=1))
        assert kafka.values(topic) == ["a", "b"]

    def test_records_of_many_topics_in_another_order_are_the_same(self, kafka):
        kafka.broker.create("of-a")
        kafka.broker.create("of-b")
        schema = KafkaRecordSerializationSchema.builder().set_topic_selector(str)
        schema.set_value_serialization_schema(SimpleStringSchema())
        builder = KafkaSink.builder().set_bootstrap_servers(kafka.servers)
        builder.set_delivery_guarantee(EXACTLY_ONCE).set_transactional_id_prefix("x")
        sink = builder.set_record_serializer(schema.build()).build()._sink
        one, two, three = ("of-a", "1"), ("of-b", "2"), ("of-b", "3")
        for subtasks in ([three], [one, two]), ([two, one], [three]):
            batches = []
            for records in subtasks:
                batches += prepared(sink, *records, checkpointed=False)
            sink.commit(batches)
        assert kafka.values("of-a") == ["1"]
        assert sorted(kafka.values("of-b")) == ["2", "3"]


def test_an_interval_without_records_is_no_transaction(kafka):
    topic = kafka.topic(1)
    sink = writing(kafka.servers, topic, EXACTLY_ONCE)._sink
    assert prepared(sink) == []
    sink.commit([])
    assert kafka.broker.transactions == {}
