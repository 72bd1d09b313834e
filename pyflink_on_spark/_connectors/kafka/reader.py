"""The source that reads Kafka topics, and the reader of partitions in one subtask."""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter, methodcaller
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.kafka.client import KafkaClient, confluent_kafka, consumer
from pyflink_on_spark._connectors.kafka.config import KafkaSourceConfig, Partition, note_property
from pyflink_on_spark._connectors.kafka.partitions import (
    BEGINNING,
    FUNCTION_STATE,
    Discovery,
    OffsetLookup,
    PartitionPosition,
    find_partitions,
    owner,
    position_of_flink,
    position_of_function,
    topic_partition,
)
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader, WatermarkRule
from pyflink_on_spark._runtime.elements.bundle import (
    MIN_TIMESTAMP,
    Bundle,
    ChannelStatus,
    Watermark,
)
from pyflink_on_spark._runtime.elements.time import WatermarkRhythm, WatermarkTimer
from pyflink_on_spark.common import Types

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.connector import FlinkSplits
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

# Per message nothing runs in Python.
_topic, _partition = methodcaller("topic"), methodcaller("partition")
_error = methodcaller("error")
_log = logging.getLogger("pyflink_on_spark.kafka")
_SECONDS_TO_WAIT = 0.02
# Per record nothing runs in Python but the deserializer.
_value = methodcaller("value")
_timestamp, _kind, _time = methodcaller("timestamp"), itemgetter(0), itemgetter(1)


def runs(messages: list[Any]) -> Iterator[tuple[Partition, list[object]]]:
    """Yield runs of messages of one partition; a message that is an error ends its run."""
    for topic, of_topic in groupby(messages, key=_topic):
        for number, of_partition in groupby(of_topic, key=_partition):
            run = list(of_partition)
            if not any(map(_error, run)):
                yield (topic, number), run
                continue
            for error, part in groupby(run, key=lambda message: message.error() is not None):
                for records in [[message] for message in part] if error else [list(part)]:
                    yield (topic, number), records


def runs_by_partition(messages: list[object]) -> Iterator[tuple[Partition, list[Any]]]:
    """Yield the runs of one partition after the other, as few as there can be."""
    found: dict[Partition, list[list[Any]]] = {}
    for key, run in runs(messages):
        before = found.setdefault(key, [])
        if before and before[-1][-1].error() is None:
            before[-1] += run
        else:
            before.append(run)
    for key, of_partition in found.items():
        for run in of_partition:
            yield key, run


class PartitionWatermarks:
    """The watermarks of the partitions of one subtask.

    A subtask without partitions is idle, so that it never holds back other subtasks.

    Args:
        rule: how to generate watermarks.
        partitions: the partitions of the subtask.
        now: the processing time in ms.
    """

    def __init__(self, rule: WatermarkRule, partitions: Iterable[Partition], now: int) -> None:
        self._delay, self._timeout = rule.delay, rule.idle_timeout
        self._largest = dict.fromkeys(partitions, MIN_TIMESTAMP)
        self._last = dict.fromkeys(self._largest, now)
        self._emitted = MIN_TIMESTAMP

    def add(self, partition: Partition, now: int) -> None:
        """Add a partition."""
        self._largest.setdefault(partition, MIN_TIMESTAMP)
        self._last[partition] = now

    def remove(self, partition: Partition) -> None:
        """Remove a partition that is read to its end."""
        self._largest.pop(partition, None)
        self._last.pop(partition, None)

    def seen(self, partition: Partition, timestamp: int | None, now: int) -> None:
        """Note that records were read.

        Args:
            partition: the partition of the records.
            timestamp: the largest timestamp of the records in ms, or None if they have none.
            now: the processing time in ms.
        """
        if timestamp is not None:
            self._largest[partition] = max(self._largest[partition], timestamp)
        self._last[partition] = now

    def idle(self, now: int) -> bool:
        """True if all partitions are idle."""
        return not self._last or (
            self._timeout is not None and now - max(self._last.values()) >= self._timeout
        )

    def advanced(self, now: int) -> int | None:
        """Return the watermark (ms) if it is larger than the previous one."""
        if self._delay is None or not self._largest:
            return None
        active = [
            largest
            for partition, largest in self._largest.items()
            if self._timeout is None or now - self._last[partition] < self._timeout
        ]
        largest = min(active) if active else max(self._largest.values())
        watermark = largest - self._delay - 1
        if largest == MIN_TIMESTAMP or watermark <= self._emitted:
            return None
        self._emitted = watermark
        return watermark


class KafkaReader(SourceReader):
    """Reads the partitions of one subtask.

    Args:
        config: the settings of the source.
        positions: where reading begins and ends in each partition of the subtask.
        context: the context of the subtask.
    """

    def __init__(
        self,
        config: KafkaSourceConfig,
        positions: Sequence[PartitionPosition],
        context: OperatorContext,
    ) -> None:
        self._config, self._context, self._clock = config, context, context.clock
        self._deserialize = config.deserializer.load()._deserializer()
        self._positions = {position.key: position for position in positions}
        self._positions_before = self._positions
        self._stopped = False
        self._open = {p.key for p in positions if not p.ended}
        now = self._clock.now()
        self._watermarks = PartitionWatermarks(config.watermarks, self._open, now)
        self._idle = False
        self._timer = WatermarkTimer(config.watermarks.rhythm, now)
        self._events: deque[Bundle | Watermark | ChannelStatus] = deque()
        self._noted: dict[Partition, int] | None = {} if config.watermarks.noted else None
        self._runs: deque[tuple[Partition, list[object]]] = deque()
        self._saved: list[PartitionPosition] = []
        self._checkpointed = False
        interval = config.auto_commit_interval
        self._next_commit = None if interval is None else now + interval
        self._discovery = Discovery.of(config, self._positions, self._owns, now)
        self.ended = config.bounded and not self._open
        self._client: KafkaClient | None = None
        if not self.ended:
            self._client = consumer(config, suffix=str(context.task.subtask_index))
            self._assign(self._open)

    def poll(self) -> Bundle | Watermark | ChannelStatus | None:
        if self._client is None:
            return None
        if not self._events and not self._stopped:
            if not self._runs:
                self._run_periodic_work()
                self._read(self._client)
            if not self._events:
                self._take_run()
        event = self._events.popleft() if self._events else None
        if self._stopped and not self._events:
            self.ended = True
        return event

    def prepare_checkpoint(self, checkpoint_id: int) -> None:
        """Do nothing: complete checkpoints commit the offsets to the group."""
        self._checkpointed = True

    def snapshot(self) -> list[PartitionPosition]:
        self._saved = self._emitted_positions()
        return self._saved

    def stop(self) -> bool:
        self._stopped = True
        self._runs.clear()  # they are not part of the positions
        return bool(self._events)

    def backlog(self) -> int | None:
        """Return the number of unread records, as of the latest fetch of each partition."""
        if self._client is None:
            return 0
        waiting, known = 0, False
        for key in self._open:
            position = self._positions[key]
            _, high = self._client.kafka.get_watermark_offsets(topic_partition(key), cached=True)
            if high >= 0 and position.offset >= 0:
                end = high if position.stopping is None else min(high, position.stopping)
                waiting, known = waiting + max(0, end - position.offset), True
        return waiting if known or not self._open else None

    def _emitted_positions(self) -> list[PartitionPosition]:
        """Return how far each partition is read, without records that ``poll`` still holds."""
        waits = any(isinstance(event, Bundle) for event in self._events)
        return list((self._positions_before if waits else self._positions).values())

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Commit the offsets of the latest snapshot to the group."""
        if self._config.commits_on_checkpoints and self._config.group is not None:
            self._commit(self._saved, wait=False)

    def close(self) -> None:
        client, self._client = self._client, None
        if self._discovery is not None:
            self._discovery.stop()
        if client is None:
            return
        with contextlib.suppress(RuntimeError):
            if self._next_commit is not None and not self._checkpointed:
                self._client = client
                self._commit(self._emitted_positions(), wait=True)
                self._client = None
            client.close()

    def _read(self, client: KafkaClient) -> None:
        self._positions_before = dict(self._positions)
        messages = client.kafka.consume(self.limit, timeout=_SECONDS_TO_WAIT)
        if messages:
            client.errors.reachability.found()
        client.check(next((topic for topic, _ in self._open), None))
        now = self._clock.now()
        if self._noted is None:
            self._take_all(messages, now)
        else:
            self._let_wait(messages, now, self._noted)
        self._advance(now)
        if not self._open and self._config.bounded and not self._events:
            self.ended = True

    def _take_all(self, messages: list[object], now: int) -> None:
        """Make one bundle of messages."""
        values: list[object] = []
        timestamps: list[int | None] = []
        for key, records in runs(messages):
            if key in self._open:
                self._take(key, records, now, values, timestamps)
        if values:
            self._events.append(Bundle(values, timestamps))
            self._timer.seen(len(values))

    def _let_wait(self, messages: list[object], now: int, noted: dict[Partition, int]) -> None:
        """Let messages wait, each partition for itself; all earlier ones are processed.

        The position of a partition follows when ``poll`` returns the elements.
        """
        for key, time in noted.items():
            if key in self._open:
                self._watermarks.seen(key, time, now)
        noted.clear()
        for key, records in runs_by_partition(messages):
            if key in self._open:
                self._runs.append((key, records))
                if records[0].error() is None:
                    self._watermarks.seen(key, None, now)

    def _take_run(self) -> None:
        """Make a bundle of the messages of one partition, if some wait."""
        while self._runs and not self._events:
            key, records = self._runs.popleft()
            if len(records) > self.limit:
                self._runs.appendleft((key, records[self.limit :]))
                records = records[: self.limit]
            values: list[object] = []
            if key in self._open:
                self._take(key, records, self._clock.now(), values, [])
            if values and self._noted is not None:
                self._events.append(Bundle(values))
                self._timer.seen(len(values))
                self._context.split_times.begin(key, self._noted)

    def _take(
        self,
        key: Partition,
        records: list[Any],
        now: int,
        values: list[object],
        timestamps: list[int | None],
    ) -> None:
        """Add the elements of consecutive messages of one partition."""
        position = self._positions[key]
        next_offset = records[-1].offset() + 1
        if records[-1].error() is not None:
            next_offset = self._offset_of_error(records.pop())
        if position.stopping is not None and next_offset > position.stopping:
            records = [record for record in records if record.offset() < position.stopping]
            next_offset = position.stopping
        if records:
            found = self._elements(records)
            unused: list[int | None] = [None] * len(records)
            times = _times(records) if self._noted is None else unused
            if any(value is None for value in found):
                kept = [(v, t) for v, t in zip(found, times, strict=True) if v is not None]
                found, times = [v for v, _ in kept], [t for _, t in kept]
            values += found
            timestamps += times
            self._watermarks.seen(key, _largest(times), now)
        self._positions[key] = position = replace(position, offset=next_offset)
        if position.ended:
            self._end(key)

    def _elements(self, records: list[Any]) -> list[object]:
        deserialize = self._deserialize
        try:
            return list(map(deserialize, self._deserialized(records)))
        except Exception:  # now find out which record it was
            for record, read in zip(records, self._deserialized(records)):
                try:
                    deserialize(read)
                except Exception as error:
                    where = f"{record.topic()}-{record.partition()} at offset {record.offset()}"
                    why = "it has no value" if record.value() is None else error
                    raise ValueError(
                        f"the Kafka record of {where} cannot be deserialized: {why}"
                    ) from error
            raise

    def _deserialized(self, records: list[object]) -> Iterable[object]:
        """Return the deserializer's argument for each record."""
        return records if self._config.whole_records else map(_value, records)

    def _offset_of_error(self, message: Any) -> int:
        """Return the offset at the end of a partition; raise for other errors."""
        codes = confluent_kafka().KafkaError
        error, where = message.error(), f"{message.topic()}-{message.partition()}"
        if error.code() == codes._PARTITION_EOF:
            return int(message.offset())
        if error.code() == codes._AUTO_OFFSET_RESET:
            raise LookupError(
                f"the offset {message.offset()} of {where} is not there any more, or not yet, and "
                "the offset reset strategy is NONE"
            )
        if error.code() in {codes.UNKNOWN_TOPIC_OR_PART, codes._UNKNOWN_PARTITION}:
            raise LookupError(f"the Kafka partition {where} is not there any more")
        raise RuntimeError(f"the Kafka partition {where} cannot be read: {error.str()}")

    def _end(self, key: Partition) -> None:
        assert self._client is not None
        self._open.discard(key)
        self._watermarks.remove(key)
        self._client.kafka.incremental_unassign([topic_partition(key)])

    def _advance(self, now: int) -> None:
        """Emit the watermark, if one is due, and whether the subtask is idle."""
        ends = self._config.bounded and not self._open
        idle = self._watermarks.idle(now) and not ends
        if self._timer.due(now):
            self._timer.reset(now)
            if (mark := self._watermarks.advanced(now)) is not None:
                self._events.append(Watermark(mark))
        if idle != self._idle:
            self._idle = idle
            status = ChannelStatus(idle)
            (self._events.append if idle else self._events.appendleft)(status)

    def _run_periodic_work(self) -> None:
        """Add new partitions, and commit offsets to the group, when they are due."""
        now = self._clock.now()
        if self._discovery is not None:
            for position in self._discovery.found(now):
                key = position.key
                self._positions[key] = position
                self._open.add(key)
                self._watermarks.add(key, now)
                self._assign([key])
        if self._next_commit is not None and now >= self._next_commit and not self._checkpointed:
            self._next_commit = now + (self._config.auto_commit_interval or 0)
            self._commit(self._emitted_positions(), wait=False)

    def _owns(self, partition: Partition) -> bool:
        task = self._context.task
        return owner(partition, task.parallelism) == task.subtask_index

    def _assign(self, partitions: Any) -> None:
        assert self._client is not None
        wanted = [topic_partition(key, self._positions[key].offset) for key in sorted(partitions)]
        if wanted:
            self._client.kafka.incremental_assign(wanted)

    def _commit(self, positions: Sequence[PartitionPosition], wait: bool) -> None:
        offsets = [topic_partition(p.key, p.offset) for p in positions if p.offset >= 0]
        if not offsets or self._client is None:
            return
        try:
            self._client.kafka.commit(offsets=offsets, asynchronous=not wait)
        except confluent_kafka().KafkaException as error:
            _log.warning("offsets were not committed to the group: %s", error.args[0].str())


def _times(records: list[object]) -> list[int | None]:
    """Return the timestamps (ms) of messages; None where there is none."""
    stamps = list(map(_timestamp, records))
    if all(map(_kind, stamps)):
        return list(map(_time, stamps))
    return [time if kind else None for kind, time in stamps]


def _largest(times: list[int | None]) -> int | None:
    return max((time for time in times if time is not None), default=None)


class KafkaSplitSource(Source):
    """Reads partitions of topics; one subtask reads each partition in order.

    A split is one subtask's list of ``PartitionPosition``, and so is a reader's snapshot.

    Args:
        config: the settings of the source.
    """

    takes_noted_times = True

    def __init__(self, config: KafkaSourceConfig) -> None:
        self._config = config
        self.timestamped = not config.watermarks.noted
        self.produced_type = config.produced_type
        self.already_typed = (
            self.produced_type == Types.STRING()
        )  # a decoder of text returns only str
        self.bounded = config.bounded

    def with_watermarks(self, rule: WatermarkRule) -> KafkaSplitSource:
        return KafkaSplitSource(replace(self._config, watermarks=rule))

    def with_rhythm(self, rhythm: WatermarkRhythm) -> KafkaSplitSource:
        """Return the same, emitting watermarks at the rhythm of the job."""
        return self.with_watermarks(replace(self._config.watermarks, rhythm=rhythm))

    def splits(self, parallelism: int) -> list[list[PartitionPosition]]:
        """Find the partitions, and where reading begins and ends in each.

        Raises:
            ConnectionError: the cluster does not answer.
            LookupError: a topic does not exist.
        """
        config = self._config
        client = consumer(config, note=note_property)
        try:
            partitions = find_partitions(config.subscription, client)
            offsets = OffsetLookup(client, config.group)
            positions = offsets.positions(partitions, config.starting, config.stopping)
        finally:
            client.close()
        shares: list[list[PartitionPosition]] = [[] for _ in range(parallelism)]
        for position in positions:
            shares[owner(position.key, parallelism)].append(position)
        return shares

    def positions_of_flink(self, found: FlinkSplits) -> list[object]:
        elements = found.of_function.get(FUNCTION_STATE, ())
        return [
            *(position_of_flink(data, version) for version, data in found.splits),
            *map(position_of_function, elements),
        ]

    def positions_for_flink(self, positions: Sequence[object]) -> tuple[int, bytes]:
        raise ValueError(
            "Flink's KafkaSource is not given positions: leave them out, and let the job of Flink "
            "begin at the offsets that the group has committed "
            "(KafkaOffsetsInitializer.committed_offsets)"
        )

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        share = {position.key: position for share in splits for position in share}
        if restored is not None:
            share = self._restored(share, restored, context)
        for position in share.values():
            if position.problem is not None:
                raise ValueError(position.problem)
        return KafkaReader(self._config, list(share.values()), context)

    def _restored(
        self,
        share: Mapping[Partition, PartitionPosition],
        restored: Sequence[PartitionPosition],
        context: OperatorContext,
    ) -> dict[Partition, PartitionPosition]:
        """Return the checkpoint's positions; newer partitions are read from their beginning."""
        config, task = self._config, context.task
        known = {p.key: p for p in restored}
        new = {
            key: replace(p, offset=BEGINNING, problem=None)
            for key, p in share.items()
            if key not in known
        }
        return new | {
            key: position
            for key, position in known.items()
            if owner(key, task.parallelism) == task.subtask_index
            and (config.keeps_restored or config.subscription.covers(key))
        }
