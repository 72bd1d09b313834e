"""What an Elasticsearch sink is told and refuses, and that it says that nothing writes to it."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.base import DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.elasticsearch import (
    Elasticsearch6SinkBuilder,
    Elasticsearch7SinkBuilder,
    ElasticsearchEmitter,
    FlushBackoffType,
)


def seven():
    emitter = ElasticsearchEmitter.static_index("foo", "id")
    return Elasticsearch7SinkBuilder().set_emitter(emitter).set_hosts("http://host:9200")


def test_builder_keeps_what_it_was_told():
    builder = Elasticsearch6SinkBuilder().set_hosts(["http://a:1", "http://b:1"])
    builder.set_emitter(ElasticsearchEmitter.dynamic_index("name", "id", "doc"))
    builder.set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE).set_bulk_flush_max_actions(1)
    builder.set_bulk_flush_max_size_mb(2).set_bulk_flush_interval(0)
    builder.set_bulk_flush_backoff_strategy(FlushBackoffType.CONSTANT, 3, 3000)
    builder.set_connection_username("me").set_connection_password("secret")
    builder.set_connection_path_prefix("/p").set_connection_request_timeout(4)
    options = builder.set_connection_timeout(5).set_socket_timeout(6).build()._options
    assert options.version == 6
    assert options.emitter.index == "name"
    assert options.emitter.dynamic
    assert options.emitter.doc_type == "doc"
    assert options.hosts == ("http://a:1", "http://b:1")
    assert options.guarantee is DeliveryGuarantee.AT_LEAST_ONCE
    assert (options.max_actions, options.max_size, options.interval) == (1, 2, 0)
    assert (options.max_retries, options.backoff_delay) == (3, 3000)
    assert (options.username, options.password) == ("me", "secret")
    assert options.path_prefix == "/p"
    assert options.request_timeout == 4
    assert (options.connection_timeout, options.socket_timeout) == (5, 6)
    assert "secret" not in repr(options)


@pytest.mark.parametrize(
    "told",
    [
        lambda builder: builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE),
        lambda builder: builder.set_bulk_flush_max_actions(0),
        lambda builder: builder.set_bulk_flush_max_size_mb(-2),
        lambda builder: builder.set_bulk_flush_interval(-2),
        lambda builder: builder.set_bulk_flush_backoff_strategy(FlushBackoffType.NONE, 0, 1),
        lambda builder: builder.set_bulk_flush_backoff_strategy(FlushBackoffType.NONE, 1, -1),
        lambda builder: builder.set_hosts([]),
        lambda builder: Elasticsearch7SinkBuilder().set_hosts("http://a:1").build(),
    ],
)
def test_refuses(told):
    with pytest.raises(ValueError, match=r"Elastic|must be|attempts|Delay|Hosts|emitter"):
        told(seven())


def test_minus_one_switches_off():
    builder = seven().set_bulk_flush_max_actions(-1).set_bulk_flush_interval(-1)
    assert builder.set_bulk_flush_max_size_mb(-1).build()._options.max_actions == -1


def test_there_is_no_java_class():
    with pytest.raises(UnsupportedFlinkFeature, match="Give set_hosts the URLs"):
        seven().get_http_host_class()


def test_using_it_says_what_is_missing():
    env = StreamExecutionEnvironment.get_execution_environment()
    stream = env.from_collection([{"id": "a"}], Types.MAP(Types.STRING(), Types.STRING()))
    with pytest.raises(UnsupportedFlinkFeature, match="ElasticsearchSink is not yet"):
        stream.sink_to(seven().build())
