"""The shards of streams: which there are, who reads them, where to begin."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.kinesis.client import KinesisError, code_of, errors
from pyflink_on_spark._connectors.kinesis.options import KinesisReading, ShardAssignment

_POSITION = "flink.stream.initpos"
_PUBLISHER = "flink.stream.recordpublisher"
READ_BY_BEGINNING = (
    _POSITION,
    f"{_POSITION}.timestamp",
    f"{_POSITION}.timestamp.format",
    _PUBLISHER,
)
_HASH_KEYS = 2**128
_JAVA_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"


class Begin(Enum):
    """Where to go on in a shard; the values are Kinesis's."""

    LATEST = "LATEST"
    TRIM_HORIZON = "TRIM_HORIZON"
    AT_TIMESTAMP = "AT_TIMESTAMP"
    AFTER = "AFTER_SEQUENCE_NUMBER"
    ENDED = "ENDED"


@dataclass(frozen=True)
class ShardPosition:
    """How far a shard is read.

    Args:
        stream: the stream's name.
        shard: the shard's id.
        middle: of its range of hash keys.
        begin: where to go on.
        value: the timestamp (in s) or the sequence number that belongs to that.
    """

    stream: str
    shard: str
    middle: int
    begin: Begin
    value: Any = None

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others."""
        return self.stream, self.shard

    def after(self, sequence_number: str) -> ShardPosition:
        """Return the position behind a record."""
        return replace(self, begin=Begin.AFTER, value=sequence_number)

    def owner(self, parallelism: int, assignment: ShardAssignment) -> int:
        """Return which subtask reads it."""
        if assignment is ShardAssignment.UNIFORM:
            return self.middle * parallelism // _HASH_KEYS
        return zlib.crc32(f"{self.stream} {self.shard}".encode()) % parallelism

    def iterator(self, client: Any) -> str:
        """Ask for an iterator that begins here."""
        arguments: dict[str, Any] = {}
        if self.begin is Begin.AT_TIMESTAMP:
            arguments["Timestamp"] = datetime.fromtimestamp(self.value, UTC)
        elif self.begin is Begin.AFTER:
            arguments["StartingSequenceNumber"] = self.value
        found = client.get_shard_iterator(
            StreamName=self.stream,
            ShardId=self.shard,
            ShardIteratorType=self.begin.value,
            **arguments,
        )
        iterator: str = found["ShardIterator"]
        return iterator


def initial_positions(client: Any, reading: KinesisReading) -> list[ShardPosition]:
    """Return the shards of all streams, and where to begin in each.

    Raises:
        KinesisError: there is no such stream, or AWS does not answer.
    """
    begin, value = beginning(reading.properties)
    positions = []
    for stream in reading.streams:
        for shard in list_shards(client, stream):
            closed = "EndingSequenceNumber" in shard["SequenceNumberRange"]
            # Nothing new can be in a shard that was split or merged before.
            here = Begin.ENDED if closed and begin is Begin.LATEST else begin
            positions.append(_position(stream, shard, here, value))
    return positions


def new_positions(
    client: Any, reading: KinesisReading, known: Mapping[tuple[str, str], Any]
) -> Iterator[ShardPosition]:
    """Yield the shards that came up since: they are read from their beginning."""
    for stream in reading.streams:
        for shard in list_shards(client, stream):
            if (stream, shard["ShardId"]) not in known:
                yield _position(stream, shard, Begin.TRIM_HORIZON, None)


def list_shards(client: Any, stream: str) -> list[dict[str, Any]]:
    """Return what AWS tells of a stream's shards.

    Raises:
        KinesisError: there is no such stream, or AWS does not answer.
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


def beginning(properties: Mapping[str, str]) -> tuple[Begin, float | None]:
    """Return where to begin, and the timestamp that belongs to it (in s).

    Raises:
        ValueError: a property cannot be read.
        UnsupportedFlinkFeature: records are to be pushed, not asked for.
    """
    if properties.get(_PUBLISHER, "POLLING") != "POLLING":
        raise_unsupported(
            f"{_PUBLISHER} = EFO",
            kind=Gap.NOT_YET,
            reason="records are asked for, not pushed",
            instead="Leave the property out, or set it to POLLING.",
        )
    name = properties.get(_POSITION, Begin.LATEST.value)
    if name not in {"LATEST", "TRIM_HORIZON", "AT_TIMESTAMP"}:
        raise ValueError(f"{_POSITION} is LATEST, TRIM_HORIZON or AT_TIMESTAMP, not {name}")
    begin = Begin(name)
    if begin is not Begin.AT_TIMESTAMP:
        return begin, None
    return begin, _timestamp(properties)


def _timestamp(properties: Mapping[str, str]) -> float:
    key = f"{_POSITION}.timestamp"
    text = properties.get(key)
    if text is None:
        raise ValueError(f"{_POSITION} is AT_TIMESTAMP, but {key} is not set")
    if properties.get(f"{key}.format", _JAVA_FORMAT) != _JAVA_FORMAT:
        raise_unsupported(
            f"{key}.format",
            kind=Gap.NOT_YET,
            reason="Java's patterns of dates are not read",
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
    stream: str, shard: Mapping[str, Any], begin: Begin, value: float | None
) -> ShardPosition:
    keys = shard["HashKeyRange"]
    middle = (int(keys["StartingHashKey"]) + int(keys["EndingHashKey"])) // 2
    return ShardPosition(stream, shard["ShardId"], middle, begin, value)
