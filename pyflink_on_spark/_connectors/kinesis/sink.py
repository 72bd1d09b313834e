"""The sinks that write to a Kinesis data stream or a Firehose delivery stream."""

from __future__ import annotations

import logging
import random
import time
import uuid
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.connector import Sink, SinkWriter
from pyflink_on_spark._connectors.kinesis.client import (
    KinesisError,
    code_of,
    errors,
    make_client,
    note_unused,
)
from pyflink_on_spark._connectors.kinesis.options import (
    FirehoseWriting,
    PartitionKeys,
    StreamsWriting,
)
from pyflink_on_spark._connectors.formats.written_types import check_written

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

_log = logging.getLogger(__name__)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_THROTTLED = {
    "ProvisionedThroughputExceededException",
    "LimitExceededException",
    "ServiceUnavailableException",
    "InternalFailure",
}

Record = dict[str, Any]
Refusal = tuple[str, str]
Pause = Callable[[float], None]


class _RequestingSink(Sink):
    """What both sinks have in common.

    Args:
        writing: what it was told.
    """

    def __init__(self, writing: StreamsWriting | FirehoseWriting) -> None:
        self._writing: Any = writing

    def with_input_type(self, type_info: Any) -> Sink:
        """Return itself; raise TypeError if the serializer cannot write such a stream."""
        check_written(self._writing.serializer, type_info)
        return self


class StreamsSink(_RequestingSink):
    """Writes each element as a record of a data stream, at least once."""

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return the writer of one subtask."""
        return StreamsWriter(self._writing, context)


class FirehoseSink(_RequestingSink):
    """Writes each element as a record of a delivery stream, at least once."""

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return the writer of one subtask."""
        return FirehoseWriter(self._writing, context)


class _RequestingWriter(SinkWriter):
    """Gathers records into requests, and sends again what was refused.

    Args:
        service: the client's.
        writing: what the sink was told.
        context: its clock says when a record has waited for long enough.
        pause: waits some seconds before a request is sent again.
    """

    def __init__(
        self,
        service: str,
        writing: StreamsWriting | FirehoseWriting,
        context: OperatorContext,
        pause: Pause = time.sleep,
    ) -> None:
        self._writing, self._batching = writing, writing.batching
        self._serialize = writing.serializer._serializer()
        self._now, self._pause = context.clock.now, pause
        note_unused(writing.properties)
        self._client = make_client(service, writing.properties)
        self._records: deque[Record] = deque()
        self._size = 0
        self._due: int | None = None

    @abstractmethod
    def record(self, data: bytes) -> Record:
        """Return what stands for an element in a request."""

    @abstractmethod
    def request(self, records: list[Record]) -> list[Refusal | None]:
        """Send a request; return for each record why it was refused, or None."""

    def write(self, elements: Iterator[Any]) -> None:
        limits = self._batching
        for data in map(self._serialize, elements):
            if data is None:
                continue
            if len(data) > limits.element_bytes:
                raise ValueError(
                    f"an element has {len(data)} bytes, more than the "
                    f"{limits.element_bytes} that set_max_record_size_in_bytes allows"
                )
            self._records.append(self.record(data))
            self._size += len(data)
            if len(self._records) >= limits.elements or self._size >= limits.in_bytes:
                self._send()
        if self._records and self._due is None:
            self._due = self._now() + limits.milliseconds

    def advance_processing_time(self, now: int) -> None:
        """Send what has waited for long enough."""
        if self._due is not None and now >= self._due:
            self._flush()

    def prepare_commit(self) -> list[Any]:
        """Send all that waits."""
        self._flush()
        return []

    def close(self) -> None:
        self._client.close()

    def _flush(self) -> None:
        while self._records:
            self._send()

    def _send(self) -> None:
        """Send one request, and again what was refused of it."""
        records = self._next_request()
        pause = _FIRST_PAUSE
        while records:
            records = self._refused(records)
            if records:
                self._pause(pause * random.uniform(0.5, 1))
                pause = min(pause * 2, _LONGEST_PAUSE)
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

    def _refused(self, records: list[Record]) -> list[Record]:
        """Send records; return those to send again."""
        try:
            reasons = self.request(records)
        except errors() as error:
            if code_of(error) not in _THROTTLED or self._writing.fail_on_error:
                raise KinesisError(f"{self._writing.stream}: {error}") from error
            _log.warning("%s: %s", self._writing.stream, error)
            return records
        refused = [reason for reason in reasons if reason is not None]
        if not refused:
            return []
        text = f"{len(refused)} of {len(records)} records refused: {': '.join(refused[0])}"
        if self._writing.fail_on_error:
            raise KinesisError(f"{self._writing.stream}: {text}")
        _log.warning("%s: %s", self._writing.stream, text)
        return [record for record, reason in zip(records, reasons) if reason is not None]


class StreamsWriter(_RequestingWriter):
    """Writes to a data stream."""

    def __init__(
        self, writing: StreamsWriting, context: OperatorContext, pause: Pause = time.sleep
    ) -> None:
        super().__init__("kinesis", writing, context, pause)
        fixed = writing.keys is PartitionKeys.FIXED
        self._key = str(context.task.subtask_index) if fixed else None

    def record(self, data: bytes) -> Record:
        return {"Data": data, "PartitionKey": self._key or uuid.uuid4().hex}

    def request(self, records: list[Record]) -> list[Refusal | None]:
        answer = self._client.put_records(StreamName=self._writing.stream, Records=records)
        return [_refusal(record) for record in answer["Records"]]


class FirehoseWriter(_RequestingWriter):
    """Writes to a delivery stream."""

    def __init__(
        self, writing: FirehoseWriting, context: OperatorContext, pause: Pause = time.sleep
    ) -> None:
        super().__init__("firehose", writing, context, pause)

    def record(self, data: bytes) -> Record:
        return {"Data": data}

    def request(self, records: list[Record]) -> list[Refusal | None]:
        answer = self._client.put_record_batch(
            DeliveryStreamName=self._writing.stream, Records=records
        )
        return [_refusal(record) for record in answer["RequestResponses"]]


def _refusal(answer: Record) -> Refusal | None:
    code = answer.get("ErrorCode")
    return None if not code else (code, answer.get("ErrorMessage") or "no reason given")
