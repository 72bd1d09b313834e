"""The source that reads Kinesis data streams."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.formats.file_format import locating
from pyflink_on_spark._connectors.kinesis.client import (
    PATIENCE,
    KinesisError,
    code_of,
    errors,
    make_client,
    note_unused,
)
from pyflink_on_spark._connectors.kinesis.config import KinesisSourceConfig, ShardRecord
from pyflink_on_spark._connectors.kinesis.shards import (
    FUNCTION_STATE,
    START_PROPERTIES,
    ShardPosition,
    Start,
    initial_positions,
    new_positions,
    position_of_function,
    start_of,
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
        values: list[Any] = []
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


def _place(position: ShardPosition, record: dict[str, Any]) -> str:
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

    def positions_of_flink(self, found: FlinkSplits) -> list[Any]:
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
