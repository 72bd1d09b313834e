"""What a Cassandra sink is told, and that it says that nothing writes to it."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common import Duration, Row, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.cassandra import (
    CassandraFailureHandler,
    CassandraSink,
    ClusterBuilder,
    ConsistencyLevel,
    MapperOptions,
)


@pytest.fixture
def stream():
    env = StreamExecutionEnvironment.get_execution_environment()
    return env.from_collection([Row(1)], Types.ROW([Types.INT()]))


def test_builder_keeps_what_it_was_told(stream):
    mapper = MapperOptions().ttl(1).timestamp(2).consistency_level(ConsistencyLevel.QUORUM)
    mapper.tracing(True).save_null_fields(False).if_not_exists(True)
    builder = CassandraSink.add_sink(stream).set_query("insert").set_host("host")
    builder.set_mapper_options(mapper).set_failure_handler(CassandraFailureHandler.no_op())
    builder.set_max_concurrent_requests(3, Duration.of_seconds(1)).enable_ignore_null_fields()
    options = builder.enable_write_ahead_log()._options
    assert options.stream is stream
    assert options.query == "insert"
    assert options.host == ("host", 9042)
    assert options.mapper_options == {
        "ttl": 1,
        "timestamp": 2,
        "consistency_level": ConsistencyLevel.QUORUM,
        "tracing": True,
        "save_null_fields": False,
        "if_not_exists": True,
    }
    assert options.max_concurrent_requests == 3
    assert options.request_timeout == Duration.of_seconds(1)
    assert options.ignore_null_fields
    assert options.write_ahead_log


def test_building_says_what_is_missing(stream):
    builder = CassandraSink.add_sink(stream).set_query("insert").set_host("host")
    with pytest.raises(UnsupportedFlinkFeature, match=r"CassandraSinkBuilder\.build is not yet"):
        builder.build()


def test_a_java_object_is_refused():
    with pytest.raises(UnsupportedFlinkFeature, match=r"set_host\(host, port\)"):
        ClusterBuilder(object())


def test_an_added_sink_can_be_named(stream):
    added = stream.print()
    sink = CassandraSink(added).name("cassandra").uid("u").set_parallelism(1)
    sink.set_uid_hash("a" * 32).disable_chaining().slot_sharing_group("group")
    assert added._transformation.name == "cassandra"
    assert added._transformation.uid == "u"
    assert added._transformation.parallelism == 1
