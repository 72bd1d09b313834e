"""The sending end of an exchange: elements into buffers, a buffer for one receiving subtask each.

A buffer is a pickled bundle of up to a few thousand elements. Spark never touches single elements.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
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
    deserialize_all,
    is_immutable,
    serialize,
)
from pyflink_on_spark._runtime.key_groups.assignment import KeyGroups
from pyflink_on_spark._runtime.task.key_routes import KeyRoutes
from pyflink_on_spark._runtime.task.partitioners import (
    BroadcastPartitioner,
    CustomPartitioner,
    HashPartitioner,
    Partitioner,
    ShufflePartitioner,
)

BUFFER_BYTES = 512 * 1024
NEW_KEYS_ONE_BY_ONE = 128
"""How many new keys of a write are hashed as they come, before the others are hashed together."""


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
    return Bundle(deserialize_all(values) if sealed else values, timestamps, keys)


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
        self._unrouted: list[tuple[Any, Any]] = []
        self._unrouted_times: list[int | None] = []
        self._one_by_one = NEW_KEYS_ONE_BY_ONE
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
            key_groups = KeyGroups(self._plan.max_parallelism, partitioner.key_type)
            self._routes = KeyRoutes(self._buffers, key_groups)
            return self._by_key
        if isinstance(partitioner, CustomPartitioner):
            return self._as_chosen
        if isinstance(partitioner, ShufflePartitioner):
            self._random = partitioner.generator(sender)
            return self._at_random
        if self._broadcast or len(self._buffers) == 1:
            return self._to_first
        return self._round_robin

    def _by_key(self, pairs: Iterator[Any], cursor: Cursor) -> None:
        timestamped, isolate, find = self._plan.timestamped, self._plan.isolate, self._routes.find
        freezer, immutable = self._freezer, IMMUTABLE_TYPES
        known: Callable[[Any], _Buffer | None] = self._routes.known.get
        one_by_one = self._one_by_one
        for pair in pairs:
            key, value = pair
            buffer = known(key)
            if buffer is None:
                if not one_by_one:
                    # Whatever comes later has to wait, too: first in, first out.
                    self._wait(chain((pair,), pairs), cursor)
                    break
                one_by_one -= 1
                buffer = find(key)
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

    def _wait(self, pairs: Iterator[Any], cursor: Cursor) -> None:
        """Take over elements whose receivers will be found together."""
        if self._plan.isolate:
            pairs = self._sealing(pairs)
        if self._plan.timestamped:
            pairs = noting(pairs, cursor, self._unrouted_times)
        wait = self._unrouted.append
        for pair in pairs:
            wait(pair)

    def _route(self) -> None:
        """Find the receivers of what waits for them."""
        count = len(self._unrouted)
        if not count:
            self._one_by_one = NEW_KEYS_ONE_BY_ONE
            return
        known = len(self._routes.known)
        pairs = _take(self._unrouted, count)
        buffers = self._routes.find_all([key for key, _ in pairs])
        for (key, value), buffer in zip(pairs, buffers, strict=True):
            buffer.keys.append(key)
            buffer.values.append(value)
        for timestamp, buffer in zip(_take(self._unrouted_times, count), buffers):
            buffer.timestamps.append(timestamp)
        many = len(self._routes.known) - known > NEW_KEYS_ONE_BY_ONE
        self._one_by_one = 0 if many else NEW_KEYS_ONE_BY_ONE

    def _as_chosen(self, pairs: Iterator[Any], cursor: Cursor) -> None:
        plan = self._plan
        for index, value in self._sealing(pairs) if plan.isolate else pairs:
            buffer = self._buffers[index]
            buffer.values.append(value)
            buffer.keys.append(index)
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

    def _sealing(self, pairs: Iterator[Any]) -> Iterator[Any]:
        for key, value in pairs:
            if not self._freezer.sealed and not is_immutable(value):
                self._seal_buffers()
            yield key, serialize(value) if self._freezer.sealed else value

    def _seal_buffers(self) -> None:
        self._freezer.sealed = True
        for buffer in self._buffers:
            buffer.values = list(map(serialize, buffer.values))
        self._unrouted[:] = [(key, serialize(value)) for key, value in self._unrouted]

    def _flush_full(self) -> None:
        self._route()
        for buffer in self._buffers:
            while len(buffer.values) >= self._limit:
                self._send_bundle(buffer, self._limit)

    def flush(self) -> None:
        """Ship all that waits."""
        self._route()
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
