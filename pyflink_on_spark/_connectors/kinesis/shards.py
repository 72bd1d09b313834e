"""The shards of streams: which exist, which subtask reads each, where reading begins."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.kinesis.client import KinesisError, code_of, errors
from pyflink_on_spark._connectors.kinesis.config import KinesisSourceConfig, ShardAssignment

_POSITION = "flink.stream.initpos"
_PUBLISHER = "flink.stream.recordpublisher"
START_PROPERTIES = (
    _POSITION,
    f"{_POSITION}.timestamp",
    f"{_POSITION}.timestamp.format",
    _PUBLISHER,
)
"""The properties of Flink's client that set where reading begins."""

FUNCTION_STATE = "Kinesis-Stream-Shard-State"
"""The state in which a FlinkKinesisConsumer has its positions."""
_HASH_KEYS = 2**128
_JAVA_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"


class Start(Enum):
    """The position in a shard at which reading begins or resumes; the values are Kinesis's own."""

    LATEST = "LATEST"
    TRIM_HORIZON = "TRIM_HORIZON"
    AT_TIMESTAMP = "AT_TIMESTAMP"
    AFTER = "AFTER_SEQUENCE_NUMBER"
    ENDED = "ENDED"


@dataclass(frozen=True)
class ShardPosition:
    """The position of the reader in a shard.

    Args:
        stream: the name of the stream.
        shard: the id of the shard.
        middle: the middle of the shard's range of hash keys.
        start: where reading resumes.
        value: the timestamp (in s) or the sequence number for ``start``.
    """

    stream: str
    shard: str
    middle: int
    start: Start
    value: Any = None

    @property
    def key(self) -> tuple[str, str]:
        """The stream and the shard."""
        return self.stream, self.shard

    def after(self, sequence_number: str) -> ShardPosition:
        """Return the position after a record."""
        return replace(self, start=Start.AFTER, value=sequence_number)

    def owner(self, parallelism: int, assignment: ShardAssignment) -> int:
        """Return the index of the subtask that reads the shard."""
        if assignment is ShardAssignment.UNIFORM:
            return self.middle * parallelism // _HASH_KEYS
        return zlib.crc32(f"{self.stream} {self.shard}".encode()) % parallelism

    def iterator(self, client: Any) -> str:
        """Request an iterator that begins at this position."""
        arguments: dict[str, Any] = {}
        if self.start is Start.AT_TIMESTAMP:
            arguments["Timestamp"] = datetime.fromtimestamp(self.value, UTC)
        elif self.start is Start.AFTER:
            arguments["StartingSequenceNumber"] = self.value
        found = client.get_shard_iterator(
            StreamName=self.stream,
            ShardId=self.shard,
            ShardIteratorType=self.start.value,
            **arguments,
        )
        iterator: str = found["ShardIterator"]
        return iterator


def position_of_function(element: Any, start: tuple[Start, float | None]) -> ShardPosition:
    """Read an element of the state of a FlinkKinesisConsumer.

    Args:
        element: the shard, and the number of the last record read or what stands for it.
        start: where the source begins in a new job.

    Raises:
        ValueError: it is damaged, or the source here cannot begin there.
    """
    match element:
        case (
            {
                "streamName": str(stream),
                "shardId": str(shard),
                "startingHashKey": str(first),
                "endingHashKey": str(last),
            },
            (_, str(number), int(in_aggregate)),
        ) if first.isdecimal() and last.isdecimal():
            here, value = _start_of_function(stream, shard, number, in_aggregate, start)
            return ShardPosition(stream, shard, (int(first) + int(last)) // 2, here, value)
    raise ValueError(f"the position {element!r} of a FlinkKinesisConsumer is damaged")


def _start_of_function(
    stream: str, shard: str, number: str, in_aggregate: int, start: tuple[Start, float | None]
) -> tuple[Start, Any]:
    where = f"the shard {shard} of the Kinesis stream {stream!r}"
    if number == "AT_TIMESTAMP_SEQUENCE_NUM":
        if start[0] is not Start.AT_TIMESTAMP:
            raise ValueError(f"{where} was to be read from a time, which only {_POSITION} can say")
        return start
    if number in _SENTINELS:
        return _SENTINELS[number], None
    if not number.isdecimal():
        raise ValueError(f"{where} has the position {number!r}, which is not known")
    if in_aggregate >= 0:
        raise ValueError(f"{where} has aggregates of records, which this package does not read")
    return Start.AFTER, number


_SENTINELS = {
    "LATEST_SEQUENCE_NUM": Start.LATEST,
    "EARLIEST_SEQUENCE_NUM": Start.TRIM_HORIZON,
    "SHARD_ENDING_SEQUENCE_NUM": Start.ENDED,
}


def initial_positions(client: Any, config: KinesisSourceConfig) -> list[ShardPosition]:
    """Return where reading begins in each shard of all streams.

    Raises:
        KinesisError: a stream does not exist, or AWS does not answer.
    """
    start, value = start_of(config.properties)
    positions = []
    for stream in config.streams:
        for shard in list_shards(client, stream):
            closed = "EndingSequenceNumber" in shard["SequenceNumberRange"]
            # A shard that was split or merged gets no new records.
            here = Start.ENDED if closed and start is Start.LATEST else start
            positions.append(_position(stream, shard, here, value))
    return positions


def new_positions(
    client: Any, config: KinesisSourceConfig, known: Mapping[tuple[str, str], Any]
) -> Iterator[ShardPosition]:
    """Yield the shards that are not known; they are read from their beginning."""
    for stream in config.streams:
        for shard in list_shards(client, stream):
            if (stream, shard["ShardId"]) not in known:
                yield _position(stream, shard, Start.TRIM_HORIZON, None)


def list_shards(client: Any, stream: str) -> list[dict[str, Any]]:
    """Return AWS's descriptions of a stream's shards.

    Raises:
        KinesisError: a stream does not exist, or AWS does not answer.
    """
    shards: list[dict[str, Any]] = []
    request = {"StreamName": stream}
    try:
        while True:
            found = client.list_shards(**request)
            shards += found["Shards"]
            if not found.get("NextToken"):
                return shards
            request = {"NextToken": found["NextToken"]}
    except errors() as error:
        if code_of(error) == "ResourceNotFoundException":
            raise KinesisError(f"there is no Kinesis stream {stream!r}") from error
        raise KinesisError(f"Kinesis, stream {stream!r}: {error}") from error


def start_of(properties: Mapping[str, str]) -> tuple[Start, float | None]:
    """Return where reading begins, and its timestamp in s.

    Raises:
        ValueError: a property has an invalid value.
        UnsupportedFlinkFeature: the properties ask for enhanced fan-out.
    """
    if properties.get(_PUBLISHER, "POLLING") != "POLLING":
        raise_unsupported(
            f"{_PUBLISHER} = EFO",
            kind=Gap.NOT_YET,
            reason="records are polled, and enhanced fan-out pushes them",
            instead="Leave the property out, or set it to POLLING.",
        )
    name = properties.get(_POSITION, Start.LATEST.value)
    if name not in {"LATEST", "TRIM_HORIZON", "AT_TIMESTAMP"}:
        raise ValueError(f"{_POSITION} is LATEST, TRIM_HORIZON or AT_TIMESTAMP, not {name}")
    start = Start(name)
    if start is not Start.AT_TIMESTAMP:
        return start, None
    return start, _timestamp(properties)


def _timestamp(properties: Mapping[str, str]) -> float:
    key = f"{_POSITION}.timestamp"
    text = properties.get(key)
    if text is None:
        raise ValueError(f"{_POSITION} is AT_TIMESTAMP, but {key} is not set")
    if properties.get(f"{key}.format", _JAVA_FORMAT) != _JAVA_FORMAT:
        raise_unsupported(
            f"{key}.format",
            kind=Gap.NOT_YET,
            reason="this package reads no Java date patterns",
            instead="Write the timestamp in ISO 8601, or in seconds since 1970.",
        )
    try:
        seconds = float(text)
    except ValueError:
        pass
    else:
        if seconds < 0:
            raise ValueError(f"{key} must not be negative: {text}")
        return seconds
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError(f"{key} is seconds since 1970 or ISO 8601 with a zone, not {text!r}")
    return moment.timestamp()


def _position(
    stream: str, shard: Mapping[str, Any], start: Start, value: float | None
) -> ShardPosition:
    keys = shard["HashKeyRange"]
    middle = (int(keys["StartingHashKey"]) + int(keys["EndingHashKey"])) // 2
    return ShardPosition(stream, shard["ShardId"], middle, start, value)
