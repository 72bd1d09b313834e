"""What the source and the sinks of Kinesis can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class ShardAssignment(Enum):
    """Which subtask reads a shard.

    Attributes:
        BY_HASH: the one that the shard's hash code says.
        UNIFORM: the one that the middle of the shard's range of keys says.
    """

    BY_HASH = "by hash"
    UNIFORM = "uniform"


@dataclass(frozen=True)
class WatermarkSharing:
    """How subtasks know each other's watermarks.

    Args:
        name: what they are known by.
        log_interval: the time between two log lines, in ms; -1: none.
    """

    name: str
    log_interval: int


@dataclass(frozen=True)
class KinesisReading:
    """What a FlinkKinesisConsumer was told.

    Args:
        streams: the streams' names.
        deserializer: what makes elements of records.
        properties: the client's properties, as they were given.
        assignment: which subtask reads a shard.
        watermarks: what makes watermarks for each shard, or None.
        sharing: how subtasks wait for each other, or None.
    """

    streams: tuple[str, ...]
    deserializer: Any
    properties: dict[str, str] = field(repr=False)
    assignment: ShardAssignment = ShardAssignment.BY_HASH
    watermarks: Any = None
    sharing: WatermarkSharing | None = None


class PartitionKeys(Enum):
    """Which partition key an element gets.

    Attributes:
        FIXED: the same for all elements of a subtask.
        RANDOM: any.
    """

    FIXED = "fixed"
    RANDOM = "random"


@dataclass(frozen=True)
class Batching:
    """When gathered elements become a request.

    Args:
        elements: at so many elements.
        in_bytes: at so many bytes.
        milliseconds: after so long.
        requests_in_flight: how many requests may wait for their answers.
        buffered: how many elements may wait; then writing waits.
        element_bytes: how many bytes an element may have; the job fails if one has more.
    """

    elements: int = 500
    in_bytes: int = 5 * 1024 * 1024
    milliseconds: int = 5000
    requests_in_flight: int = 50
    buffered: int = 10_000
    element_bytes: int = 1024 * 1024

    def check(self) -> None:
        """Raise ValueError if the numbers do not go together."""
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
class StreamsWriting:
    """What a KinesisStreamsSink was told.

    Args:
        stream: the stream's name.
        serializer: what makes records of elements.
        keys: which partition key an element gets.
        fail_on_error: whether the job fails when a record is refused.
        batching: when gathered elements become a request.
        properties: the client's properties, as they were given.
    """

    stream: str
    serializer: Any
    keys: PartitionKeys
    fail_on_error: bool
    batching: Batching
    properties: dict[str, str] = field(repr=False)


@dataclass(frozen=True)
class FirehoseWriting:
    """What a KinesisFirehoseSink was told.

    Args:
        stream: the delivery stream's name.
        serializer: what makes records of elements.
        fail_on_error: whether the job fails when a record is refused.
        batching: when gathered elements become a request.
        properties: the client's properties, as they were given.
    """

    stream: str
    serializer: Any
    fail_on_error: bool
    batching: Batching
    properties: dict[str, str] = field(repr=False)
