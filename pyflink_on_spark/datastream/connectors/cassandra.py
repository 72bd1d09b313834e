# mypy: disable-error-code="empty-body"
"""Cassandra's tables as sinks: names and signatures only, for there is no client yet."""

from __future__ import annotations

from enum import Enum

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import JAVA_OBJECT, refuse_java
from pyflink_on_spark.common import Duration
from pyflink_on_spark.datastream.connectors._not_yet import without_client

__all__ = [
    "CassandraSink",
    "ConsistencyLevel",
    "MapperOptions",
    "ClusterBuilder",
    "CassandraCommitter",
    "CassandraFailureHandler",
]

_not_yet = without_client("Cassandra")


class ConsistencyLevel(Enum):
    """The number of replicas that have to answer."""

    ANY = 0
    ONE = 1
    TWO = 2
    THREE = 3
    QUORUM = 4
    ALL = 5
    LOCAL_QUORUM = 6
    EACH_QUORUM = 7
    SERIAL = 8
    LOCAL_SERIAL = 9
    LOCAL_ONE = 10


@_not_yet
class MapperOptions:
    """The options for writing objects."""

    def __init__(self): ...

    def ttl(self, ttl: int) -> MapperOptions: ...

    def timestamp(self, timestamp: int) -> MapperOptions: ...

    def consistency_level(self, cl: ConsistencyLevel) -> MapperOptions: ...

    def tracing(self, enabled: bool) -> MapperOptions: ...

    def save_null_fields(self, enabled: bool) -> MapperOptions: ...

    def if_not_exists(self, enabled: bool) -> MapperOptions: ...


class ClusterBuilder:
    """Reaches a cluster; in PyFlink always a Java object."""

    def __init__(self, j_cluster_builder):
        refuse_java(
            "ClusterBuilder(j_cluster_builder)",
            reason=JAVA_OBJECT,
            instead="Name the cluster with set_host(host, port).",
        )


@_not_yet
class CassandraCommitter:
    """Notes completed checkpoints in a table."""

    def __init__(self, j_checkpoint_committer): ...

    @staticmethod
    def default_checkpoint_committer(
        builder: ClusterBuilder, key_space: str | None = None
    ) -> CassandraCommitter: ...


@_not_yet
class CassandraFailureHandler:
    """A handler of rows that cannot be written."""

    def __init__(self, j_cassandra_failure_handler): ...

    @staticmethod
    def no_op() -> CassandraFailureHandler: ...


@_not_yet
class CassandraSink:
    """A sink that was added to a stream."""

    def __init__(self, j_cassandra_sink): ...

    def name(self, name: str) -> CassandraSink: ...

    def uid(self, uid: str) -> CassandraSink: ...

    def set_uid_hash(self, uid_hash: str) -> CassandraSink: ...

    def set_parallelism(self, parallelism: int) -> CassandraSink: ...

    def disable_chaining(self) -> CassandraSink: ...

    def slot_sharing_group(self, slot_sharing_group: str) -> CassandraSink: ...

    @staticmethod
    def add_sink(input) -> CassandraSink.CassandraSinkBuilder: ...

    @_not_yet
    class CassandraSinkBuilder:
        """Configures a sink."""

        def __init__(self, j_cassandra_sink_builder): ...

        def set_query(self, query: str) -> CassandraSink.CassandraSinkBuilder: ...

        def set_host(self, host: str, port: int = 9042) -> CassandraSink.CassandraSinkBuilder: ...

        def set_cluster_builder(
            self, builder: ClusterBuilder
        ) -> CassandraSink.CassandraSinkBuilder: ...

        def enable_write_ahead_log(
            self, committer: CassandraCommitter | None = None
        ) -> CassandraSink.CassandraSinkBuilder: ...

        def set_mapper_options(
            self, options: MapperOptions
        ) -> CassandraSink.CassandraSinkBuilder: ...

        def set_failure_handler(
            self, failure_handler: CassandraFailureHandler
        ) -> CassandraSink.CassandraSinkBuilder: ...

        def set_max_concurrent_requests(
            self, max_concurrent_requests: int, duration: Duration | None = None
        ) -> CassandraSink.CassandraSinkBuilder: ...

        def enable_ignore_null_fields(self) -> CassandraSink.CassandraSinkBuilder: ...

        def build(self) -> CassandraSink: ...


__getattr__ = missing_name(__name__)
