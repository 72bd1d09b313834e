"""Cassandra's tables as sinks: what a sink can be told. Nothing writes to them yet."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported, unsupported
from pyflink_on_spark.common import Duration
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.data_stream.data_stream import DataStream
from pyflink_on_spark.datastream.data_stream.sink import DataStreamSink

__all__ = [
    "CassandraSink",
    "ConsistencyLevel",
    "MapperOptions",
    "ClusterBuilder",
    "CassandraCommitter",
    "CassandraFailureHandler",
]


class ConsistencyLevel(Enum):
    """How many replicas have to answer."""

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


class MapperOptions:
    """How objects are written."""

    def __init__(self):
        self._options: dict[str, Any] = {}

    def ttl(self, ttl: int) -> MapperOptions:
        """Set how long rows live, in s."""
        return self._set("ttl", ttl, int)

    def timestamp(self, timestamp: int) -> MapperOptions:
        """Set the time of writing, in microseconds since the epoch."""
        return self._set("timestamp", timestamp, int)

    def consistency_level(self, cl: ConsistencyLevel) -> MapperOptions:
        """Set how many replicas have to answer."""
        return self._set("consistency_level", cl, ConsistencyLevel)

    def tracing(self, enabled: bool) -> MapperOptions:
        """Set whether the server traces what it does."""
        return self._set("tracing", enabled, bool)

    def save_null_fields(self, enabled: bool) -> MapperOptions:
        """Set whether fields that are None are written."""
        return self._set("save_null_fields", enabled, bool)

    def if_not_exists(self, enabled: bool) -> MapperOptions:
        """Set whether rows that exist are left as they are."""
        return self._set("if_not_exists", enabled, bool)

    def _set(self, name: str, value: Any, kind: type) -> MapperOptions:
        self._options[name] = argument(value, kind, f"MapperOptions.{name}({name})")
        return self


class ClusterBuilder:
    """Reaches a cluster; in PyFlink always a Java object.

    Args:
        j_cluster_builder: a Java object.

    Raises:
        UnsupportedFlinkFeature: always; there are no Java objects.
    """

    def __init__(self, j_cluster_builder):
        raise_unsupported(
            "ClusterBuilder(j_cluster_builder)",
            kind=Gap.NEVER,
            reason="in PyFlink its work is done by a Java object",
            instead="Name the cluster with set_host(host, port).",
        )


@dataclass(frozen=True)
class CommitTable:
    """Where completed checkpoints are noted.

    Attributes:
        cluster: the cluster.
        key_space: the key space of the table, or None.
    """

    cluster: ClusterBuilder
    key_space: str | None


class CassandraCommitter:
    """Notes completed checkpoints in a table.

    Args:
        j_checkpoint_committer: the table.
    """

    def __init__(self, j_checkpoint_committer):
        call = "CassandraCommitter(j_checkpoint_committer)"
        self._table = own_handle(j_checkpoint_committer, CommitTable, call)

    @staticmethod
    def default_checkpoint_committer(
        builder: ClusterBuilder, key_space: str | None = None
    ) -> CassandraCommitter:
        """Note them in a table of their own.

        Args:
            builder: the cluster.
            key_space: the table's key space.
        """
        cluster = argument(builder, ClusterBuilder, "default_checkpoint_committer(builder)")
        return CassandraCommitter(CommitTable(cluster, key_space))


class CassandraFailureHandler:
    """Says what happens when a row cannot be written.

    Args:
        j_cassandra_failure_handler: its name; ``no_op()`` makes the only one there is.
    """

    def __init__(self, j_cassandra_failure_handler):
        call = "CassandraFailureHandler(j_cassandra_failure_handler)"
        self._name = own_handle(j_cassandra_failure_handler, str, call)

    @staticmethod
    def no_op() -> CassandraFailureHandler:
        """Fail the job."""
        return CassandraFailureHandler("fail the job")


@dataclass(frozen=True)
class CassandraWriting:
    """What a Cassandra sink was told.

    Attributes:
        stream: what is written.
        query: the statement for each element, or None.
        host: the cluster's host and port, or None.
        cluster: the cluster, if it is not named by a host.
        write_ahead_log: whether a checkpoint's elements are written once it is complete.
        committer: where completed checkpoints are noted, or None.
        mapper_options: how objects are written.
        failure_handler: what happens when a row cannot be written, or None: the job fails.
        max_concurrent_requests: how many requests may wait for their answers, or None.
        request_timeout: how long a request may wait to be sent, or None.
        ignore_null_fields: whether fields that are None are not written.
    """

    stream: DataStream
    query: str | None = None
    host: tuple[str, int] | None = None
    cluster: ClusterBuilder | None = None
    write_ahead_log: bool = False
    committer: CassandraCommitter | None = None
    mapper_options: dict[str, Any] = field(default_factory=dict)
    failure_handler: CassandraFailureHandler | None = None
    max_concurrent_requests: int | None = None
    request_timeout: Duration | None = None
    ignore_null_fields: bool = False


def _build(self):
    """Add the sink to the job. On Spark: not yet."""


_build.__qualname__ = "CassandraSink.CassandraSinkBuilder.build"


class CassandraSink:
    """A sink that was added to a stream with ``add_sink``; its setters change and return it.

    Args:
        j_cassandra_sink: the sink in the job's graph.
    """

    def __init__(self, j_cassandra_sink):
        call = "CassandraSink(j_cassandra_sink)"
        self._added = own_handle(j_cassandra_sink, DataStreamSink, call)

    def name(self, name: str) -> CassandraSink:
        """Set the name that plans and messages show."""
        self._added.name(name)
        return self

    def uid(self, uid: str) -> CassandraSink:
        """Set the stable name of the sink's state."""
        self._added.uid(uid)
        return self

    def set_uid_hash(self, uid_hash: str) -> CassandraSink:
        """Set the hash of the sink's state directly."""
        self._added.set_uid_hash(uid_hash)
        return self

    def set_parallelism(self, parallelism: int) -> CassandraSink:
        """Set how many subtasks write."""
        self._added.set_parallelism(parallelism)
        return self

    def disable_chaining(self) -> CassandraSink:
        """Keep the sink out of the task before it."""
        self._added.disable_chaining()
        return self

    def slot_sharing_group(self, slot_sharing_group: str) -> CassandraSink:
        """Set the slot sharing group."""
        self._added.slot_sharing_group(slot_sharing_group)
        return self

    @staticmethod
    def add_sink(input) -> CassandraSink.CassandraSinkBuilder:
        """Begin a sink for a stream."""
        stream = argument(input, DataStream, "CassandraSink.add_sink(input)")
        return CassandraSink.CassandraSinkBuilder(CassandraWriting(stream))

    class CassandraSinkBuilder:
        """Says how elements are written.

        Args:
            j_cassandra_sink_builder: the options to begin with.
        """

        def __init__(self, j_cassandra_sink_builder):
            call = "CassandraSinkBuilder(j_cassandra_sink_builder)"
            self._options = own_handle(j_cassandra_sink_builder, CassandraWriting, call)

        def set_query(self, query: str) -> CassandraSink.CassandraSinkBuilder:
            """Set the statement for each element, with a question mark for each field."""
            return self._with(query=argument(query, str, "set_query(query)"))

        def set_host(self, host: str, port: int = 9042) -> CassandraSink.CassandraSinkBuilder:
            """Set where the cluster is found.

            Raises:
                ValueError: the cluster is set already.
            """
            call = "set_host(host, port)"
            require(self._options.cluster is None, "ClusterBuilder was already set.")
            return self._with(host=(argument(host, str, call), argument(port, int, call)))

        def set_cluster_builder(
            self, builder: ClusterBuilder
        ) -> CassandraSink.CassandraSinkBuilder:
            """Set what reaches the cluster."""
            call = "set_cluster_builder(builder)"
            return self._with(cluster=argument(builder, ClusterBuilder, call))

        def enable_write_ahead_log(
            self, committer: CassandraCommitter | None = None
        ) -> CassandraSink.CassandraSinkBuilder:
            """Write a checkpoint's elements once it is complete, so that each counts once.

            Args:
                committer: where completed checkpoints are noted.
            """
            if committer is not None:
                argument(committer, CassandraCommitter, "enable_write_ahead_log(committer)")
            return self._with(write_ahead_log=True, committer=committer)

        def set_mapper_options(self, options: MapperOptions) -> CassandraSink.CassandraSinkBuilder:
            """Set how objects are written."""
            given = argument(options, MapperOptions, "set_mapper_options(options)")
            return self._with(mapper_options=dict(given._options))

        def set_failure_handler(
            self, failure_handler: CassandraFailureHandler
        ) -> CassandraSink.CassandraSinkBuilder:
            """Set what happens when a row cannot be written."""
            call = "set_failure_handler(failure_handler)"
            kind = CassandraFailureHandler
            return self._with(failure_handler=argument(failure_handler, kind, call))

        def set_max_concurrent_requests(
            self, max_concurrent_requests: int, duration: Duration | None = None
        ) -> CassandraSink.CassandraSinkBuilder:
            """Set how many requests may wait for their answers.

            Args:
                max_concurrent_requests: how many.
                duration: how long a further request may wait to be sent.
            """
            call = "set_max_concurrent_requests(max_concurrent_requests, duration)"
            if duration is not None:
                argument(duration, Duration, call)
            most = argument(max_concurrent_requests, int, call)
            return self._with(max_concurrent_requests=most, request_timeout=duration)

        def enable_ignore_null_fields(self) -> CassandraSink.CassandraSinkBuilder:
            """Do not write fields that are None."""
            return self._with(ignore_null_fields=True)

        build = unsupported(
            _build,
            kind=Gap.NOT_YET,
            reason="there is no client for Cassandra behind it",
            instead="Write files, and load them with a tool of Cassandra.",
        )

        def _with(self, **changes: Any) -> CassandraSink.CassandraSinkBuilder:
            self._options = replace(self._options, **changes)
            return self


__getattr__ = missing_name(__name__)
