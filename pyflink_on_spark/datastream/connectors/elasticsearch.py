"""Elasticsearch's indices as sinks: what a sink can be told. Nothing writes to them yet."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Self

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream._java_gaps import without_java_object
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.connectors._not_yet import connector_gap
from pyflink_on_spark.datastream.connectors.base import DeliveryGuarantee, Sink

__all__ = [
    "FlushBackoffType",
    "ElasticsearchEmitter",
    "Elasticsearch6SinkBuilder",
    "Elasticsearch7SinkBuilder",
    "ElasticsearchSink",
]


class FlushBackoffType(Enum):
    """How long to wait before a request that failed is sent again.

    Attributes:
        CONSTANT: always as long.
        EXPONENTIAL: longer each time.
        NONE: it is not sent again.
    """

    # The tuples are PyFlink's values.
    CONSTANT = (0,)
    EXPONENTIAL = (1,)
    NONE = (2,)


@dataclass(frozen=True)
class Indexing:
    """How a map becomes a document.

    Attributes:
        index: the index, or the key of the map that has its name.
        dynamic: whether it is a key.
        key_field: the key of the map that has the document's id, or None: any id.
        doc_type: the document's type in Elasticsearch 6, or None.
    """

    index: str
    dynamic: bool
    key_field: str | None
    doc_type: str | None


class ElasticsearchEmitter:
    """Makes documents of maps.

    Args:
        j_emitter: how; the methods below make it.
    """

    def __init__(self, j_emitter):
        self._indexing = own_handle(j_emitter, Indexing, "ElasticsearchEmitter(j_emitter)")

    @staticmethod
    def static_index(
        index: str, key_field: str | None = None, doc_type: str | None = None
    ) -> ElasticsearchEmitter:
        """Write all to one index.

        Args:
            index: the index.
            key_field: the key of a map that has the document's id.
            doc_type: the document's type in Elasticsearch 6.
        """
        return ElasticsearchEmitter(_indexing(index, False, key_field, doc_type))

    @staticmethod
    def dynamic_index(
        index_field: str, key_field: str | None = None, doc_type: str | None = None
    ) -> ElasticsearchEmitter:
        """Write each to the index that it names.

        Args:
            index_field: the key of a map that has the index.
            key_field: the key of a map that has the document's id.
            doc_type: the document's type in Elasticsearch 6.
        """
        return ElasticsearchEmitter(_indexing(index_field, True, key_field, doc_type))


@dataclass(frozen=True)
class ElasticsearchWriting:
    """What an Elasticsearch sink was told.

    Attributes:
        version: Elasticsearch's major version.
        emitter: what makes documents.
        hosts: the cluster's nodes, as URLs.
        guarantee: what happens to documents when the job fails.
        max_actions: at how many documents a request is sent; -1: at any number.
        max_size: at how many MB; -1: at any.
        interval: after how many ms; -1: never for that reason.
        backoff: how long to wait before a failed request is sent again.
        max_retries: how often it is; -1: never.
        backoff_delay: the first time to wait, in ms; -1: none.
        username: who connects.
        password: with what.
        path_prefix: what all paths begin with.
        request_timeout: how long a connection of the pool may take, in ms.
        connection_timeout: how long a connection may take, in ms.
        socket_timeout: how long an answer may take, in ms.
    """

    version: int
    emitter: Indexing | None = None
    hosts: tuple[str, ...] = ()
    guarantee: DeliveryGuarantee = DeliveryGuarantee.NONE
    max_actions: int = 1000
    max_size: int = -1
    interval: int = -1
    backoff: FlushBackoffType = FlushBackoffType.NONE
    max_retries: int = -1
    backoff_delay: int = -1
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    path_prefix: str | None = None
    request_timeout: int | None = None
    connection_timeout: int | None = None
    socket_timeout: int | None = None


class ElasticsearchSinkBuilderBase(abc.ABC):
    """Says how a sink writes. The emitter and the hosts have to be set."""

    _options: ElasticsearchWriting

    @abc.abstractmethod
    def __init__(self):
        """Begin with the options of one version."""

    @abc.abstractmethod
    def get_http_host_class(self):
        """Return the Java class of a host."""

    def set_emitter(self, emitter: ElasticsearchEmitter) -> Self:
        """Set what makes documents."""
        given = argument(emitter, ElasticsearchEmitter, "set_emitter(emitter)")
        return self._with(emitter=given._indexing)

    def set_hosts(self, hosts: str | list[str]) -> Self:
        """Set the cluster's nodes, as URLs.

        Raises:
            ValueError: there is none.
        """
        urls = hosts if isinstance(hosts, list) else [hosts]
        require(urls, "Hosts cannot be empty.")
        return self._with(hosts=tuple(argument(url, str, "set_hosts(hosts)") for url in urls))

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """Set what happens to documents when the job fails.

        Raises:
            ValueError: it is EXACTLY_ONCE, which there is not.
        """
        call = "set_delivery_guarantee(delivery_guarantee)"
        given = argument(delivery_guarantee, DeliveryGuarantee, call)
        require(
            given is not DeliveryGuarantee.EXACTLY_ONCE,
            "Elasticsearch sink does not support the EXACTLY_ONCE guarantee.",
        )
        return self._with(guarantee=given)

    def set_bulk_flush_max_actions(self, num_max_actions: int) -> Self:
        """Set at how many documents a request is sent; -1: at any number."""
        return self._count("num_max_actions", num_max_actions, 1, "max_actions")

    def set_bulk_flush_max_size_mb(self, max_size_mb: int) -> Self:
        """Set at how many MB a request is sent; -1: at any."""
        return self._count("max_size_mb", max_size_mb, 1, "max_size")

    def set_bulk_flush_interval(self, interval_millis: int) -> Self:
        """Set after how many ms a request is sent; -1: never for that reason."""
        return self._count("interval_millis", interval_millis, 0, "interval")

    def set_bulk_flush_backoff_strategy(
        self, flush_backoff_type: FlushBackoffType, max_retries: int, delay_millis: int
    ) -> Self:
        """Set when a request that failed is sent again.

        Args:
            flush_backoff_type: how the time to wait changes.
            max_retries: how often at most.
            delay_millis: the first time to wait, in ms.

        Raises:
            ValueError: there are no retries, or the time is negative.
        """
        call = "set_bulk_flush_backoff_strategy(flush_backoff_type, max_retries, delay_millis)"
        backoff = argument(flush_backoff_type, FlushBackoffType, call)
        require(
            argument(max_retries, int, call) > 0,
            "Max number of backoff attempts must be larger than 0.",
        )
        require(
            argument(delay_millis, int, call) >= 0,
            "Delay (in milliseconds) between each backoff attempt must be larger than or equal "
            "to 0.",
        )
        return self._with(backoff=backoff, max_retries=max_retries, backoff_delay=delay_millis)

    def set_connection_username(self, username: str) -> Self:
        """Set who connects."""
        return self._with(username=argument(username, str, "set_connection_username(username)"))

    def set_connection_password(self, password: str) -> Self:
        """Set the password."""
        return self._with(password=argument(password, str, "set_connection_password(password)"))

    def set_connection_path_prefix(self, prefix: str) -> Self:
        """Set what all paths begin with."""
        return self._with(path_prefix=argument(prefix, str, "set_connection_path_prefix(prefix)"))

    def set_connection_request_timeout(self, timeout: int) -> Self:
        """Set how long a connection of the pool may take, in ms."""
        call = "set_connection_request_timeout(timeout)"
        return self._with(request_timeout=argument(timeout, int, call))

    def set_connection_timeout(self, timeout: int) -> Self:
        """Set how long a connection may take, in ms."""
        call = "set_connection_timeout(timeout)"
        return self._with(connection_timeout=argument(timeout, int, call))

    def set_socket_timeout(self, timeout: int) -> Self:
        """Set how long an answer may take, in ms."""
        return self._with(socket_timeout=argument(timeout, int, "set_socket_timeout(timeout)"))

    def build(self) -> ElasticsearchSink:
        """Return the sink.

        Raises:
            ValueError: the emitter or the hosts are not set.
        """
        require(self._options.emitter is not None, "emitter is not set")
        require(self._options.hosts, "hosts are not set")
        return ElasticsearchSink(self._options)

    def _count(self, name: str, value: int, least: int, option: str) -> Self:
        given = argument(value, int, f"the setting {name}")
        require(given == -1 or given >= least, f"{name} must be -1 or at least {least}")
        return self._with(**{option: given})

    def _with(self, **changes: Any) -> Self:
        self._options = replace(self._options, **changes)
        return self


class Elasticsearch6SinkBuilder(ElasticsearchSinkBuilderBase):
    """Says how a sink writes to Elasticsearch 6."""

    def __init__(self):
        self._options = ElasticsearchWriting(6)

    @without_java_object("Give set_hosts the URLs.")
    def get_http_host_class(self):
        """Return the Java class of a host."""


class Elasticsearch7SinkBuilder(ElasticsearchSinkBuilderBase):
    """Says how a sink writes to Elasticsearch 7."""

    def __init__(self):
        self._options = ElasticsearchWriting(7)

    @without_java_object("Give set_hosts the URLs.")
    def get_http_host_class(self):
        """Return the Java class of a host."""


class ElasticsearchSink(Sink):
    """Writes documents; made with a builder.

    Args:
        j_elasticsearch_sink: what the sink was told.
    """

    _sink = connector_gap("Elasticsearch")

    def __init__(self, j_elasticsearch_sink):
        call = "ElasticsearchSink(j_elasticsearch_sink)"
        self._options = own_handle(j_elasticsearch_sink, ElasticsearchWriting, call)
        super().__init__(sink=j_elasticsearch_sink)


def _indexing(index: str, dynamic: bool, key_field: str | None, doc_type: str | None) -> Indexing:
    for name in (key_field, doc_type):
        if name is not None:
            argument(name, str, "ElasticsearchEmitter(index, key_field, doc_type)")
    call = "ElasticsearchEmitter(index, key_field, doc_type)"
    return Indexing(argument(index, str, call), dynamic, key_field, doc_type)


__getattr__ = missing_name(__name__)
