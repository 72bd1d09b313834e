from __future__ import annotations

import re
import time

import pytest

from pyflink_on_spark._compat import optional_package
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream.connectors import DeliveryGuarantee
from tests.connectors.kafka.jobs import elements, reading, writing
from tests.connectors.servers import free_port

pytestmark = pytest.mark.slow

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.fixture(autouse=True)
def client_is_there():
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")


def with_properties(builder, **properties):
    for key, value in properties.items():
        builder.set_property(key.replace("_", "."), value)
    return builder


def test_nobody_answers(env):
    servers = f"127.0.0.1:{free_port()}"
    builder = with_properties(reading(servers, "t"), default_api_timeout_ms="600")
    begun = time.monotonic()
    with pytest.raises(ConnectionError, match=r"did not answer within 0\.6 s") as caught:
        elements(env, builder)
    assert time.monotonic() - begun < 10
    assert servers in str(caught.value)
    assert "default.api.timeout.ms" in str(caught.value)


@pytest.mark.parametrize("guarantee", list(DeliveryGuarantee))
def test_nobody_takes_records(env, guarantee):
    soon = {"delivery_timeout_ms": "600", "linger_ms": "0", "default_api_timeout_ms": "600"}
    sink = writing(f"127.0.0.1:{free_port()}", "t", guarantee, **soon)
    env.from_collection(["a"], Types.STRING()).sink_to(sink)
    with pytest.raises(Exception, match=r"could not be written|did not answer"):
        env.execute()


@pytest.mark.parametrize("guarantee", list(DeliveryGuarantee))
def test_a_topic_that_is_not_there(kafka, env, guarantee):
    soon = {"delivery_timeout_ms": "1500", "topic_metadata_propagation_max_ms": "100"}
    sink = writing(kafka.servers, "nowhere", guarantee, **soon)
    env.from_collection(["a"], Types.STRING()).sink_to(sink)
    with pytest.raises(Exception, match="Kafka topic 'nowhere' could not be written"):
        env.execute()


class TestPasswords:
    @pytest.fixture
    def guarded(self):
        from tests.connectors.kafka.broker import Broker

        broker = Broker(password="right")
        broker.create("t")
        yield broker
        broker.stop()

    def properties(self, password):
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": f'{PLAIN} required username="u" password="{password}";',
        }

    def test_a_right_one(self, guarded, env):
        builder = reading(guarded.servers, "t").set_properties(self.properties("right"))
        assert elements(env, builder) == []

    def test_a_wrong_one(self, guarded, env, caplog):
        builder = reading(guarded.servers, "t").set_properties(self.properties("s3cr3t"))
        with pytest.raises(PermissionError, match="refuses the credentials") as caught:
            elements(env, builder)
        assert "s3cr3t" not in str(caught.value) + caplog.text

    def test_none_of_them_is_shown(self, guarded):
        source = reading(guarded.servers, "t").set_properties(self.properties("s3cr3t")).build()
        assert "s3cr3t" not in repr([source, source._config, source._source._config])
        sink = writing(guarded.servers, "t")
        sink._sink._config.properties.update(self.properties("s3cr3t"))
        assert "s3cr3t" not in repr([sink, sink._config, sink._sink._config])


def test_a_property_that_nobody_knows_is_told_and_left_out(kafka, env, caplog):
    topic = kafka.topic(1)
    kafka.write(topic, ["a"])
    builder = with_properties(reading(kafka.servers, topic), my_own="1")
    assert elements(env, builder) == ["a"]
    assert "the Kafka property my.own is recorded" in caplog.text


def test_a_producer_s_property_that_nobody_knows_is_told(env, caplog):
    sink = writing("nobody:9092", "t", compresion_type="lz4")
    env.from_collection(["a"], Types.STRING()).sink_to(sink)
    assert "the Kafka property compresion.type is recorded" in caplog.text


def test_a_value_that_librdkafka_refuses(kafka, env):
    builder = with_properties(reading(kafka.servers, "t"), fetch_min_bytes="many")
    with pytest.raises(ValueError, match=re.escape("fetch.min.bytes")):
        elements(env, builder)


def test_without_the_package(env, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(optional_package.importlib, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'pyflink_on_spark\[kafka\]'"):
        elements(env, reading("x:1", "t"))
