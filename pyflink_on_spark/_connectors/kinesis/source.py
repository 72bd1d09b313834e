"""The source that reads Kinesis data streams, and their shards."""

from __future__ import annotations

import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.formats.file_format import locating
from pyflink_on_spark._connectors.kinesis.client import (
    PATIENCE,
    KinesisError,
    code_of,
    errors,
    make_client,
    note_unused,
)
from pyflink_on_spark._connectors.kinesis.config import (
    KinesisSourceConfig,
    ShardAssignment,
    ShardRecord,
)
from pyflink_on_spark._connectors.reachability import Reachability
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader
from pyflink_on_spark._runtime.elements.bundle import Bundle

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.connector import FlinkSplits
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


_MOST = "flink.shard.getrecords.maxrecordcount"
_INTERVAL = "flink.shard.getrecords.intervalmillis"
_DISCOVERY_INTERVAL = "flink.shard.discovery.intervalmillis"
READER_PROPERTIES = (_MOST, _INTERVAL, _DISCOVERY_INTERVAL)
"""The properties of Flink's client that a reader uses."""
_SECONDS_TO_WAIT = 0.01
_FIRST_PAUSE, _LONGEST_PAUSE = 1_000, 30_000
_AGGREGATED = b"\xf3\x89\x9a\xc2"
_THROTTLED = {
    "ProvisionedThroughputExceededException",
    "LimitExceededException",
    "KMSThrottlingException",
}
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


@dataclass
class _Shard:
    """A shard that is being read.

    Args:
        position: after the last emitted record.
        fetched: after the last fetched record.
        reachability: logs when AWS throttles the requests.
        iterator: for the next request, or None.
        due: the time of the next request, in ms.
        pause: the pause after a throttled request, in ms.
        waiting: fetched records that are not emitted.
        last: whether AWS has reported the end of the shard.
    """

    position: ShardPosition
    fetched: ShardPosition
    reachability: Reachability
    iterator: str | None = None
    due: int = 0
    pause: int = _FIRST_PAUSE
    waiting: deque[dict[str, Any]] = field(default_factory=deque)
    last: bool = False


class ShardsReader(SourceReader):
    """Reads the shards of one subtask, one after the other in turns.

    Args:
        config: the settings of the source.
        positions: the positions of all known shards; the subtask reads its own.
        context: the context of the subtask.
        pause: waits some seconds.
    """

    def __init__(
        self,
        config: KinesisSourceConfig,
        positions: Sequence[ShardPosition],
        context: OperatorContext,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._config, self._task, self._clock = config, context.task, context.clock
        self._pause = pause
        self._deserialize = config.deserializer._deserializer()
        properties = config.properties
        self._most = int(properties.get(_MOST, 10_000))
        self._interval = int(properties.get(_INTERVAL, 200))
        self._discovery_interval = int(properties.get(_DISCOVERY_INTERVAL, 10_000))
        now = self._clock.now()
        self._started = now / 1000
        self._next_discovery = now + self._discovery_interval
        self._discovery = Reachability("the list of Kinesis shards", PATIENCE)
        self._client = make_client("kinesis", properties)
        self._known = {position.key: position for position in positions}
        self._shards: deque[_Shard] = deque()
        for position in positions:
            self._add(position)

    def poll(self) -> Bundle | None:
        """Return the next records of one shard."""
        now = self._clock.now()
        if self._discovery_interval > 0 and now >= self._next_discovery:
            self._discover(now)
        for _ in range(len(self._shards)):
            shard = self._shards[0]
            self._shards.rotate(-1)
            if not shard.waiting and not shard.last and now >= shard.due:
                self._fetch(shard, now)
            if shard.waiting:
                return self._take(shard)
            if shard.last:
                self._end(shard)
        self._pause(_SECONDS_TO_WAIT)
        return None

    def snapshot(self) -> list[ShardPosition]:
        """Return the positions of the shards of this subtask."""
        return [self._saved(p) for p in self._known.values() if self._is_mine(p)]

    def close(self) -> None:
        for reachability in (self._discovery, *(shard.reachability for shard in self._shards)):
            reachability.close()
        self._client.close()

    def _saved(self, position: ShardPosition) -> ShardPosition:
        if position.start is Start.LATEST:
            # After a restart the latest record is a different one.
            return replace(position, start=Start.AT_TIMESTAMP, value=self._started)
        return position

    def _is_mine(self, position: ShardPosition) -> bool:
        task = self._task
        return position.owner(task.parallelism, self._config.assignment) == task.subtask_index

    def _add(self, position: ShardPosition) -> None:
        self._known[position.key] = position
        if self._is_mine(position) and position.start is not Start.ENDED:
            place = f"the shard {position.shard} of the Kinesis stream {position.stream!r}"
            self._shards.append(_Shard(position, position, Reachability(place, PATIENCE)))

    def _discover(self, now: int) -> None:
        """Look for shards that were created by a split or a merge."""
        self._next_discovery = now + self._discovery_interval
        try:
            found = list(new_positions(self._client, self._config, self._known))
        except KinesisError as error:
            if code_of(error.__cause__) not in _THROTTLED:
                raise
            self._discovery.lost(error)
            return
        self._discovery.found()
        for position in found:
            self._add(position)

    def _fetch(self, shard: _Shard, now: int) -> None:
        try:
            if shard.iterator is None:
                shard.iterator = shard.fetched.iterator(self._client)
                # When this iterator has expired, the latest record is a different one.
                shard.fetched = self._saved(shard.fetched)
            found = self._client.get_records(ShardIterator=shard.iterator, Limit=self._most)
        except errors() as error:
            self._recover(shard, error, now)
            return
        shard.reachability.found()
        shard.pause = _FIRST_PAUSE
        shard.iterator = found.get("NextShardIterator")
        shard.last = shard.iterator is None
        shard.due = now + self._interval
        if found["Records"]:
            shard.waiting.extend(found["Records"])
            shard.fetched = shard.fetched.after(found["Records"][-1]["SequenceNumber"])

    def _recover(self, shard: _Shard, error: Exception, now: int) -> None:
        """Prepare another request, or raise an error that is not transient."""
        code = code_of(error)
        if code == "ExpiredIteratorException":
            shard.iterator = None
        elif code in _THROTTLED:
            shard.reachability.lost(error)
            shard.due = now + shard.pause
            shard.pause = min(2 * shard.pause, _LONGEST_PAUSE)
        else:
            place = f"stream {shard.position.stream!r}, shard {shard.position.shard}"
            raise KinesisError(f"Kinesis, {place}: {error}") from error

    def _take(self, shard: _Shard) -> Bundle | None:
        values: list[object] = []
        timestamps: list[int | None] = []
        for _ in range(min(self.limit, len(shard.waiting))):
            record = shard.waiting[0]
            arrived = round(record["ApproximateArrivalTimestamp"].timestamp() * 1000)
            with locating(partial(_place, shard.position, record)):
                given: Any = _single_record(record["Data"])
                if self._config.whole_records:
                    number = record["SequenceNumber"]
                    given = ShardRecord(shard.position.shard, number, arrived, given)
                value = self._deserialize(given)
            shard.waiting.popleft()
            shard.position = shard.position.after(record["SequenceNumber"])
            if value is not None:
                values.append(value)
                timestamps.append(arrived)
        self._known[shard.position.key] = shard.position
        return Bundle(values, timestamps) if values else None

    def _end(self, shard: _Shard) -> None:
        self._known[shard.position.key] = replace(shard.position, start=Start.ENDED, value=None)
        self._shards.remove(shard)
        # The child shards exist by now.
        self._next_discovery = self._clock.now()


def _single_record(data: bytes) -> bytes:
    if data.startswith(_AGGREGATED):
        raise ValueError(
            "it is an aggregate of records, made by the Kinesis Producer Library; switch its "
            "aggregation off (AggregationEnabled = false)"
        )
    return data


def _place(position: ShardPosition, record: dict[str, object]) -> str:
    return (
        f"stream {position.stream!r}, shard {position.shard}, "
        f"sequence number {record['SequenceNumber']}"
    )


class StreamsSource(Source):
    """Reads streams; one subtask reads each shard. Timestamps are the times of arrival.

    Args:
        config: the settings of the source.

    Raises:
        ValueError: a property has an invalid value.
    """

    bounded = False
    timestamped = True

    def __init__(self, config: KinesisSourceConfig) -> None:
        start_of(config.properties)
        self._config = config
        self.produced_type = config.deserializer._produced_type()

    def splits(self, parallelism: int) -> list[list[ShardPosition]]:
        """Return all shards for each subtask, so that each subtask recognises new shards.

        Raises:
            KinesisError: a stream does not exist, or AWS does not answer.
        """
        note_unused(self._config.properties, {*START_PROPERTIES, *READER_PROPERTIES})
        with closing(make_client("kinesis", self._config.properties)) as client:
            return [initial_positions(client, self._config)] * parallelism

    def positions_of_flink(self, found: FlinkSplits) -> list[object]:
        if FUNCTION_STATE not in found.of_function:
            raise ValueError(
                "only positions of a FlinkKinesisConsumer are known, not those of newer sources"
            )
        start = start_of(self._config.properties)
        elements = found.of_function[FUNCTION_STATE]
        return [position_of_function(element, start) for element in elements]

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        found = {position.key: position for share in splits for position in share}
        if restored is not None:
            known = {position.key: position for position in restored}
            # Shards that were created while the job did not run are read from their beginning.
            new = {
                key: ShardPosition(p.stream, p.shard, p.middle, Start.TRIM_HORIZON)
                for key, p in found.items()
                if key not in known
            }
            found = new | known
        return ShardsReader(self._config, list(found.values()), context)


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


def position_of_function(element: object, start: tuple[Start, float | None]) -> ShardPosition:
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
) -> tuple[Start, object]:
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


def initial_positions(client: object, config: KinesisSourceConfig) -> list[ShardPosition]:
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
    client: object, config: KinesisSourceConfig, known: Mapping[tuple[str, str], object]
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
    shards: list[dict[str, object]] = []
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
