"""The secrets in a connector's settings are never shown."""

from __future__ import annotations

import gc
import json
import logging
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from pyflink_on_spark._compat.unsupported import UnsupportedFlinkFeature
from pyflink_on_spark._connectors.jdbc.databases import without_secrets
from pyflink_on_spark._connectors.kafka.config import client_properties
from pyflink_on_spark._connectors.kinesis.client import make_client
from pyflink_on_spark._graph.physical_graph import execution_plan_json
from pyflink_on_spark.common import Row, SimpleStringSchema, Types, WatermarkStrategy
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors import DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.jdbc import (
    JdbcConnectionOptions,
    JdbcExecutionOptions,
    JdbcSink,
)
from pyflink_on_spark.datastream.connectors.kafka import FlinkKafkaConsumer, FlinkKafkaProducer
from pyflink_on_spark.datastream.connectors.kinesis import (
    FlinkKinesisConsumer,
    KinesisFirehoseSink,
    KinesisStreamsSink,
    PartitionKeyGenerator,
)
from pyflink_on_spark.datastream.connectors.rabbitmq import (
    RMQConnectionConfig,
    RMQSink,
    RMQSource,
)
from pyflink_on_spark.extensions import jdbc_exactly_once_sink
from pyflink_on_spark.tools.plan.command import text_of
from pyflink_on_spark.tools.plan.diagram import diagram_of, svg_of
from pyflink_on_spark.tools.plan.recording import recording
from tests.connectors.kafka.jobs import reading, writing
from tests.connectors.kinesis.moto_server import moto
from tests.connectors.servers import free_port

SECRET = "s3cr3t-W0rd"
ROWS = Types.ROW([Types.INT()])
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def kafka_properties() -> dict[str, str]:
    return {
        "bootstrap.servers": f"127.0.0.1:{free_port()}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{PLAIN} required username="u" password="{SECRET}";',
        "ssl.key.password": SECRET,
        "ssl.truststore.password": SECRET,
        "my.own.password": SECRET,
        "default.api.timeout.ms": "500",
        "delivery.timeout.ms": "500",
        "linger.ms": "0",
        "debug": "all",
    }


def kafka_source() -> Any:
    return reading("there", "t").set_properties(kafka_properties()).build()


def kafka_sink(guarantee: DeliveryGuarantee) -> Callable[[], Any]:
    def make() -> Any:
        properties = {k.replace(".", "_"): v for k, v in kafka_properties().items()}
        return writing("there", "t", guarantee, **properties)

    return make


def kafka_consumer() -> Any:
    with warnings.catch_warnings(action="ignore"):
        return FlinkKafkaConsumer("t", SimpleStringSchema(), kafka_properties())


def kafka_producer() -> Any:
    with warnings.catch_warnings(action="ignore"):
        return FlinkKafkaProducer("t", SimpleStringSchema(), kafka_properties())


def jdbc(url: str, make: Callable[..., Any] = JdbcSink.sink, **more: str) -> Callable[[], Any]:
    def sink() -> Any:
        builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
        builder.with_url(url.format(port=free_port(), secret=SECRET))
        if more:
            builder.with_user_name("me").with_password(SECRET)
        execution = JdbcExecutionOptions.builder().with_max_retries(0).build()
        return make("INSERT INTO t VALUES (?)", ROWS, builder.build(), execution)

    return sink


def rabbitmq(uri: bool) -> RMQConnectionConfig:
    port, builder = free_port(), RMQConnectionConfig.Builder()
    if uri:
        return builder.set_uri(f"amqp://me:{SECRET}@127.0.0.1:{port}/%2F").build()
    builder.set_host("127.0.0.1").set_port(port).set_virtual_host("/")
    return builder.set_user_name("me").set_password(SECRET).build()


def rabbitmq_source() -> Any:
    return RMQSource(rabbitmq(uri=True), "q", False, SimpleStringSchema())


def rabbitmq_sink() -> Any:
    return RMQSink(rabbitmq(uri=False), "q", SimpleStringSchema())


def kinesis_properties() -> dict[str, str]:
    return {
        "aws.region": "eu-central-1",
        "aws.endpoint": f"http://127.0.0.1:{free_port()}",
        "aws.credentials.provider.basic.accesskeyid": "me",
        "aws.credentials.provider.basic.secretkey": SECRET,
        "aws.credentials.provider.role.externalId": SECRET,
    }


def kinesis_source() -> Any:
    return FlinkKinesisConsumer("s", SimpleStringSchema(), kinesis_properties())


def kinesis_sink() -> Any:
    builder = KinesisStreamsSink.builder().set_kinesis_client_properties(kinesis_properties())
    builder.set_serialization_schema(SimpleStringSchema()).set_stream_name("s")
    return builder.set_partition_key_generator(PartitionKeyGenerator.random()).build()


def firehose_sink() -> Any:
    builder = KinesisFirehoseSink.builder().set_firehose_client_properties(kinesis_properties())
    builder.set_serialization_schema(SimpleStringSchema())
    return builder.set_delivery_stream_name("s").build()


@dataclass(frozen=True)
class Case:
    """A connector that has a secret, and whose server does not answer.

    Args:
        make: makes the source or sink.
        package: what it needs.
        attach: the method of an environment, or of a stream, that takes it.
    """

    make: Callable[[], Any]
    package: str
    attach: str

    def job(self) -> Any:
        """Return an environment with a job."""
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        made = self.make()
        if self.attach == "from_source":
            env.from_source(made, WatermarkStrategy.no_watermarks(), "source").print()
        elif self.attach == "add_source":
            env.add_source(made).print()
        elif self.package in {"psycopg", "pymysql", "sqlite3"}:
            getattr(env.from_collection([Row(1)], ROWS), self.attach)(made)
        else:
            getattr(env.from_collection(["a"], Types.STRING()), self.attach)(made)
        return env


POSTGRESQL, MYSQL = "jdbc:postgresql://127.0.0.1:{port}/shop", "jdbc:mysql://127.0.0.1:{port}/shop"
CASES = {
    "kafka source": Case(kafka_source, "confluent_kafka", "from_source"),
    "kafka consumer": Case(kafka_consumer, "confluent_kafka", "add_source"),
    "kafka producer": Case(kafka_producer, "confluent_kafka", "add_sink"),
    **{
        f"kafka sink, {guarantee.name}": Case(kafka_sink(guarantee), "confluent_kafka", "sink_to")
        for guarantee in DeliveryGuarantee
    },
    "postgresql": Case(jdbc(POSTGRESQL, password=SECRET), "psycopg", "add_sink"),
    "postgresql, url": Case(jdbc(POSTGRESQL + "?user=me&password={secret}"), "psycopg", "add_sink"),
    "postgresql, exactly once": Case(
        jdbc(POSTGRESQL, jdbc_exactly_once_sink, password=SECRET), "psycopg", "sink_to"
    ),
    "mysql": Case(jdbc(MYSQL, password=SECRET), "pymysql", "add_sink"),
    "mysql, url": Case(jdbc(MYSQL + "?user=me&password={secret}"), "pymysql", "add_sink"),
    "rabbitmq source": Case(rabbitmq_source, "pika", "add_source"),
    "rabbitmq sink": Case(rabbitmq_sink, "pika", "add_sink"),
    "kinesis source": Case(kinesis_source, "boto3", "add_source"),
    "kinesis sink": Case(kinesis_sink, "boto3", "sink_to"),
    "firehose sink": Case(firehose_sink, "boto3", "sink_to"),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request):
    pytest.importorskip(request.param.package)
    return request.param


def own_objects(start: Any) -> list[Any]:
    """Return all objects of this package's classes that an object leads to."""
    found, seen, left = [], set(), [start]
    while left:
        thing = left.pop()
        if id(thing) in seen or isinstance(thing, type | Callable | str | bytes):
            continue
        seen.add(id(thing))
        if type(thing).__module__.startswith("pyflink_on_spark"):
            found.append(thing)
        elif not isinstance(thing, dict | list | tuple | set | frozenset):
            continue
        left.extend(gc.get_referents(thing))
    return found


def test_it_is_in_no_representation(case):
    made = case.make()
    assert SECRET not in repr(made) + str(made)
    runtime = made._source if "source" in case.attach else made._sink
    objects = own_objects([made, runtime])
    assert len(objects) > 2
    for thing in objects:
        assert SECRET not in f"{thing!r}{thing}", type(thing)


def test_it_is_in_no_plan(case):
    env = case.job()
    assert SECRET not in env.get_execution_plan()
    with recording() as engine:
        env.execute("job")
    (job,) = engine.jobs
    diagram = diagram_of(job)
    shown = [execution_plan_json(job.graph), text_of(diagram), svg_of([diagram])]
    assert json.loads(shown[0])["nodes"]
    assert SECRET not in "".join(shown)


@pytest.fixture
def everything_is_logged(caplog):
    for name in ("", "pika", "boto3", "urllib3", "psycopg"):
        caplog.set_level(logging.DEBUG, name)


@pytest.mark.slow
@pytest.mark.usefixtures("everything_is_logged")
def test_it_is_in_no_error_and_in_no_log(case, local_engine, caplog, capfd, monkeypatch):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    env = case.job()
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each has its own
        env.execute()
    text = "".join(traceback.format_exception(caught.value))
    assert "127.0.0.1" in text
    shown = capfd.readouterr()
    assert SECRET not in text + caplog.text + shown.out + shown.err


@pytest.mark.slow
@pytest.mark.usefixtures("everything_is_logged")
def test_keys_of_a_role_are_in_no_log(caplog, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "me")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with moto() as aws:
        role = "aws.credentials.provider.role"
        properties = {
            "aws.region": "eu-central-1",
            "aws.endpoint": aws.endpoint,
            "aws.credentials.provider": "ASSUME_ROLE",
            f"{role}.arn": "arn:aws:iam::123456789012:role/any",
            f"{role}.externalId": "4notherS3cret",
            f"{role}.stsEndpoint": aws.endpoint,
        }
        make_client("kinesis", properties).list_streams()
    assert "/ HTTP/1.1" in caplog.text
    for secret in (SECRET, "4notherS3cret", "SecretAccessKey", "Security-Token"):
        assert secret not in caplog.text


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("jdbc:postgresql://h/db?user=u&password=s3cr3t-W0rd", "jdbc:postgresql://h/db"),
        ("jdbc:postgresql://u:s3cr3t-W0rd@h:1,[::1]:2/db", "jdbc:postgresql://h:1,[::1]:2/db"),
        ("jdbc:postgresql://u:s3cr3t-W0rd/?;@h/db", "jdbc:postgresql://h/db"),
        ("jdbc:mysql://u:! @h/db?password=W0rd@s3cr3t-W0rd", "jdbc:mysql:..."),
        ("jdbc:mysql://u:x?s3cr3t-W0rd", "jdbc:mysql:..."),
        ("jdbc:sqlserver://h;user=u;password=s3cr3t-W0rd", "jdbc:sqlserver://h"),
        ("jdbc:oracle:thin:u/s3cr3t-W0rd@h:1521:x", "jdbc:oracle:..."),
        ("jdbc:sqlite:/tmp/a@b.db?password=s3cr3t-W0rd", "jdbc:sqlite:/tmp/a@b.db"),
        ("postgres://u:s3cr3t-W0rd@h/db", "postgres://h/db"),
        ("jdbc:postgresql://h/db?user=a@b&password=s3cr3t-W0rd", "jdbc:postgresql://h/db"),
        ("jdbc:mysql://u:1/s3cr3t-W0rd@h/db", "jdbc:mysql://h/db"),
        ("s3cr3t-W0rd", "..."),
    ],
)
def test_urls_are_shown_without_it(url, shown):
    assert without_secrets(url) == shown


@pytest.mark.parametrize(
    "config",
    [
        f'password="{SECRET}" username="u";',
        SECRET,
        f"{SECRET}.Module required;",
        f'org.apache.kafka.OAuthBearerLoginModule required password="{SECRET}";',
    ],
)
def test_login_modules_that_are_not_known(config):
    with pytest.raises(ValueError, match=r"sasl\.jaas\.config") as caught:
        client_properties({"sasl.jaas.config": config})
    assert SECRET not in str(caught.value)


def test_an_uri_of_rabbitmq_that_cannot_be_read(local_engine):
    pytest.importorskip("pika")
    config = RMQConnectionConfig.Builder().set_uri(f"amqp://me:{SECRET}@h:port/").build()
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection(["a"], Types.STRING()).add_sink(RMQSink(config, "q", SimpleStringSchema()))
    with pytest.raises(Exception, match="a URI of RabbitMQ is") as caught:
        env.execute()
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_way_to_get_credentials_that_is_not_known(local_engine):
    pytest.importorskip("boto3")
    properties = {**kinesis_properties(), "aws.credentials.provider": SECRET}
    env = StreamExecutionEnvironment.get_execution_environment()
    env.add_source(FlinkKinesisConsumer("s", SimpleStringSchema(), properties)).print()
    with pytest.raises(UnsupportedFlinkFeature, match=r"aws\.credentials\.provider"):
        env.execute()
