"""The settings that the builders of both sinks have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from pyflink_on_spark._connectors.kinesis.config import Batching
from pyflink_on_spark.common import SerializationSchema
from pyflink_on_spark.datastream.connectors._arguments import (
    argument,
    properties_argument,
)


class RequestSinkBuilder:
    """Configures a sink that sends elements in requests.

    Args:
        batching: the default limits of requests.
    """

    def __init__(self, batching: Batching) -> None:
        self._batching = batching
        self._serializer: SerializationSchema | None = None
        self._fail_on_error = False
        self._properties: dict[str, str] = {}

    def set_serialization_schema(self, serialization_schema: SerializationSchema) -> Self:
        """Set the serializer of the records."""
        call = "set_serialization_schema(serialization_schema)"
        self._serializer = argument(serialization_schema, SerializationSchema, call)
        return self

    def set_fail_on_error(self, fail_on_error: bool) -> Self:
        """Set whether a rejected record fails the job; by default it is sent again."""
        self._fail_on_error = argument(fail_on_error, bool, "set_fail_on_error(fail_on_error)")
        return self

    def set_max_batch_size(self, max_batch_size: int) -> Self:
        """Set the largest number of elements in a request."""
        return self._batch(elements=max_batch_size)

    def set_max_in_flight_requests(self, max_in_flight_requests: int) -> Self:
        """Set the largest number of requests without an answer.

        On Spark: no effect; a subtask sends one request at a time.
        """
        return self._batch(requests_in_flight=max_in_flight_requests)

    def set_max_buffered_requests(self, max_buffered_requests: int) -> Self:
        """Set the largest number of buffered elements.

        On Spark: no effect; a subtask blocks while it sends a request.
        """
        return self._batch(buffered=max_buffered_requests)

    def set_max_batch_size_in_bytes(self, max_batch_size_in_bytes: int) -> Self:
        """Set the largest size of a request, in bytes."""
        return self._batch(in_bytes=max_batch_size_in_bytes)

    def set_max_time_in_buffer_ms(self, max_time_in_buffer_ms: int) -> Self:
        """Set the longest time that an element is buffered, in ms."""
        return self._batch(milliseconds=max_time_in_buffer_ms)

    def set_max_record_size_in_bytes(self, max_record_size_in_bytes: int) -> Self:
        """Set the largest size of an element, in bytes; a larger one fails the job."""
        return self._batch(element_bytes=max_record_size_in_bytes)

    def _batch(self, **changes: int) -> Self:
        for name, value in changes.items():
            argument(value, int, f"the maximum of {name}")
        self._batching = replace(self._batching, **changes)
        return self

    def _checked_serializer(self, kind: str) -> SerializationSchema:
        if self._serializer is None:
            raise ValueError(f"No SerializationSchema was supplied to the {kind} builder.")
        return self._serializer

    def _set_properties(self, properties: dict[str, str], call: str) -> Self:
        self._properties = properties_argument(properties, call)
        return self
