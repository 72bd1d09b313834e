from __future__ import annotations

import pytest

from pyflink_on_spark.common import Types, WatermarkStrategy
from pyflink_on_spark.datastream.connectors.kafka import (
    FlinkKafkaConsumer,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
)
from pyflink_on_spark.datastream.formats.json import JsonRowDeserializationSchema
from tests.connectors.kafka.jobs import elements, reading

EARLIEST, LATEST = KafkaOffsetsInitializer.earliest(), KafkaOffsetsInitializer.latest()


@pytest.mark.parametrize("parallelism", [1, 3])
def test_reads_each_record_once_and_a_partition_in_order(any_kafka, env, parallelism):
    topic = any_kafka.topic(4)
    for partition in range(3):
        any_kafka.write(topic, [f"{partition}:{n:03}" for n in range(500)], partition)
    env.set_parallelism(parallelism)
    found = elements(env, reading(any_kafka.servers, topic))
    assert sorted(found) == [f"{p}:{n:03}" for p in range(3) for n in range(500)]
    for partition in range(3):
        own = [value for value in found if value.startswith(f"{partition}:")]
        assert own == sorted(own)


def test_nothing_to_read(kafka, env):
    assert elements(env, reading(kafka.servers, kafka.topic())) == []


@pytest.fixture
def ten(kafka):
    """A topic with one partition and ten records, each in a batch of its own."""
    topic = kafka.topic(1)
    for n in range(10):
        kafka.write(topic, [str(n)], 0, 1_000_000 + n)
    kafka.commit("half", topic, {0: 5})
    return topic


def at(topic, offset, *reset):
    return KafkaOffsetsInitializer.offsets({KafkaTopicPartition(topic, 0): offset}, *reset)


def committed(reset):
    return KafkaOffsetsInitializer.committed_offsets(reset)


class TestWhereItBegins:
    @pytest.mark.parametrize(
        ("group", "starting", "first"),
        [
            ("half", EARLIEST, 0),
            ("half", LATEST, 10),
            ("half", KafkaOffsetsInitializer.committed_offsets(), 5),
            ("new", committed(KafkaOffsetResetStrategy.EARLIEST), 0),
            ("new", committed(KafkaOffsetResetStrategy.LATEST), 10),
            ("new", KafkaOffsetsInitializer.timestamp(1_000_003), 3),
            ("new", KafkaOffsetsInitializer.timestamp(2_000_000), 10),
        ],
    )
    def test_each_kind(self, kafka, env, ten, group, starting, first):
        builder = reading(kafka.servers, ten).set_group_id(group).set_starting_offsets(starting)
        assert elements(env, builder) == [str(n) for n in range(first, 10)]

    def test_given_offsets(self, kafka, env, ten):
        other = kafka.topic(1)
        kafka.write(other, ["other"])
        builder = reading(kafka.servers, ten, other).set_starting_offsets(at(ten, 8))
        assert sorted(elements(env, builder)) == ["8", "9", "other"]

    def test_nothing_committed(self, kafka, env, ten):
        starting = committed(KafkaOffsetResetStrategy.NONE)
        builder = reading(kafka.servers, ten).set_group_id("new").set_starting_offsets(starting)
        with pytest.raises(Exception, match="no offset to begin with") as caught:
            elements(env, builder)
        assert f"{ten}-0" in str(caught.value)
        assert "'new'" in str(caught.value)

    def test_an_offset_that_is_gone(self, kafka, env, ten):
        kafka.broker.logs[ten, 0].drop_before(4)
        starting = at(ten, 2)
        found = elements(env, reading(kafka.servers, ten).set_starting_offsets(starting))
        assert found == ["4", "5", "6", "7", "8", "9"]
        starting = at(ten, 2, KafkaOffsetResetStrategy.NONE)
        with pytest.raises(Exception, match=f"the offset 2 of {ten}-0 is not there"):
            elements(env, reading(kafka.servers, ten).set_starting_offsets(starting))


class TestWhereItEnds:
    @pytest.mark.parametrize(
        ("stopping", "last"),
        [
            (LATEST, 9),
            (KafkaOffsetsInitializer.committed_offsets(), 4),
            (KafkaOffsetsInitializer.timestamp(1_000_003), 2),
        ],
    )
    def test_each_kind(self, kafka, env, ten, stopping, last):
        builder = reading(kafka.servers, ten).set_group_id("half").set_bounded(stopping)
        assert elements(env, builder) == [str(n) for n in range(last + 1)]

    def test_given_offsets(self, kafka, env, ten):
        assert elements(env, reading(kafka.servers, ten).set_bounded(at(ten, 2))) == ["0", "1"]

    def test_behind_a_transaction(self, kafka, env):
        """The last offset is a control record's, which nobody gets to see."""
        import confluent_kafka

        topic = kafka.topic(1)
        settings = {"bootstrap.servers": kafka.servers, "transactional.id": "x"}
        producer = confluent_kafka.Producer(settings)
        producer.init_transactions(10)
        producer.begin_transaction()
        producer.produce(topic, "a")
        producer.commit_transaction(10)
        assert kafka.broker.logs[topic, 0].end == 2
        assert elements(env, reading(kafka.servers, topic)) == ["a"]

    def test_impossible_ends(self, kafka, env, ten):
        with pytest.raises(ValueError, match="Invalid stopping offset"):
            elements(env, reading(kafka.servers, ten).set_bounded(EARLIEST))
        stopping = KafkaOffsetsInitializer.committed_offsets()
        with pytest.raises(ValueError, match="the group 'new' has committed none"):
            elements(env, reading(kafka.servers, ten).set_group_id("new").set_bounded(stopping))


class TestWhatIsRead:
    def test_a_pattern_matches_whole_names(self, kafka, env):
        for name in ("sales-eu", "sales-us", "all-sales-eu", "__sales-x"):
            kafka.broker.create(name)
            kafka.write(name, [name])
        builder = reading(kafka.servers).set_topic_pattern("sales-.*")
        assert sorted(elements(env, builder)) == ["sales-eu", "sales-us"]

    def test_partitions(self, kafka, env):
        topic = kafka.topic(3)
        for partition in range(3):
            kafka.write(topic, [str(partition)], partition)
        chosen = {KafkaTopicPartition(topic, 0), KafkaTopicPartition(topic, 2)}
        builder = reading(kafka.servers).set_partitions(chosen)
        assert sorted(elements(env, builder)) == ["0", "2"]

    def test_unknown_ones(self, kafka, env):
        with pytest.raises(LookupError, match="there is no Kafka topic 'nowhere'"):
            elements(env, reading(kafka.servers, "nowhere"))
        topic = kafka.topic(1)
        builder = reading(kafka.servers).set_partitions({KafkaTopicPartition(topic, 7)})
        with pytest.raises(LookupError, match="has no partition 7"):
            elements(env, builder)

    def test_rows(self, kafka, env):
        rows = Types.ROW_NAMED(["name", "count"], [Types.STRING(), Types.INT()])
        schema = JsonRowDeserializationSchema.builder().type_info(rows).build()
        topic = kafka.topic(1)
        kafka.write(topic, ['{"name": "a", "count": 1}'])
        (row,) = elements(env, reading(kafka.servers, topic, schema=schema))
        assert (row.name, row.count) == ("a", 1)

    def test_a_corrupt_record(self, kafka, env):
        rows = Types.ROW_NAMED(["count"], [Types.INT()])
        schema = JsonRowDeserializationSchema.builder().type_info(rows).build()
        topic = kafka.topic(1)
        kafka.write(topic, ['{"count": 1}', "{"])
        with pytest.raises(Exception, match=f"record of {topic}-0 at offset 1 cannot be"):
            elements(env, reading(kafka.servers, topic, schema=schema))

    def test_a_record_without_a_value(self, kafka, env):
        topic = kafka.topic(1)
        kafka.write(topic, [None])
        with pytest.raises(Exception, match=f"record of {topic}-0 at offset 0 .* has no value"):
            elements(env, reading(kafka.servers, topic))


def test_event_time_is_that_of_the_records(kafka, env):
    topic = kafka.topic(2)
    for partition in range(2):
        kafka.write(topic, ["x"] * 10, partition, 1_000 * (partition + 1))
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    stream = env.from_source(reading(kafka.servers, topic).build(), strategy, "kafka")

    from pyflink_on_spark.datastream import ProcessFunction

    class Times(ProcessFunction):
        def process_element(self, value, ctx):
            yield ctx.timestamp()

    with stream.process(Times(), Types.LONG()).execute_and_collect() as found:
        assert sorted(found) == [*range(1_000, 1_010), *range(2_000, 2_010)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
class TestFlinkKafkaConsumer:
    def consumer(self, kafka, topic, group="half", **more):
        properties = {"bootstrap.servers": kafka.servers, "group.id": group, **more}
        from pyflink_on_spark.common import SimpleStringSchema

        return FlinkKafkaConsumer(topic, SimpleStringSchema(), properties)

    def first(self, env, consumer, count):
        with env.add_source(consumer).execute_and_collect() as found:
            return [next(found) for _ in range(count)]

    @pytest.mark.parametrize(
        ("start", "first"),
        [
            (lambda consumer: consumer, 5),
            (lambda consumer: consumer.set_start_from_group_offsets(), 5),
            (lambda consumer: consumer.set_start_from_earliest(), 0),
            (lambda consumer: consumer.set_start_from_timestamp(1_000_008), 8),
        ],
    )
    def test_where_it_begins(self, kafka, env, ten, start, first):
        found = self.first(env, start(self.consumer(kafka, ten)), 10 - first)
        assert found == [str(n) for n in range(first, 10)]

    def test_a_group_without_offsets(self, kafka, env, ten):
        more = {"auto.offset.reset": "earliest"}
        assert self.first(env, self.consumer(kafka, [ten], "new", **more), 2) == ["0", "1"]

    def test_commits_by_itself_without_checkpoints(self, kafka, env, ten):
        consumer = self.consumer(kafka, ten).set_start_from_earliest()
        assert len(self.first(env, consumer, 10)) == 10
        assert kafka.committed("half", ten, 1) == {0: 10}
