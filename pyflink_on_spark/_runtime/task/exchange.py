"""The sending end of an exchange: elements into buffers, a buffer for one receiving subtask each.

A buffer is a pickled bundle of up to a few thousand elements. Spark never touches single elements.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyflink_on_spark._runtime.bundle import (
    BUNDLE_SIZE,
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
    is_immutable,
    serialize,
    deserialize,
)
from pyflink_on_spark._runtime.keys import key_group, subtask_of_key_group, unwrap_key
from pyflink_on_spark._runtime.task.partitioners import (
    BroadcastPartitioner,
    CustomPartitioner,
    HashPartitioner,
    Partitioner,
    ShufflePartitioner,
)

BUFFER_BYTES = 512 * 1024
ROUTES_KEPT = 1_000_000


class Row(NamedTuple):
    """One row of every exchange: who gets it, from which channel, its number there, and what."""

    target: int
    channel: int
    seq: int
    payload: bytes


@dataclass(frozen=True)
class ExchangePlan:
    """One edge of the graph that leaves its subtask.

    Args:
        first_channel: the number of the channel of sending subtask 0; the others follow.
        first_target: the number of receiving subtask 0; the others follow.
        senders: the parallelism upstream.
        receivers: the parallelism downstream.
        max_parallelism: the number of key groups downstream.
        partitioner: how elements are spread.
        keyed: whether elements are pairs of key and value.
        timestamped: whether timestamps do.
        isolate: whether the sender may change an element after it was emitted.
    """

    first_channel: int
    first_target: int
    senders: int
    receivers: int
    max_parallelism: int
    partitioner: Partitioner
    keyed: bool
    timestamped: bool
    isolate: bool


def encode(event: Event, sealed: bool = False) -> bytes:
    """Return what travels for an event."""
    if isinstance(event, Bundle):
        return pickle.dumps((event.values, event.timestamps, event.keys, sealed), 5)
    return pickle.dumps(event, 5)


def decode(payload: bytes) -> Event:
    """Return the event that travelled; sealed elements come as new copies."""
    thing = pickle.loads(payload)
    if type(thing) is not tuple:
        return thing  # type: ignore[no-any-return]
    values, timestamps, keys, sealed = thing
    return Bundle(list(map(deserialize, values)) if sealed else values, timestamps, keys)


class _Buffer:
    """What waits for one receiver."""

    __slots__ = ("keys", "seq", "target", "timestamps", "values")

    def __init__(self, target: int) -> None:
        self.target = target
        self.seq = 0
        self.values: list[Any] = []
        self.timestamps: list[int | None] = []
        self.keys: list[Any] = []


class ExchangeWriter:
    """What one sending subtask does at one exchange.

    Args:
        plan: the exchange.
        sender: the index of the sending subtask.
        ship: takes the finished rows.
    """

    def __init__(self, plan: ExchangePlan, sender: int, ship: Callable[[Row], None]) -> None:
        self._plan = plan
        self._channel = plan.first_channel + sender
        self._ship = ship
        self._limit = 256
        self._freezer = ImmutabilityGuard()
        reached = plan.partitioner.receivers(sender, plan.senders, plan.receivers)
        self._buffers = [_Buffer(plan.first_target + index) for index in reached]
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

    def event(self, event: Watermark | ChannelStatus | EndOfInput) -> None:
        """Tell all receivers something, behind all elements so far."""
        self.flush()
        payload = encode(event)
        for buffer in self._buffers:
            self._send(buffer, payload)

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
        freezer, immutable = self._freezer, IMMUTABLE_TYPES
        for key, value in pairs:
            buffer = routes.get(key)
            if buffer is None:
                buffer = self._route(key)
            if isolate:
                kind = type(value)
                if freezer.sealed:
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
            if plan.isolate and not self._freezer.sealed and not is_immutable(value):
                self._seal_buffers()
            buffer.values.append(serialize(value) if self._freezer.sealed else value)
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
        was_sealed = self._freezer.sealed
        values = self._freezer.collect(elements)
        if self._freezer.sealed and not was_sealed:
            self._seal_buffers()
        return values, timestamps

    def _seal_buffers(self) -> None:
        self._freezer.sealed = True
        for buffer in self._buffers:
            buffer.values = list(map(serialize, buffer.values))

    def _flush_full(self) -> None:
        for buffer in self._buffers:
            while len(buffer.values) >= self._limit:
                self._send_bundle(buffer, self._limit)

    def flush(self) -> None:
        """Ship all that waits."""
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
        payload = encode(bundle, self._freezer.sealed)
        self._adapt(len(payload), count)
        if self._broadcast:
            for receiver in self._buffers:
                self._send(receiver, payload)
        else:
            self._send(buffer, payload)

    def _adapt(self, size: int, count: int) -> None:
        fitting = BUFFER_BYTES * count // max(size, 1)
        self._limit = max(1, min(fitting, BUNDLE_SIZE, self._limit * 2))

    def _send(self, buffer: _Buffer, payload: bytes) -> None:
        self._ship(Row(buffer.target, self._channel, buffer.seq, payload))
        buffer.seq += 1


def _take(items: list[Any], count: int) -> list[Any]:
    if count == len(items):
        taken = items[:]
        items.clear()
    else:
        taken = items[:count]
        del items[:count]
    return taken
