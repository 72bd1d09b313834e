# mypy: disable-error-code="empty-body"
"""Elasticsearch's indices as sinks: names and signatures only, for there is no client yet."""

from __future__ import annotations

import abc  # noqa: F401 - scripts import it from PyFlink's module by accident
from enum import Enum
from typing import Self

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.datastream._java_gaps import without_java_object
from pyflink_on_spark.datastream.connectors._not_yet import without_client
from pyflink_on_spark.datastream.connectors.base import DeliveryGuarantee, Sink

__all__ = [
    "FlushBackoffType",
    "ElasticsearchEmitter",
    "Elasticsearch6SinkBuilder",
    "Elasticsearch7SinkBuilder",
    "ElasticsearchSink",
]

_not_yet = without_client("Elasticsearch")


class FlushBackoffType(Enum):
    """The growth of the time before a failed request is sent again."""

    # The tuples are PyFlink's values.
    CONSTANT = (0,)
    EXPONENTIAL = (1,)
    NONE = (2,)


@_not_yet
class ElasticsearchEmitter:
    """Makes documents of maps."""

    def __init__(self, j_emitter): ...

    @staticmethod
    def static_index(
        index: str, key_field: str | None = None, doc_type: str | None = None
    ) -> ElasticsearchEmitter: ...

    @staticmethod
    def dynamic_index(
        index_field: str, key_field: str | None = None, doc_type: str | None = None
    ) -> ElasticsearchEmitter: ...


@_not_yet
class ElasticsearchSinkBuilderBase:
    """Configures a sink."""

    def __init__(self): ...

    @without_java_object("Give set_hosts the URLs.")
    def get_http_host_class(self): ...

    def set_emitter(self, emitter: ElasticsearchEmitter) -> Self: ...

    def set_hosts(self, hosts: str | list[str]) -> Self: ...

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self: ...

    def set_bulk_flush_max_actions(self, num_max_actions: int) -> Self: ...

    def set_bulk_flush_max_size_mb(self, max_size_mb: int) -> Self: ...

    def set_bulk_flush_interval(self, interval_millis: int) -> Self: ...

    def set_bulk_flush_backoff_strategy(
        self, flush_backoff_type: FlushBackoffType, max_retries: int, delay_millis: int
    ) -> Self: ...

    def set_connection_username(self, username: str) -> Self: ...

    def set_connection_password(self, password: str) -> Self: ...

    def set_connection_path_prefix(self, prefix: str) -> Self: ...

    def set_connection_request_timeout(self, timeout: int) -> Self: ...

    def set_connection_timeout(self, timeout: int) -> Self: ...

    def set_socket_timeout(self, timeout: int) -> Self: ...

    def build(self) -> ElasticsearchSink: ...


class Elasticsearch6SinkBuilder(ElasticsearchSinkBuilderBase):
    """Configures a sink of Elasticsearch 6."""


class Elasticsearch7SinkBuilder(ElasticsearchSinkBuilderBase):
    """Configures a sink of Elasticsearch 7."""


@_not_yet
class ElasticsearchSink(Sink):
    """Writes documents."""

    def __init__(self, j_elasticsearch_sink): ...


__getattr__ = missing_name(__name__)
