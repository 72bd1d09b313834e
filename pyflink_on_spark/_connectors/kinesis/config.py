"""The settings of a Kinesis source and of the sinks of data streams and Firehose."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class ShardAssignment(Enum):
    """The assignment of shards to subtasks.

    Attributes:
        BY_HASH: by the hash code of the shard.
        UNIFORM: by the middle of the shard's range of hash keys.
    """

    BY_HASH = "by hash"
    UNIFORM = "uniform"


@dataclass(frozen=True)
class WatermarkSharing:
    """The exchange of watermarks between subtasks.

    Args:
        name: the name of the shared aggregate.
        log_interval: the time between two log lines, in ms; -1 for none.
    """

    name: str
    log_interval: int


@dataclass(frozen=True)
class KinesisSourceConfig:
    """The settings of a FlinkKinesisConsumer.

    Args:
        streams: the names of the streams.
        deserializer: the deserialization schema of the records.
        properties: the properties of Flink's client, as the user set them.
        assignment: which subtask reads a shard.
        watermarks: the watermark assigner of each shard, or None.
        sharing: how subtasks share their watermarks, or None.
        whole_records: whether the deserializer gets a ``ShardRecord``, not only its data.
    """

    streams: tuple[str, ...]
    deserializer: Any
    properties: dict[str, str] = field(repr=False)
    assignment: ShardAssignment = ShardAssignment.BY_HASH
    watermarks: object = None
    sharing: WatermarkSharing | None = None
    whole_records: bool = False


@dataclass(frozen=True)
class ShardRecord:
    """A record and where it is from.

    Args:
        shard: the id of its shard.
        sequence_number: its place in the shard.
        arrived: the time of its arrival, in ms.
        data: its bytes.
    """

    shard: str
    sequence_number: str
    arrived: int
    data: bytes


class PartitionKeys(Enum):
    """The partition key of an element.

    Attributes:
        FIXED: the same for all elements of a subtask.
        RANDOM: a random one.
        OWN: the first part of the element, which is UTF-8.
    """

    FIXED = "fixed"
    RANDOM = "random"
    OWN = "own"


@dataclass(frozen=True)
class Batching:
    """The limits of a sink's batches.

    Args:
        elements: the largest number of elements in a request.
        in_bytes: the largest size of a request, in bytes.
        milliseconds: the longest time that an element is buffered, in ms.
        requests_in_flight: the largest number of requests without an answer.
        buffered: the largest number of buffered elements; a writer then blocks.
        element_bytes: the largest size of an element, in bytes; a larger one fails the job.
    """

    elements: int = 500
    in_bytes: int = 5 * 1024 * 1024
    milliseconds: int = 5000
    requests_in_flight: int = 50
    buffered: int = 10_000
    element_bytes: int = 1024 * 1024

    def check(self) -> None:
        """Raise ValueError if the numbers contradict each other."""
        for name, value in vars(self).items():
            if value <= 0:
                raise ValueError(f"{name} must be positive, not {value}")
        if self.buffered <= self.elements:
            raise ValueError(
                "The maximum number of requests that may be buffered should be strictly greater "
                "than the maximum number of requests per batch."
            )
        if self.in_bytes < self.element_bytes:
            raise ValueError(
                "The maximum allowed size in bytes per flush must be greater than or equal to the "
                "maximum allowed size in bytes of a single record."
            )


@dataclass(frozen=True)
class RequestSinkConfig:
    """The settings of a sink that sends elements in requests.

    Args:
        stream: the name of the stream.
        serializer: the serialization schema of the records.
        fail_on_error: whether a rejected record fails the job; otherwise it is sent again.
        batching: when buffered elements are sent.
        properties: the properties of Flink's client, as the user set them.
    """

    stream: str
    serializer: Any
    fail_on_error: bool
    batching: Batching
    properties: dict[str, str] = field(repr=False)


@dataclass(frozen=True)
class FirehoseSinkConfig(RequestSinkConfig):
    """The settings of a KinesisFirehoseSink; the stream is a delivery stream."""


@dataclass(frozen=True)
class StreamsSinkConfig(RequestSinkConfig):
    """The settings of a KinesisStreamsSink.

    Args:
        keys: the partition keys of the records.
    """

    keys: PartitionKeys
