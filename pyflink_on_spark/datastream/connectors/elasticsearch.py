"""Elasticsearch's indices as sinks."""

from __future__ import annotations

import abc
from dataclasses import replace
from enum import Enum
from typing import Any, Self

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.elasticsearch import (
    Backoff,
    DocumentSink,
    DocumentSinkConfig,
    Growth,
    MapEmitter,
    SearchCluster,
    SearchHost,
)
from pyflink_on_spark.datastream._java_gaps import without_java_object
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.connectors.base import DeliveryGuarantee, Sink

__all__ = [
    "FlushBackoffType",
    "ElasticsearchEmitter",
    "Elasticsearch6SinkBuilder",
    "Elasticsearch7SinkBuilder",
    "ElasticsearchSink",
]

_MEGABYTE = 1024 * 1024


class FlushBackoffType(Enum):
    """The growth of the time before actions that the server refuses for now are sent again."""

    # The tuples are PyFlink's values.
    CONSTANT = (0,)
    EXPONENTIAL = (1,)
    NONE = (2,)


class ElasticsearchEmitter:
    """Makes documents of maps.

    Args:
        j_emitter: made by the static methods of this class.
    """

    def __init__(self, j_emitter):
        self._emitter = own_handle(j_emitter, MapEmitter, "ElasticsearchEmitter(j_emitter)")

    @staticmethod
    def static_index(
        index: str, key_field: str | None = None, doc_type: str | None = None
    ) -> ElasticsearchEmitter:
        """Write all documents to one index.

        Args:
            index: its name.
            key_field: the key of the entry with the document's id; None lets the server choose.
                A document with an id that is there already takes the new values.
            doc_type: the type of the documents, for Elasticsearch 6.
        """
        return ElasticsearchEmitter._of(index, key_field, doc_type, dynamic=False)

    @staticmethod
    def dynamic_index(
        index_field: str, key_field: str | None = None, doc_type: str | None = None
    ) -> ElasticsearchEmitter:
        """Write each document to the index that an entry names.

        Args:
            index_field: the key of that entry.
            key_field: the key of the entry with the document's id; None lets the server choose.
            doc_type: the type of the documents, for Elasticsearch 6.
        """
        return ElasticsearchEmitter._of(index_field, key_field, doc_type, dynamic=True)

    @staticmethod
    def _of(
        index: str, key_field: str | None, doc_type: str | None, *, dynamic: bool
    ) -> ElasticsearchEmitter:
        name = "dynamic_index" if dynamic else "static_index"
        argument(index, str, f"{name}(index, key_field, doc_type)")
        for value in (key_field, doc_type):
            if value is not None:
                argument(value, str, f"{name}(index, key_field, doc_type)")
        return ElasticsearchEmitter(MapEmitter(index, dynamic, key_field, doc_type))


class ElasticsearchSinkBuilderBase(abc.ABC):
    """Configures a sink. The hosts and the emitter are required."""

    @abc.abstractmethod
    def __init__(self):
        self._cluster = SearchCluster()
        self._config = DocumentSinkConfig()

    @without_java_object("Give set_hosts the URLs.")
    def get_http_host_class(self): ...

    def set_emitter(self, emitter: ElasticsearchEmitter) -> Self:
        """Set what makes documents of the elements."""
        emitter = argument(emitter, ElasticsearchEmitter, "set_emitter(emitter)")
        return self._with(emitter=emitter._emitter)

    def set_hosts(self, hosts: str | list[str]) -> Self:
        """Set the servers, as ``localhost:9200`` or ``https://localhost:9200``.

        A server that does not answer leads to the next one.

        Raises:
            ValueError: one is no URL of a server.
        """
        listed = [hosts] if isinstance(hosts, str) else argument(hosts, list, "set_hosts(hosts)")
        require(listed, "Hosts cannot be empty.")
        found = [
            SearchHost.parse(argument(each, str, "set_hosts(hosts)"), complete=False)
            for each in listed
        ]
        return self._reaching(hosts=tuple(found))

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """Set the guarantee; by default AT_LEAST_ONCE, as in Flink.

        Raises:
            ValueError: it is EXACTLY_ONCE.
        """
        call = "set_delivery_guarantee(delivery_guarantee)"
        guarantee = argument(delivery_guarantee, DeliveryGuarantee, call)
        require(
            guarantee is not DeliveryGuarantee.EXACTLY_ONCE,
            "Elasticsearch sink does not support the EXACTLY_ONCE guarantee.",
        )
        return self._with(flushes_at_checkpoints=guarantee is not DeliveryGuarantee.NONE)

    def set_bulk_flush_max_actions(self, num_max_actions: int) -> Self:
        """Set the most actions of a request, by default 1000; -1 for no limit.

        Raises:
            ValueError: it is 0 or less than -1.
        """
        number = argument(num_max_actions, int, "set_bulk_flush_max_actions(num_max_actions)")
        require(number == -1 or number > 0, "Max number of buffered actions must be larger than 0.")
        return self._with(actions=number)

    def set_bulk_flush_max_size_mb(self, max_size_mb: int) -> Self:
        """Set the size at which a request is sent, in MB; -1, the default, for no limit.

        Raises:
            ValueError: it is 0 or less than -1.
        """
        size = argument(max_size_mb, int, "set_bulk_flush_max_size_mb(max_size_mb)")
        require(size == -1 or size > 0, "Max size of buffered actions must be larger than 0.")
        return self._with(in_bytes=size * _MEGABYTE if size > 0 else -1)

    def set_bulk_flush_interval(self, interval_millis: int) -> Self:
        """Set the longest time that an action waits, in ms; -1, the default, for no limit.

        Raises:
            ValueError: it is less than -1.
        """
        interval = argument(interval_millis, int, "set_bulk_flush_interval(interval_millis)")
        require(
            interval >= -1,
            "Interval (in milliseconds) between each flush must be larger than or equal to 0.",
        )
        return self._with(interval=interval)

    def set_bulk_flush_backoff_strategy(
        self, flush_backoff_type: FlushBackoffType, max_retries: int, delay_millis: int
    ) -> Self:
        """Set how actions that the server refuses for now (status 429) are sent again.

        Args:
            flush_backoff_type: the growth of the pause; by default such actions fail the job.
            max_retries: how many attempts follow the first one.
            delay_millis: the first pause in ms.

        Raises:
            ValueError: a number is negative.
        """
        call = "set_bulk_flush_backoff_strategy(flush_backoff_type, max_retries, delay_millis)"
        growth = Growth[argument(flush_backoff_type, FlushBackoffType, call).name]
        retries, delay = argument(max_retries, int, call), argument(delay_millis, int, call)
        require(
            growth is Growth.NONE or min(retries, delay) >= 0,
            "Max retries and delay (in milliseconds) must be larger than or equal to 0.",
        )
        return self._with(backoff=Backoff(growth, retries, delay))

    def set_connection_username(self, username: str) -> Self:
        """Set the name of the user."""
        call = "set_connection_username(username)"
        return self._reaching(username=argument(username, str, call))

    def set_connection_password(self, password: str) -> Self:
        """Set the password of the user."""
        call = "set_connection_password(password)"
        return self._reaching(password=argument(password, str, call))

    def set_connection_path_prefix(self, prefix: str) -> Self:
        """Set what stands before each path of a request."""
        call = "set_connection_path_prefix(prefix)"
        return self._reaching(path_prefix=argument(prefix, str, call))

    def set_connection_request_timeout(self, timeout: int) -> Self:
        """Set how long a request waits for a connection of the pool, in ms.

        On Spark: no effect; each subtask has a connection of its own.
        """
        argument(timeout, int, "set_connection_request_timeout(timeout)")
        return self

    def set_connection_timeout(self, timeout: int) -> Self:
        """Set the longest time to connect, in ms; by default 1000."""
        call = "set_connection_timeout(timeout)"
        return self._reaching(connect_timeout=argument(timeout, int, call))

    def set_socket_timeout(self, timeout: int) -> Self:
        """Set the longest time without data of the server, in ms; by default 30,000."""
        call = "set_socket_timeout(timeout)"
        return self._reaching(socket_timeout=argument(timeout, int, call))

    def build(self) -> ElasticsearchSink:
        """Return the sink.

        Raises:
            ValueError: the hosts or the emitter are missing.
        """
        require(self._config.emitter is not None, "Emitter must be set.")
        require(self._cluster.hosts, "Hosts cannot be empty.")
        return ElasticsearchSink(replace(self._config, cluster=self._cluster))

    def _with(self, **changes: Any) -> Self:
        self._config = replace(self._config, **changes)
        return self

    def _reaching(self, **changes: Any) -> Self:
        self._cluster = replace(self._cluster, **changes)
        return self


class Elasticsearch6SinkBuilder(ElasticsearchSinkBuilderBase):
    """Configures a sink of Elasticsearch 6.

    Example::

        sink = (
            Elasticsearch6SinkBuilder()
            .set_hosts("localhost:9200")
            .set_emitter(ElasticsearchEmitter.static_index("clicks", "id", "click"))
            .build()
        )
        clicks_as_maps.sink_to(sink)
    """

    def __init__(self):
        super().__init__()

    @without_java_object("Give set_hosts the URLs.")
    def get_http_host_class(self): ...


class Elasticsearch7SinkBuilder(ElasticsearchSinkBuilderBase):
    """Configures a sink of Elasticsearch 7 or 8, or of OpenSearch.

    Example::

        sink = (
            Elasticsearch7SinkBuilder()
            .set_hosts(["localhost:9200"])
            .set_emitter(ElasticsearchEmitter.dynamic_index("index", "id"))
            .build()
        )
        clicks_as_maps.sink_to(sink)
    """

    def __init__(self):
        super().__init__()

    @without_java_object("Give set_hosts the URLs.")
    def get_http_host_class(self): ...


class ElasticsearchSink(Sink):
    """Writes maps as documents; made with a builder. The stream has a type ``Types.MAP``.

    Args:
        j_elasticsearch_sink: made by a builder.

    On Spark: no package is needed. A subtask sends one request at a time. Tested with an
    OpenSearch-compatible server for tests, not with Elasticsearch itself.
    """

    def __init__(self, j_elasticsearch_sink):
        call = "ElasticsearchSink(j_elasticsearch_sink)"
        self._config = own_handle(j_elasticsearch_sink, DocumentSinkConfig, call)
        super().__init__(sink=DocumentSink(self._config))


__getattr__ = missing_name(__name__)
