"""The sinks that write to a Kinesis data stream or a Firehose delivery stream."""

from __future__ import annotations

import random
import time
import uuid
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.formats.written_types import check_written
from pyflink_on_spark._connectors.kinesis.client import (
    PATIENCE,
    KinesisError,
    code_of,
    errors,
    make_client,
    note_unused,
)
from pyflink_on_spark._connectors.kinesis.config import (
    FirehoseSinkConfig,
    PartitionKeys,
    RequestSinkConfig,
    StreamsSinkConfig,
)
from pyflink_on_spark._connectors.reachability import Reachability
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation


_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_LONGEST_KEY = 256
_THROTTLED = {
    "ProvisionedThroughputExceededException",
    "LimitExceededException",
    "ServiceUnavailableException",
    "InternalFailure",
}

Record = dict[str, Any]
Rejection = tuple[str, str]
Pause = Callable[[float], None]


class _RequestWriter(SinkWriter):
    """Buffers records, sends them in requests, and sends rejected records again.

    Args:
        service: the service of the client.
        config: the settings of the sink.
        context: the context of the subtask; its clock limits the time that a record is buffered.
        pause: waits some seconds before a request is sent again.
    """

    def __init__(
        self,
        service: str,
        config: RequestSinkConfig,
        context: OperatorContext,
        pause: Pause = time.sleep,
    ) -> None:
        self._config, self._batching = config, config.batching
        self._serialize = config.serializer._serializer()
        self._now, self._pause = context.clock.now, pause
        note_unused(config.properties)
        self._client = make_client(service, config.properties)
        self._reachability = Reachability(f"the {service} stream {config.stream!r}", PATIENCE)
        self._records: deque[Record] = deque()
        self._size = 0
        self._due: int | None = None

    @abstractmethod
    def record(self, element: object, data: bytes) -> Record:
        """Return the record of an element, as a request contains it."""

    @abstractmethod
    def request(self, records: list[Record]) -> list[Rejection | None]:
        """Send a request; return why each record was rejected, or None."""

    def write(self, elements: Iterator[object]) -> None:
        limits, serialize = self._batching, self._serialize
        for value in elements:
            data = serialize(value)
            if data is None:
                continue
            if len(data) > limits.element_bytes:
                raise ValueError(
                    f"an element has {len(data)} bytes, more than the "
                    f"{limits.element_bytes} that set_max_record_size_in_bytes allows"
                )
            self._records.append(self.record(value, data))
            self._size += len(data)
            if len(self._records) >= limits.elements or self._size >= limits.in_bytes:
                self._send()
        if self._records and self._due is None:
            self._due = self._now() + limits.milliseconds

    def advance_processing_time(self, now: int) -> None:
        """Send all records once one has been buffered for too long."""
        if self._due is not None and now >= self._due:
            self._flush()

    def next_processing_time(self) -> int | None:
        """Return when the buffered records are sent."""
        return self._due

    def prepare_commit(self) -> list[object]:
        self._flush()
        return []

    def close(self) -> None:
        self._reachability.close()
        self._client.close()

    def _flush(self) -> None:
        while self._records:
            self._send()

    def _send(self) -> None:
        """Send one request, and its rejected records again."""
        records = self._next_request()
        pause = _FIRST_PAUSE
        while records:
            records = self._rejected(records)
            if records:
                self._pause(pause * random.uniform(0.5, 1))
                pause = min(pause * 2, _LONGEST_PAUSE)
        self._reachability.found()
        if not self._records:
            self._due = None

    def _next_request(self) -> list[Record]:
        records: list[Record] = []
        size = 0
        while self._records and len(records) < self._batching.elements:
            length = len(self._records[0]["Data"])
            if records and size + length > self._batching.in_bytes:
                break
            records.append(self._records.popleft())
            size += length
        self._size -= size
        return records

    def _rejected(self, records: list[Record]) -> list[Record]:
        """Send records; return those to send again."""
        try:
            reasons = self.request(records)
        except errors() as error:
            if code_of(error) not in _THROTTLED or self._config.fail_on_error:
                raise KinesisError(f"{self._config.stream}: {error}") from error
            self._reachability.lost(error)
            return records
        rejected = [reason for reason in reasons if reason is not None]
        if not rejected:
            return []
        text = f"{len(rejected)} of {len(records)} records refused: {': '.join(rejected[0])}"
        if self._config.fail_on_error:
            raise KinesisError(f"{self._config.stream}: {text}")
        self._reachability.lost(text)
        return [record for record, reason in zip(records, reasons) if reason is not None]


class StreamsWriter(_RequestWriter):
    """Writes to a data stream."""

    def __init__(
        self, config: StreamsSinkConfig, context: OperatorContext, pause: Pause = time.sleep
    ) -> None:
        super().__init__("kinesis", config, context, pause)
        self._key_of = _key_of(config.keys, context.task.subtask_index)

    def record(self, element: object, data: bytes) -> Record:
        return {"Data": data, "PartitionKey": self._key_of(element)}

    def request(self, records: list[Record]) -> list[Rejection | None]:
        answer = self._client.put_records(StreamName=self._config.stream, Records=records)
        return [_rejection(record) for record in answer["Records"]]


class FirehoseWriter(_RequestWriter):
    """Writes to a delivery stream."""

    def __init__(
        self, config: FirehoseSinkConfig, context: OperatorContext, pause: Pause = time.sleep
    ) -> None:
        super().__init__("firehose", config, context, pause)

    def record(self, element: object, data: bytes) -> Record:
        return {"Data": data}

    def request(self, records: list[Record]) -> list[Rejection | None]:
        answer = self._client.put_record_batch(
            DeliveryStreamName=self._config.stream, Records=records
        )
        return [_rejection(record) for record in answer["RequestResponses"]]


def _key_of(keys: PartitionKeys, subtask_index: int) -> Callable[[Any], str]:
    """Return the function from an element to its partition key."""
    if keys is PartitionKeys.OWN:
        return lambda element: element[0].decode()[:_LONGEST_KEY]
    if keys is PartitionKeys.FIXED:
        return lambda element: str(subtask_index)
    return lambda element: uuid.uuid4().hex


def _rejection(answer: Record) -> Rejection | None:
    code = answer.get("ErrorCode")
    return None if not code else (code, answer.get("ErrorMessage") or "no reason given")


class _RequestSink(Sink):
    """A sink that sends elements in requests.

    Args:
        config: the settings of the sink.
    """

    def __init__(self, config: RequestSinkConfig) -> None:
        self._config: Any = config

    def with_input_type(self, type_info: TypeInformation | None) -> Sink:
        """Check that the schema can serialize the elements.

        Raises:
            TypeError: the schema cannot serialize the elements of such a stream.
        """
        check_written(self._config.serializer, type_info)
        return self


class StreamsSink(_RequestSink):
    """Writes each element as a record of a data stream, at least once."""

    def writer(self, context: OperatorContext) -> SinkWriter:
        return StreamsWriter(self._config, context)


class FirehoseSink(_RequestSink):
    """Writes each element as a record of a delivery stream, at least once."""

    def writer(self, context: OperatorContext) -> SinkWriter:
        return FirehoseWriter(self._config, context)
