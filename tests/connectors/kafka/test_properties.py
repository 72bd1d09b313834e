from __future__ import annotations

import pytest

from pyflink_on_spark._connectors.kafka.client import check_producer_properties
from pyflink_on_spark._connectors.kafka.config import (
    client_properties,
    producer_properties,
)

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"auto.offset.reset": "none"}, {"auto.offset.reset": "error"}),
        ({"auto.offset.reset": "latest"}, {"auto.offset.reset": "latest"}),
        ({"isolation.level": "read_committed"}, {"isolation.level": "read_committed"}),
        ({"fetch.max.wait.ms": "7"}, {"fetch.wait.max.ms": "7"}),
        ({"max.request.size": "7"}, {"message.max.bytes": "7"}),
        ({"buffer.memory": "33554432"}, {"queue.buffering.max.kbytes": "32768"}),
        ({"linger.ms": "5", "acks": "all"}, {"linger.ms": "5", "acks": "all"}),
        (
            {"ssl.endpoint.identification.algorithm": ""},
            {"ssl.endpoint.identification.algorithm": "none"},
        ),
        (
            {"partitioner.class": "org.apache.kafka.clients.producer.RoundRobinPartitioner"},
            {"partitioner": "random"},
        ),
        ({"ssl.truststore.location": "/ca.pem"}, {"ssl.ca.location": "/ca.pem"}),
        (
            {"ssl.truststore.location": "/ca", "ssl.truststore.type": "PEM"},
            {"ssl.ca.location": "/ca"},
        ),
        ({"ssl.truststore.certificates": "---"}, {"ssl.ca.pem": "---"}),
        (
            {"ssl.keystore.location": "/k.p12", "ssl.keystore.password": "x"},
            {"ssl.keystore.location": "/k.p12", "ssl.keystore.password": "x"},
        ),
        (
            {"ssl.keystore.location": "/k.pem", "ssl.key.password": "x"},
            {
                "ssl.certificate.location": "/k.pem",
                "ssl.key.location": "/k.pem",
                "ssl.key.password": "x",
            },
        ),
        (
            {"sasl.jaas.config": f'{PLAIN} required username="u" password="p;\\"q=1";'},
            {"sasl.username": "u", "sasl.password": 'p;"q=1'},
        ),
        (
            {"sasl.jaas.config": f"{SCRAM} required\n username='u'\n password='p';"},
            {"sasl.username": "u", "sasl.password": "p"},
        ),
    ],
)
def test_what_librdkafka_calls_them(given, expected):
    assert client_properties(given) == expected


def test_what_has_no_meaning_is_told():
    told = []
    given = {
        "key.deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
        "metric.reporters": "com.example.Reporter",
        "client.id.prefix": "mine",
    }
    assert client_properties(given, told.append) == {}
    assert told == ["metric.reporters"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"ssl.truststore.location": "/trust.jks"}, "set ssl.ca.location"),
        ({"ssl.keystore.location": "/key.jks"}, "-deststoretype PKCS12"),
        ({"partitioner.class": "com.example.Mine"}, "murmur2_random"),
        ({"sasl.jaas.config": "com.example.IAMLoginModule required secret=s3cr3t;"}, "IAMLogin"),
        ({"sasl.jaas.config": ""}, "sasl.mechanism"),
    ],
)
def test_what_only_java_can_read(given, told):
    with pytest.raises(ValueError, match=told) as caught:
        client_properties(given)
    assert "s3cr3t" not in str(caught.value)


IN_FLIGHT = "max.in.flight.requests.per.connection"


@pytest.mark.parametrize(
    ("given", "idempotent", "in_flight"),
    [
        ({}, "true", "5"),
        ({"acks": "all"}, "true", "5"),
        ({"acks": "-1", "retries": "3", IN_FLIGHT: "1"}, "true", "1"),
        ({"request.required.acks": "-1", "max.in.flight": "5"}, "true", None),
        ({"acks": "1"}, None, "5"),
        ({"acks": "0", IN_FLIGHT: "20"}, None, "20"),
        ({"retries": "0"}, None, "5"),
        ({"message.send.max.retries": "0"}, None, "5"),
        ({IN_FLIGHT: "6"}, None, "6"),
        ({"max.in.flight": "6"}, None, None),
        ({"enable.idempotence": "false"}, "false", "5"),
        ({"enable.idempotence": "true", "acks": "all"}, "true", "5"),
    ],
)
def test_records_are_written_once_and_in_order_unless_something_asked_for_rules_it_out(
    given, idempotent, in_flight
):
    confluent_kafka = pytest.importorskip("confluent_kafka")
    found = producer_properties(given)
    assert found.get("enable.idempotence") == idempotent
    assert found.get(IN_FLIGHT) == in_flight
    confluent_kafka.Producer({**found, "log_level": 0})  # librdkafka takes them


class TestProperties:
    @pytest.fixture(autouse=True)
    def client_is_there(self):
        pytest.importorskip("confluent_kafka")

    def test_those_that_no_producer_knows_are_told_once(self):
        told = []
        given = {
            "compresion.type": "lz4",
            "linger.msec": "5",
            "metric.reporters": "com.example.Reporter",
            "ssl.ca.location": "/only/where/the/workers/are.pem",
            "linger.ms": "5",
        }
        check_producer_properties(given, told.append)
        assert told == ["metric.reporters", "compresion.type", "linger.msec"]

    def test_a_value_that_is_refused(self):
        with pytest.raises(ValueError, match=r"refuses its properties.*queue.buffering.max.ms"):
            check_producer_properties({"linger.ms": "soon"}, lambda key: None)
