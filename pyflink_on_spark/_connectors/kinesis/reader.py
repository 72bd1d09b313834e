"""One subtask's end of a Kinesis source."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import Bundle
from pyflink_on_spark._runtime.connector import SourceReader
from pyflink_on_spark._connectors.kinesis.client import (
    KinesisError,
    code_of,
    errors,
    make_client,
)
from pyflink_on_spark._connectors.kinesis.options import KinesisReading
from pyflink_on_spark._connectors.kinesis.shards import Begin, ShardPosition, new_positions
from pyflink_on_spark._connectors.formats.corrupt import locating

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

_log = logging.getLogger(__name__)
_MOST = "flink.shard.getrecords.maxrecordcount"
_INTERVAL = "flink.shard.getrecords.intervalmillis"
_BETWEEN_LOOKS = "flink.shard.discovery.intervalmillis"
READ_BY_READER = (_MOST, _INTERVAL, _BETWEEN_LOOKS)
_SECONDS_TO_WAIT = 0.01
_AFTER_THROTTLING = 1000
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
        position: behind what was handed on.
        asked: behind what was read from AWS.
        iterator: for the next request, or None.
        due: when to ask again, in ms.
        waiting: records that were not handed on.
        last: whether AWS has told that nothing follows.
    """

    position: ShardPosition
    asked: ShardPosition
    iterator: str | None = None
    due: int = 0
    waiting: deque[dict[str, Any]] = field(default_factory=deque)
    last: bool = False


class ShardsReader(SourceReader):
    """Reads shards in turns.

    Args:
        reading: what the source was told.
        positions: of all shards that are known; this subtask reads its own.
        context: the subtask's.
        pause: waits some seconds.
    """

    def __init__(
        self,
        reading: KinesisReading,
        positions: Sequence[ShardPosition],
        context: OperatorContext,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._reading, self._task, self._clock = reading, context.task, context.clock
        self._pause = pause
        self._deserialize = reading.deserializer._deserializer()
        properties = reading.properties
        self._most = int(properties.get(_MOST, 10_000))
        self._interval = int(properties.get(_INTERVAL, 200))
        self._between_looks = int(properties.get(_BETWEEN_LOOKS, 10_000))
        now = self._clock.now()
        self._started = now / 1000
        self._next_look = now + self._between_looks
        self._client = make_client("kinesis", properties)
        self._known = {position.key: position for position in positions}
        self._shards: deque[_Shard] = deque()
        for position in positions:
            self._add(position)

    def poll(self) -> Bundle | None:
        """Return the next records of a shard."""
        now = self._clock.now()
        if self._between_looks > 0 and now >= self._next_look:
            self._look(now)
        for _ in range(len(self._shards)):
            shard = self._shards[0]
            self._shards.rotate(-1)
            if not shard.waiting and not shard.last and now >= shard.due:
                self._ask(shard, now)
            if shard.waiting:
                return self._take(shard)
            if shard.last:
                self._end(shard)
        self._pause(_SECONDS_TO_WAIT)
        return None

    def snapshot(self) -> list[ShardPosition]:
        """Return how far each of this subtask's shards is read."""
        return [self._saved(p) for p in self._known.values() if self._is_mine(p)]

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _saved(self, position: ShardPosition) -> ShardPosition:
        if position.begin is Begin.LATEST:
            # The latest is then another one.
            return replace(position, begin=Begin.AT_TIMESTAMP, value=self._started)
        return position

    def _is_mine(self, position: ShardPosition) -> bool:
        task = self._task
        return position.owner(task.parallelism, self._reading.assignment) == task.subtask_index

    def _add(self, position: ShardPosition) -> None:
        self._known[position.key] = position
        if self._is_mine(position) and position.begin is not Begin.ENDED:
            self._shards.append(_Shard(position, position))

    def _look(self, now: int) -> None:
        """Look for shards that came up because others were split or merged."""
        self._next_look = now + self._between_looks
        try:
            found = list(new_positions(self._client, self._reading, self._known))
        except KinesisError as error:
            if code_of(error.__cause__) not in _THROTTLED:
                raise
            _log.warning("%s", error)
            return
        for position in found:
            self._add(position)

    def _ask(self, shard: _Shard, now: int) -> None:
        try:
            if shard.iterator is None:
                shard.iterator = shard.asked.iterator(self._client)
                # The latest is another one when this iterator has expired.
                shard.asked = self._saved(shard.asked)
            found = self._client.get_records(ShardIterator=shard.iterator, Limit=self._most)
        except errors() as error:
            self._recover(shard, error, now)
            return
        shard.iterator = found.get("NextShardIterator")
        shard.last = shard.iterator is None
        shard.due = now + self._interval
        if found["Records"]:
            shard.waiting.extend(found["Records"])
            shard.asked = shard.asked.after(found["Records"][-1]["SequenceNumber"])

    def _recover(self, shard: _Shard, error: Exception, now: int) -> None:
        """Ask again later, or raise what does not pass."""
        code = code_of(error)
        if code == "ExpiredIteratorException":
            shard.iterator = None
        elif code in _THROTTLED:
            _log.warning("Kinesis, shard %s: %s", shard.position.shard, error)
            shard.due = now + _AFTER_THROTTLING
        else:
            place = f"stream {shard.position.stream!r}, shard {shard.position.shard}"
            raise KinesisError(f"Kinesis, {place}: {error}") from error

    def _take(self, shard: _Shard) -> Bundle | None:
        values: list[Any] = []
        timestamps: list[int | None] = []
        for _ in range(min(self.limit, len(shard.waiting))):
            record = shard.waiting[0]
            with locating(partial(_place, shard.position, record)):
                value = self._deserialize(_plain(record["Data"]))
            shard.waiting.popleft()
            shard.position = shard.position.after(record["SequenceNumber"])
            if value is not None:
                values.append(value)
                arrival = record["ApproximateArrivalTimestamp"]
                timestamps.append(round(arrival.timestamp() * 1000))
        self._known[shard.position.key] = shard.position
        return Bundle(values, timestamps) if values else None

    def _end(self, shard: _Shard) -> None:
        self._known[shard.position.key] = replace(shard.position, begin=Begin.ENDED, value=None)
        self._shards.remove(shard)
        # Its children are there by now.
        self._next_look = self._clock.now()


def _plain(data: bytes) -> bytes:
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
