"""What goes wrong is named; once it is put right, a job that goes on loses nothing."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time

import pytest

from pyflink_on_spark._runtime.bundle import Bundle
from pyflink_on_spark._runtime.jdbc.database import JdbcError
from pyflink_on_spark._runtime.jdbc.options import JdbcConnection, JdbcExecution, JdbcStatement
from pyflink_on_spark._runtime.jdbc.sink import JdbcWriter
from pyflink_on_spark._runtime.jdbc.sqlite import Sqlite
from pyflink_on_spark._runtime.kinesis.client import KinesisError
from pyflink_on_spark._runtime.kinesis.options import (
    Batching,
    KinesisReading,
    PartitionKeys,
    StreamsWriting,
)
from pyflink_on_spark._runtime.kinesis.sink import StreamsWriter
from pyflink_on_spark._runtime.kinesis.source import StreamsSource
from pyflink_on_spark._runtime.rabbitmq.broker import RabbitMqError
from pyflink_on_spark._runtime.rabbitmq.options import RMQConnection, RMQReading, RMQWriting
from pyflink_on_spark._runtime.rabbitmq.sink import QueueWriter
from pyflink_on_spark._runtime.rabbitmq.source import QueueSource
from pyflink_on_spark.common import Row, SimpleStringSchema, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors import DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.file_system import FileSource
from pyflink_on_spark.datastream.connectors.kafka import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
)
from pyflink_on_spark.datastream.formats.csv import CsvReaderFormat, CsvSchema
from pyflink_on_spark.table import DataTypes
from pyflink_on_spark.testing import local_engine as engine
from tests.connectors.jdbc.jobs import PAIR
from tests.connectors.jdbc.mariadb_server import mariadb
from tests.connectors.jdbc.postgresql_server import postgresql
from tests.connectors.kafka.jobs import elements, reading, writing
from tests.connectors.kinesis.moto_server import moto
from tests.connectors.rabbitmq.proxy import Proxy
from tests.connectors.rabbitmq.rabbitmq_server import rabbitmq
from tests.connectors.reading import checkpoint, close, context_of, readers_of
from tests.connectors.servers import free_port

SECONDS = 30


def take(readers, count):
    """Poll until there are so many elements."""
    found, until = [], time.monotonic() + SECONDS
    while len(found) < count:
        assert time.monotonic() < until, f"only {found}"
        for reader in readers:
            event = reader.poll()
            found += event.values if isinstance(event, Bundle) else []
    return found


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


SOON = {"reconnect_backoff_ms": "10", "reconnect_backoff_max_ms": "50"}
IMPATIENT = {"delivery_timeout_ms": "1500", "linger_ms": "0", "default_api_timeout_ms": "1500"}


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


@pytest.fixture(scope="module")
def broker():
    with rabbitmq() as running:
        yield running


class TestRabbitMq:
    @pytest.fixture
    def channel(self, broker):
        import pika

        parameters = pika.ConnectionParameters("127.0.0.1", broker)
        with contextlib.closing(pika.BlockingConnection(parameters)) as connection:
            channel = connection.channel()
            channel.queue_declare("mended", durable=True)
            channel.confirm_delivery()
            yield channel
            channel.queue_delete("mended")

    def connection(self, port):
        uri = f"amqp://guest:guest@127.0.0.1:{port}/%2F"
        return RMQConnection(uri, network_recovery_interval=10)

    def readers(self, port, saved=None):
        told = RMQReading(self.connection(port), "mended", True, SimpleStringSchema())
        return readers_of(QueueSource(told), 1, saved)

    def test_a_broker_that_is_gone_at_the_start_and_in_the_middle(self, broker, channel):
        import pika

        def send(text):
            channel.basic_publish("", "mended", text, pika.BasicProperties(correlation_id=text))

        send("a")
        send("b")
        nobody = free_port()
        with pytest.raises(RabbitMqError, match=f"RabbitMQ at 127.0.0.1:{nobody}: .*refused"):
            self.readers(nobody)
        proxy = Proxy(broker)
        readers = self.readers(proxy.port)
        readers[0].limit = 1
        assert take(readers, 1) == ["a"]
        saved = checkpoint(readers)
        proxy.close()
        for _ in range(10):
            assert readers[0].poll() is None
        close(readers)
        readers = self.readers(broker, saved)
        send("c")
        assert take(readers, 2) == ["b", "c"]
        close(readers)

    def test_a_broker_that_is_gone_while_messages_are_written(self, broker, channel):
        proxy = Proxy(broker)
        told = RMQWriting(self.connection(proxy.port), "mended", SimpleStringSchema())
        writer = QueueWriter(told, lambda seconds: None)
        writer.write(iter(["a"]))
        proxy.close()
        with pytest.raises(RabbitMqError, match=f"127.0.0.1:{proxy.port}: .*refused"):
            writer.write(iter(["b"]))
        writer.close()
        told = RMQWriting(self.connection(broker), "mended", SimpleStringSchema())
        writer = QueueWriter(told)
        writer.write(iter(["b"]))
        writer.close()
        assert [channel.basic_get("mended", auto_ack=True)[2] for _ in "ab"] == [b"a", b"b"]


class Rows:
    """A sink of a table, step by step.

    Args:
        url: the database's.
        user: who connects, if anyone.
        pause: waits between two tries.
    """

    ALL = (Row(1, "a"), Row(2, "b"))

    def __init__(self, url, user=None, pause=lambda seconds: None):
        connection = JdbcConnection(url, user_name=user)
        told = JdbcStatement("INSERT INTO t VALUES (?, ?)", PAIR, connection, JdbcExecution())
        self.writer = JdbcWriter(told, lambda: 0, pause)

    def write(self, *rows):
        self.writer.write(iter(rows or self.ALL))
        self.writer.prepare_checkpoint(1)


class TestJdbc:
    TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR(9))"

    def mends_a_missing_table(self, url, user, run, error):
        made = Rows(url, user, lambda seconds: pytest.fail("tried again"))
        with pytest.raises(JdbcError, match=error) as caught:
            made.write()
        made.writer.close()
        assert "INSERT INTO t" in str(caught.value)
        run(self.TABLE)
        made = Rows(url, user)
        made.write()
        made.writer.close()
        assert sorted(run("SELECT * FROM t")) == [(1, "a"), (2, "b")]

    def test_a_table_that_is_not_there(self, tmp_path):
        file = tmp_path / "test.db"

        def run(sql):
            with contextlib.closing(sqlite3.connect(file)) as connection, connection:
                return connection.execute(sql).fetchall()

        self.mends_a_missing_table(f"jdbc:sqlite:{file}", None, run, "no such table: t")

    def test_a_table_that_is_not_there_in_postgresql_and_a_server_that_goes_away(self):
        with postgresql() as server, server.connect() as connection:

            def run(sql):
                found = connection.execute(sql)
                return found.fetchall() if found.description else []

            self.mends_a_missing_table(server.url, "owner", run, 'relation "t" does not exist')
            self.mends_a_lost_server(server.port, server.url, run)

    def mends_a_lost_server(self, port, url, run):
        proxy = Proxy(port)
        lost = Rows(url.replace(str(port), str(proxy.port)), "owner")
        lost.write(Row(3, "c"))
        proxy.close()
        place = f"jdbc:postgresql://127.0.0.1:{proxy.port}/postgres failed 4 times"
        with pytest.raises(JdbcError, match=place):
            lost.write(Row(4, "d"))
        lost.writer.close()
        again = Rows(url, "owner")
        again.write(Row(4, "d"))
        again.writer.close()
        assert [row[0] for row in run("SELECT * FROM t ORDER BY id")] == [1, 2, 3, 4]

    def test_a_table_that_is_not_there_in_mysql(self):
        with mariadb() as server, server.connect() as connection, connection.cursor() as cursor:

            def run(sql):
                cursor.execute(sql)
                return list(cursor.fetchall())

            run("CREATE DATABASE IF NOT EXISTS test")
            run("USE test")
            run("DROP TABLE IF EXISTS t")
            self.mends_a_missing_table(server.url, "root", run, r"test\.t' doesn't exist")

    def test_a_disk_that_is_full(self, tmp_path, monkeypatch):
        file = tmp_path / "test.db"
        with contextlib.closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
        many = [Row(number, "x" * 1000) for number in range(100)]
        open_file = Sqlite.open

        def small(self):
            connection = open_file(self)
            connection.execute("PRAGMA max_page_count = 10")
            return connection

        monkeypatch.setattr(Sqlite, "open", small)
        made = Rows(f"jdbc:sqlite:{file}")
        with pytest.raises(JdbcError, match=f"jdbc:sqlite:{file}.* database or disk is full"):
            made.write(*many)
        made.writer.close()
        monkeypatch.undo()
        made = Rows(f"jdbc:sqlite:{file}")
        made.write(*many)
        made.writer.close()
        with contextlib.closing(sqlite3.connect(file)) as connection:
            assert connection.execute("SELECT count(*) FROM t").fetchone() == (100,)


@pytest.fixture(scope="module")
def aws():
    with moto() as running:
        yield running


class TestKinesis:
    @pytest.fixture
    def stream(self, aws, monkeypatch):
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        kinesis = aws.client("kinesis")
        kinesis.create_stream(StreamName="mended", ShardCount=1)
        kinesis.get_waiter("stream_exists").wait(StreamName="mended")
        yield kinesis
        kinesis.delete_stream(StreamName="mended")

    def properties(self, aws, port):
        more = {"aws.endpoint": f"http://127.0.0.1:{port}", "flink.stream.initpos": "TRIM_HORIZON"}
        return {**aws.properties, **more, "flink.shard.getrecords.intervalmillis": "1"}

    def source(self, aws, port):
        told = KinesisReading(("mended",), SimpleStringSchema(), self.properties(aws, port))
        return StreamsSource(told)

    def test_an_endpoint_that_is_gone_at_the_start_and_in_the_middle(self, aws, stream):
        def send(text):
            stream.put_record(StreamName="mended", Data=text.encode(), PartitionKey="any")

        send("a")
        nobody, port = free_port(), int(aws.endpoint.rpartition(":")[2])
        with pytest.raises(KinesisError, match=rf"(?s)mended.*127.0.0.1:{nobody}"):
            readers_of(self.source(aws, nobody), 1)
        proxy = Proxy(port)
        readers = readers_of(self.source(aws, proxy.port), 1)
        assert take(readers, 1) == ["a"]
        saved = checkpoint(readers)
        send("b")
        proxy.close()
        with pytest.raises(KinesisError, match=r"stream 'mended', shard shardId-0+: .*127\.0\.0"):
            take(readers, 1)
        close(readers)
        readers = readers_of(self.source(aws, port), 1, saved)
        assert take(readers, 1) == ["b"]
        close(readers)

    def test_an_endpoint_that_is_gone_while_records_are_written(self, aws, stream):
        def writer(port):
            told = StreamsWriting(
                "mended",
                SimpleStringSchema(),
                PartitionKeys.RANDOM,
                False,
                Batching(),
                self.properties(aws, port),
            )
            return StreamsWriter(told, context_of(), lambda seconds: None)

        port = int(aws.endpoint.rpartition(":")[2])
        proxy = Proxy(port)
        lost = writer(proxy.port)
        lost.write(iter(["a"]))
        lost.prepare_checkpoint(1)
        proxy.close()
        lost.write(iter(["b"]))
        with pytest.raises(KinesisError, match=rf"mended: .*127.0.0.1:{proxy.port}"):
            lost.prepare_checkpoint(2)
        lost.close()
        again = writer(port)
        again.write(iter(["b"]))
        again.prepare_checkpoint(2)
        again.close()
        readers = readers_of(self.source(aws, port), 1)
        assert take(readers, 2) == ["a", "b"]
        close(readers)


class TestFiles:
    def test_a_row_of_csv_without_all_its_columns(self, tmp_path):
        file = tmp_path / "rows.csv"
        whole = "".join(f"{number},x\n" for number in range(10_000)) + "10000,y\n"
        file.write_text(whole.replace("10000,y", "10000"))
        schema = CsvSchema.builder().add_number_column("n", DataTypes.INT())
        form = CsvReaderFormat.for_schema(schema.add_string_column("s").build())
        source = FileSource.for_record_stream_format(form, str(file)).build()._source
        before, saved = self.until_it_fails(
            source, rf"{file}, line 10001: Row length mismatch\. 2 fields expected but was 1"
        )
        file.write_text(whole)
        after = self.rest(source, saved)
        assert [row["n"] for row in before + after] == list(range(10_001))

    def test_an_avro_file_that_is_cut_off(self, tmp_path):
        fastavro = pytest.importorskip("fastavro", reason="Avro files need fastavro")
        file = tmp_path / "rows.avro"
        schema = {"type": "record", "name": "r", "fields": [{"name": "n", "type": "int"}]}
        with file.open("wb") as output:
            rows = ({"n": number} for number in range(10_000))
            fastavro.writer(output, schema, rows, sync_interval=4_000)
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) * 3 // 4])
        from pyflink_on_spark.datastream.formats.avro import AvroInputFormat, AvroSchema

        text = '{"type": "record", "name": "r", "fields": [{"name": "n", "type": "int"}]}'
        made = AvroInputFormat(str(file), AvroSchema.parse_string(text))
        source = made._source
        before, saved = self.until_it_fails(source, f"cannot read {file}")
        file.write_bytes(whole)
        after = self.rest(source, saved)
        assert [row["n"] for row in before + after] == list(range(10_000))

    def until_it_fails(self, source, error):
        (reader,) = readers_of(source, 1)
        found = []
        with pytest.raises(ValueError, match=error):
            self.read_all(reader, found)
        saved = checkpoint([reader])
        close([reader])
        return found, saved

    def rest(self, source, saved):
        (reader,) = readers_of(source, 1, saved)
        found = []
        self.read_all(reader, found)
        close([reader])
        return found

    def read_all(self, reader, found):
        while not reader.ended:
            bundle = reader.poll()
            found += bundle.values if bundle else []
