"""The sending end of an exchange: elements into buffers, one for each receiving subtask."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any

from pyflink_on_spark._runtime.bundle import (
    BUNDLE_SIZE,
    Barrier,
    Bundle,
    ChannelStatus,
    EndOfInput,
    Event,
    Watermark,
)
from pyflink_on_spark._runtime.cursor import Cursor, noting, timed
from pyflink_on_spark._runtime.immutability import (
    IMMUTABLE_TYPES,
    ImmutabilityGuard,
    deserialize,
    is_immutable,
    serialize,
)
from pyflink_on_spark._runtime.keys import key_group, subtask_of_key_group, unwrap_key
from pyflink_on_spark._runtime.task.exchange import ExchangePlan, Row, encode
from pyflink_on_spark._runtime.task.partitioners import (
    BroadcastPartitioner,
    CustomPartitioner,
    HashPartitioner,
    Partitioner,
    ShufflePartitioner,
)

BUFFER_BYTES = 512 * 1024
ROUTES_KEPT = 1_000_000


class _Buffer:
    """What waits for one receiver."""

    __slots__ = ("keys", "seq", "subtask_id", "timestamps", "values")

    def __init__(self, subtask_id: int) -> None:
        self.subtask_id = subtask_id
        self.seq = 0
        self.values: list[Any] = []
        self.timestamps: list[int | None] = []
        self.keys: list[Any] = []


class ExchangeWriter:
    """What one sending subtask does at one exchange.

    Args:
        plan: the exchange.
        sender: the index of the sending subtask.
        ship: takes the rows.
        here: the receivers in the same process: what is for them alone is not pickled.
    """

    def __init__(
        self,
        plan: ExchangePlan,
        sender: int,
        ship: Callable[[Row], None],
        here: Container[int] = (),
    ) -> None:
        self._plan, self._here = plan, here
        self._channel = plan.first_channel + sender
        self._ship = ship
        self._limit = 256
        self._guard = ImmutabilityGuard()
        reached = plan.partitioner.receivers(sender, plan.senders, plan.receivers)
        self._buffers = [_Buffer(plan.first_subtask_id + index) for index in reached]
        self._broadcast = isinstance(plan.partitioner, BroadcastPartitioner)
        self._routes: dict[Any, _Buffer] = {}
        self._next = 0
        self._spread = self._spread_method(plan.partitioner, sender)

    def write(self, elements: Iterator[Any], cursor: Cursor) -> None:
        """Take over all elements of a lazy iterator; ``cursor`` has the timestamp of each."""
        self._spread(elements, cursor)
        self._flush_full()

    def write_bundle(self, bundle: Bundle) -> None:
        """Take over elements that are collected already."""
        if bundle.timestamps is None:
            self.write(iter(bundle.values), Cursor())
        else:
            cursor = Cursor()
            self.write(timed(bundle.values, bundle.timestamps, cursor), cursor)

    def event(self, event: Watermark | ChannelStatus | EndOfInput | Barrier) -> None:
        """Send an event to all receivers, after all elements so far."""
        self.flush()
        payload = encode(event)
        for buffer in self._buffers:
            self._send(buffer, event if buffer.subtask_id in self._here else payload)

    def _spread_method(
        self, partitioner: Partitioner, sender: int
    ) -> Callable[[Iterator[Any], Cursor], None]:
        if isinstance(partitioner, HashPartitioner):
            return self._by_key
        if isinstance(partitioner, CustomPartitioner):
            self._partition = partitioner.load()
            return self._by_custom_key
        if isinstance(partitioner, ShufflePartitioner):
            self._random = partitioner.generator(sender)
            return self._at_random
        if self._broadcast or len(self._buffers) == 1:
            return self._to_first
        return self._round_robin

    def _by_key(self, pairs: Iterator[Any], cursor: Cursor) -> None:
        timestamped, isolate, routes = self._plan.timestamped, self._plan.isolate, self._routes
        guard, immutable = self._guard, IMMUTABLE_TYPES
        for key, value in pairs:
            buffer = routes.get(key)
            if buffer is None:
                buffer = self._route(key)
            if isolate:
                kind = type(value)
                if guard.sealed:
                    value = serialize(value)
                elif not (
                    kind in immutable
                    or (
                        kind is tuple
                        and (immutable.issuperset(map(type, value)) or is_immutable(value))
                    )
                ):
                    self._seal_buffers()
                    value = serialize(value)
            buffer.values.append(value)
            buffer.keys.append(key)
            if timestamped:
                buffer.timestamps.append(cursor.timestamp)

    def _route(self, key: Any) -> _Buffer:
        if len(self._routes) >= ROUTES_KEPT:
            self._routes.clear()
        plan = self._plan
        index = subtask_of_key_group(
            key_group(key, plan.max_parallelism), plan.max_parallelism, plan.receivers
        )
        buffer = self._routes[key] = self._buffers[index]
        return buffer

    def _by_custom_key(self, pairs: Iterator[Any], cursor: Cursor) -> None:
        plan, count = self._plan, len(self._buffers)
        for key, value in pairs:
            index = self._partition.partition(unwrap_key(key), count)
            if type(index) is not int or not 0 <= index < count:
                raise ValueError(
                    f"the partitioner returned {index!r} for the key {unwrap_key(key)!r}; "
                    f"expected an int from 0 to {count - 1}"
                )
            buffer = self._buffers[index]
            if plan.isolate and not self._guard.sealed and not is_immutable(value):
                self._seal_buffers()
            buffer.values.append(serialize(value) if self._guard.sealed else value)
            buffer.keys.append(key)
            if plan.timestamped:
                buffer.timestamps.append(cursor.timestamp)

    def _at_random(self, elements: Iterator[Any], cursor: Cursor) -> None:
        values, timestamps = self._collect(elements, cursor)
        picked = self._random.choices(self._buffers, k=len(values))
        for value, buffer in zip(values, picked, strict=True):
            buffer.values.append(value)
        if timestamps is not None:
            for timestamp, buffer in zip(timestamps, picked, strict=True):
                buffer.timestamps.append(timestamp)

    def _to_first(self, elements: Iterator[Any], cursor: Cursor) -> None:
        values, timestamps = self._collect(elements, cursor)
        self._buffers[0].values += values
        if timestamps is not None:
            self._buffers[0].timestamps += timestamps

    def _round_robin(self, elements: Iterator[Any], cursor: Cursor) -> None:
        values, timestamps = self._collect(elements, cursor)
        count = len(self._buffers)
        for offset in range(count):
            buffer = self._buffers[(self._next + offset) % count]
            buffer.values += values[offset::count]
            if timestamps is not None:
                buffer.timestamps += timestamps[offset::count]
        self._next = (self._next + len(values)) % count

    def _collect(
        self, elements: Iterator[Any], cursor: Cursor
    ) -> tuple[list[Any], list[int | None] | None]:
        timestamps: list[int | None] | None = None
        if self._plan.timestamped:
            timestamps = []
            elements = noting(elements, cursor, timestamps)
        if not self._plan.isolate:
            return list(elements), timestamps
        was_sealed = self._guard.sealed
        values = self._guard.collect(elements)
        if self._guard.sealed and not was_sealed:
            self._seal_buffers()
        return values, timestamps

    def _seal_buffers(self) -> None:
        self._guard.sealed = True
        for buffer in self._buffers:
            buffer.values = list(map(serialize, buffer.values))

    def _flush_full(self) -> None:
        for buffer in self._buffers:
            while len(buffer.values) >= self._limit:
                self._send_bundle(buffer, self._limit)

    def flush(self) -> None:
        """Send everything that waits."""
        for buffer in self._buffers:
            while buffer.values:
                self._send_bundle(buffer, self._limit)

    def _send_bundle(self, buffer: _Buffer, count: int) -> None:
        count = min(count, len(buffer.values))
        bundle = Bundle(
            _take(buffer.values, count),
            _take(buffer.timestamps, count) if self._plan.timestamped else None,
            _take(buffer.keys, count) if self._plan.keyed else None,
        )
        if not self._broadcast and buffer.subtask_id in self._here:
            if self._guard.sealed:
                bundle.values = list(map(deserialize, bundle.values))
            self._send(buffer, bundle)
            self._limit = min(BUNDLE_SIZE, self._limit * 2)
            return
        payload = encode(bundle, self._guard.sealed)
        self._adapt(len(payload), count)
        for receiver in self._buffers if self._broadcast else (buffer,):
            self._send(receiver, payload)

    def _adapt(self, size: int, count: int) -> None:
        fitting = BUFFER_BYTES * count // max(size, 1)
        self._limit = max(1, min(fitting, BUNDLE_SIZE, self._limit * 2))

    def _send(self, buffer: _Buffer, payload: bytes | Event) -> None:
        self._ship(Row(buffer.subtask_id, self._channel, buffer.seq, payload))
        buffer.seq += 1


def _take(items: list[Any], count: int) -> list[Any]:
    if count == len(items):
        taken = items[:]
        items.clear()
    else:
        taken = items[:count]
        del items[:count]
    return taken
