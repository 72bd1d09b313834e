"""Exchanges and outputs: elements into buffers, one for each receiving subtask.

A row is a bundle of up to a few thousand elements, or an event. Nothing outside of the subtasks
touches single elements.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, filterfalse, islice
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from pyflink_on_spark._runtime.contract.plan import (
    BroadcastPartitioner,
    CustomPartitioner,
    ExchangePlan,
    HashPartitioner,
    Partitioner,
    ShufflePartitioner,
)
from pyflink_on_spark._runtime.elements.bundle import (
    BUNDLE_SIZE,
    Barrier,
    Bundle,
    ChannelStatus,
    Cursor,
    EndOfInput,
    Event,
    Watermark,
    noting,
    timed,
)
from pyflink_on_spark._runtime.elements.immutability import (
    IMMUTABLE_TYPES,
    ImmutabilityGuard,
    are_immutable,
    deserialize,
    deserialize_all,
    is_immutable,
    serialize,
)
from pyflink_on_spark._runtime.key_groups import KeyGroups, subtask_of_key_group

ROUTES_KEPT = 1_000_000

Receiver = TypeVar("Receiver")
BUFFER_BYTES = 512 * 1024
NEW_KEYS_ONE_BY_ONE = 128
"""How many new keys of a write are hashed as they come, before the others are hashed together."""
FEW_RECEIVERS = 16
"""With more receivers an element or two for each are not worth a row at once."""
ChannelEvent = Watermark | ChannelStatus | EndOfInput
"""An event between elements inside a subtask."""
_SMALL_BYTES = 128
_barriers: dict[bytes, Barrier] = {}
"""The last barrier by its payload: a subtask gets it from each of its channels."""


class KeyRoutes(Generic[Receiver]):
    """Remembers the receivers of keys, since hashing a key costs more than to find it again.

    Args:
        receiver: returns a receiver by its index.
        count: the number of receivers.
        key_groups: the key groups of keys.
    """

    def __init__(
        self, receiver: Callable[[int], Receiver], count: int, key_groups: KeyGroups
    ) -> None:
        self.known: dict[object, Receiver] = {}
        self._key_groups, self._receiver = key_groups, receiver
        self._of_group = [
            subtask_of_key_group(group, key_groups.count, count)
            for group in range(key_groups.count)
        ]

    def find(self, key: object) -> Receiver:
        """Return the receiver of a key that is not known."""
        if len(self.known) >= ROUTES_KEPT:
            self.known.clear()
        receiver = self.known[key] = self._receiver(self._of_group[self._key_groups.of(key)])
        return receiver

    def find_all(self, keys: Sequence[object]) -> list[Receiver]:
        """Return the receiver of each of many keys; of new ones in less time than one by one."""
        with suppress(KeyError):
            return list(map(self.known.__getitem__, keys))
        new = dict.fromkeys(filterfalse(self.known.__contains__, keys))
        if len(self.known) + len(new) > ROUTES_KEPT:
            self.known.clear()
            new = dict.fromkeys(keys)
        groups = self._key_groups.of_all(new)
        receivers = map(self._receiver, map(self._of_group.__getitem__, groups))
        self.known.update(zip(new, receivers, strict=True))
        return list(map(self.known.__getitem__, keys))


class _Buffer:
    """The rows for one receiver that are not sent yet, in lists that stay the same objects."""

    __slots__ = ("add_key", "add_value", "index", "keys", "timestamps", "values")

    def __init__(self, index: int) -> None:
        self.index = index
        self.values: list[object] = []
        self.timestamps: list[int | None] = []
        self.keys: list[object] = []
        self.add_value, self.add_key = self.values.append, self.keys.append


class ExchangeWriter:
    """The sending side of an exchange, in one subtask.

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
        ship: Callable[[ChannelRow | FanOut], None],
        here: Container[int] = (),
    ) -> None:
        self._plan, self._here = plan, here
        self._channel = plan.first_channel + sender
        self._ship = ship
        self._limit = 256
        self._guard = ImmutabilityGuard()
        first, self._reaches_all, self._combined = (  # what is asked for each event
            plan.first_subtask_id,
            plan.reaches_all,
            plan.combined,
        )
        self._receivers: Sequence[int] = range(first, first + plan.receivers)
        if not self._reaches_all:
            reached = plan.partitioner.receivers(sender, plan.senders, plan.receivers)
            self._receivers = [first + index for index in reached]
        self._sent = 0
        self._buffers: list[_Buffer | None] = [None] * len(self._receivers)
        self._writes, self._check_every = 0, max(1, len(self._buffers) // FEW_RECEIVERS)
        self._broadcast = isinstance(plan.partitioner, BroadcastPartitioner)
        self.by_key = isinstance(plan.partitioner, HashPartitioner)
        """True if the key of an element determines its receiver."""
        self._unrouted: list[tuple[object, object]] = []
        self._unrouted_times: list[int | None] = []
        self._one_by_one = NEW_KEYS_ONE_BY_ONE
        self._next = 0
        self._spread = self._spread_method(plan.partitioner, sender)

    def write(self, elements: Iterator[object], cursor: Cursor) -> None:
        """Take over all elements of a lazy iterator; ``cursor`` has the timestamp of each."""
        self._spread(elements, cursor)
        self._written()

    def ship_to(self, ship: Callable[[ChannelRow | FanOut], None]) -> None:
        """Let rows go elsewhere from now on."""
        self._ship = ship

    @property
    def fan_out(self) -> int:
        """The number of receiving subtasks."""
        return len(self._buffers)

    def write_bundle(self, bundle: Bundle) -> None:
        """Take over elements that are collected already."""
        if bundle.keys is not None:
            self._write_keyed(bundle, bundle.keys)
        elif bundle.timestamps is None:
            self.write(iter(bundle.values), Cursor())
        else:
            cursor = Cursor()
            self.write(timed(bundle.values, bundle.timestamps, cursor), cursor)

    def _written(self) -> None:
        self._writes += 1
        if self._writes % self._check_every == 0:
            self._flush_full()

    def _write_keyed(self, bundle: Bundle, keys: list[object]) -> None:
        self._route()
        values = bundle.values
        if self._plan.isolate:
            if not self._guard.sealed and not are_immutable(values):
                self._seal_buffers()
            if self._guard.sealed:
                values = list(map(serialize, values))
        buffers = self._routes.find_all(keys)
        for buffer, key, value in zip(buffers, keys, values, strict=True):
            buffer.add_value(value)
            buffer.add_key(key)
        if self._plan.timestamped:
            assert bundle.timestamps is not None
            for buffer, timestamp in zip(buffers, bundle.timestamps, strict=True):
                buffer.timestamps.append(timestamp)
        self._written()

    def event(self, event: ChannelEvent | Barrier) -> None:
        """Send an event to all receivers, after all elements so far."""
        self.flush()
        if self._combined or (self._reaches_all and isinstance(event, Barrier)):
            self._ship(FanOut(self._channel, self._sent, event, self._receivers))
            self._sent += 1
            return
        payload: bytes | None = None
        for index, receiver in enumerate(self._receivers):
            if receiver in self._here:
                self._send(index, event)
            else:
                payload = payload or encode(event)
                self._send(index, payload)

    def _buffer(self, index: int) -> _Buffer:
        """Return the buffer of a receiver: not all of many receivers get elements."""
        buffer = self._buffers[index]
        if buffer is None:
            buffer = self._buffers[index] = _Buffer(index)
        return buffer

    def _filled(self) -> Iterator[_Buffer]:
        return filter(None, self._buffers)

    def _spread_method(
        self, partitioner: Partitioner, sender: int
    ) -> Callable[[Iterator[object], Cursor], None]:
        if self.by_key:
            assert isinstance(partitioner, HashPartitioner)
            key_groups = KeyGroups(self._plan.max_parallelism, partitioner.key_type)
            self._routes = KeyRoutes(self._buffer, len(self._buffers), key_groups)
            return self._by_key
        if isinstance(partitioner, CustomPartitioner):
            return self._as_chosen
        if isinstance(partitioner, ShufflePartitioner):
            self._random = partitioner.generator(sender)
            return self._at_random
        if self._broadcast or len(self._buffers) == 1:
            return self._to_first
        return self._round_robin

    def _by_key(  # noqa: C901 - a call for each element costs more than all the rest
        self, pairs: Iterator[Any], cursor: Cursor
    ) -> None:
        timestamped, isolate, find = self._plan.timestamped, self._plan.isolate, self._routes.find
        immutable, all_immutable = IMMUTABLE_TYPES, IMMUTABLE_TYPES.issuperset
        sealed = isolate and self._guard.sealed
        known: Callable[[object], _Buffer | None] = self._routes.known.get
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
                if not sealed:
                    kind = type(value)
                    if kind is not tuple:
                        flat = kind in immutable
                    elif len(value) == 2:  # as in ImmutabilityGuard, where a call costs too much
                        first, second = value
                        flat = type(first) in immutable and type(second) in immutable
                    elif len(value) == 3:
                        first, second, third = value
                        flat = (
                            type(first) in immutable
                            and type(second) in immutable
                            and type(third) in immutable
                        )
                    else:
                        flat = all_immutable(map(type, value))
                    if not flat and not is_immutable(value):
                        self._seal_buffers()
                        sealed = True
                if sealed:
                    value = serialize(value)
            buffer.add_value(value)
            buffer.add_key(key)
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
        """Find the receivers of the waiting elements."""
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
            buffer = self._buffer(index)
            buffer.values.append(value)
            buffer.keys.append(index)
            if plan.timestamped:
                buffer.timestamps.append(cursor.timestamp)

    def _at_random(self, elements: Iterator[object], cursor: Cursor) -> None:
        values, timestamps = self._collect(elements, cursor)
        indices = range(len(self._buffers))
        picked = list(map(self._buffer, self._random.choices(indices, k=len(values))))
        for value, buffer in zip(values, picked, strict=True):
            buffer.values.append(value)
        if timestamps is not None:
            for timestamp, buffer in zip(timestamps, picked, strict=True):
                buffer.timestamps.append(timestamp)

    def _to_first(self, elements: Iterator[object], cursor: Cursor) -> None:
        values, timestamps = self._collect(elements, cursor)
        buffer = self._buffer(0)
        buffer.values += values
        if timestamps is not None:
            buffer.timestamps += timestamps

    def _round_robin(self, elements: Iterator[object], cursor: Cursor) -> None:
        values, timestamps = self._collect(elements, cursor)
        count = len(self._buffers)
        for offset in range(min(count, len(values))):
            buffer = self._buffer((self._next + offset) % count)
            buffer.values += values[offset::count]
            if timestamps is not None:
                buffer.timestamps += timestamps[offset::count]
        self._next = (self._next + len(values)) % count

    def _collect(
        self, elements: Iterator[object], cursor: Cursor
    ) -> tuple[list[object], list[int | None] | None]:
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

    def _sealing(self, pairs: Iterator[Any]) -> Iterator[Any]:
        for key, value in pairs:
            if not self._guard.sealed and not is_immutable(value):
                self._seal_buffers()
            yield key, serialize(value) if self._guard.sealed else value

    def _seal_buffers(self) -> None:
        self._guard.sealed = True
        for buffer in self._filled():
            buffer.values[:] = map(serialize, buffer.values)
        self._unrouted[:] = [(key, serialize(value)) for key, value in self._unrouted]

    def _flush_full(self) -> None:
        self._route()
        for buffer in self._filled():
            while len(buffer.values) >= self._limit:
                self._send_bundle(buffer, self._limit)

    def flush(self) -> None:
        """Send everything that waits."""
        self._route()
        for buffer in self._filled():
            while buffer.values:
                self._send_bundle(buffer, self._limit)

    def _send_bundle(self, buffer: _Buffer, count: int) -> None:
        count = min(count, len(buffer.values))
        bundle = Bundle(
            _take(buffer.values, count),
            _take(buffer.timestamps, count) if self._plan.timestamped else None,
            _take(buffer.keys, count) if self._plan.keyed else None,
        )
        if not self._broadcast and self._receivers[buffer.index] in self._here:
            if self._guard.sealed:
                bundle.values = deserialize_all(bundle.values)
            self._send(buffer.index, bundle)
            self._limit = min(BUNDLE_SIZE, self._limit * 2)
            return
        payload = encode(bundle, self._guard.sealed)
        self._adapt(len(payload), count)
        for index in range(len(self._receivers)) if self._broadcast else (buffer.index,):
            self._send(index, payload)

    def _adapt(self, size: int, count: int) -> None:
        fitting = BUFFER_BYTES * count // max(size, 1)
        self._limit = max(1, min(fitting, BUNDLE_SIZE, self._limit * 2))

    def _send(self, index: int, payload: bytes | Event) -> None:
        self._ship(ChannelRow(self._receivers[index], self._channel, self._sent, payload))
        self._sent += 1


def _take(items: list[Any], count: int) -> list[Any]:
    if count == len(items):
        taken = items[:]
        items.clear()
    else:
        taken = items[:count]
        del items[:count]
    return taken


class Output(Protocol):
    """One edge, or several, that leave a chain."""

    def write(self, elements: Iterator[object], cursor: Cursor) -> None:
        """Take over all elements of a lazy iterator; ``cursor`` has the timestamp of each."""
        ...

    def write_bundle(self, bundle: Bundle) -> None:
        """Take over elements that nobody else can change any more."""
        ...

    def event(self, event: ChannelEvent) -> None:
        """Take what follows the elements so far and is no element."""
        ...


class LocalOutput:
    """An edge to another chain of the same subtask.

    Args:
        receive: takes the number of an input and a bundle, for the receiving chain.
        port: the number of the input.
        take_event: takes a channel and an event, for the receiving chain.
        channel: the name of the edge there.
        timestamped: whether timestamps go along.
        isolate: whether the sender may change an element after it was emitted.
    """

    def __init__(
        self,
        receive: Callable[[int, Bundle], None],
        port: int,
        take_event: Callable[[Hashable, ChannelEvent], None],
        channel: Hashable,
        timestamped: bool,
        isolate: bool,
    ) -> None:
        self.write_bundle: Callable[[Bundle], None] = partial(receive, port)
        self.event: Callable[[ChannelEvent], None] = partial(take_event, channel)
        self._timestamped = timestamped
        self._guard = ImmutabilityGuard() if isolate else None

    def write(self, elements: Iterator[object], cursor: Cursor) -> None:
        """Collect the elements, a bundle at a time, and hand them over."""
        while True:
            timestamps: list[int | None] | None = [] if self._timestamped else None
            chunk = islice(elements, BUNDLE_SIZE)
            if timestamps is not None:
                chunk = noting(chunk, cursor, timestamps)  # type: ignore[assignment]
            values = list(chunk) if self._guard is None else self._guard.collect_copies(chunk)
            if not values:
                return
            self.write_bundle(Bundle(values, timestamps))
            if len(values) < BUNDLE_SIZE:
                return


class ForkOutput:
    """Several edges: each gets every element, as it was when it was emitted."""

    def __init__(self, outputs: list[Output], timestamped: bool) -> None:
        self.outputs = outputs
        self._timestamped = timestamped
        self._guard = ImmutabilityGuard()

    def write(self, elements: Iterator[object], cursor: Cursor) -> None:
        """Collect the elements, then hand them to one edge after the other."""
        while True:
            timestamps: list[int | None] = []
            chunk = islice(elements, BUNDLE_SIZE)
            if self._timestamped:
                chunk = noting(chunk, cursor, timestamps)  # type: ignore[assignment]
            values = self._guard.collect(chunk)
            if not values:
                return
            for output in self.outputs:
                copies = (deserialize(v) for v in values) if self._guard.sealed else iter(values)
                own = Cursor()
                output.write(timed(copies, timestamps, own) if timestamps else copies, own)

    def write_bundle(self, bundle: Bundle) -> None:
        """Hand the elements to one edge after the other."""
        cursor = Cursor()
        elements = iter(bundle.values)
        if bundle.timestamps is not None:
            elements = timed(elements, bundle.timestamps, cursor)
        self.write(elements, cursor)

    def event(self, event: ChannelEvent) -> None:
        """Pass on to every edge."""
        for output in self.outputs:
            output.event(event)


class SideOutput:
    """Collects what operators emit to one tag, until the chain has processed its input."""

    def __init__(self, outputs: list[Output]) -> None:
        self.output: Output = outputs[0] if len(outputs) == 1 else ForkOutput(outputs, True)
        self._values: list[Any] = []
        self._timestamps: list[int | None] = []

    def add(self, value: Any, timestamp: int | None) -> None:
        """Take an element as it is now."""
        self._values.append(serialize(value))
        self._timestamps.append(timestamp)

    def flush(self) -> None:
        """Emit the collected elements."""
        if self._values:
            values, timestamps = self._values, self._timestamps
            self._values, self._timestamps = [], []
            cursor = Cursor()
            self.output.write(timed(deserialize_all(values), timestamps, cursor), cursor)


def ends_of(output: Output) -> Iterator[Output]:
    """Yield the ends of the edges that an output leads to."""
    if isinstance(output, ForkOutput):
        for each in output.outputs:
            yield from ends_of(each)
    else:
        yield output


class EventBatch:
    """Events that go from a part of a subtask to another part, each with its channel.

    One row has all that a piece of work brings forth.
    """

    __slots__ = ("events", "sent")

    def __init__(self) -> None:
        self.events: list[tuple[int, Event]] = []
        self.sent = False
        """True once nothing is added any more."""

    def take(self) -> list[tuple[int, Event]]:
        """Return the events, once: the sender has the batch until it sends another one."""
        events, self.events = self.events, []
        return events


class ChannelRow(NamedTuple):
    """A row from one subtask to another one.

    Args:
        subtask_id: the number of the receiver in the whole job.
        channel: the number of the channel, which has one sender and one receiver.
        seq: the row's number on its channel, which grows.
        payload: what ``encode`` made of the event, or the event itself for a receiver in the same
            process; between parts of a subtask a batch of events of several channels; the barriers
            of several channels, of which ``channel`` is one.
    """

    subtask_id: int
    channel: int
    seq: int
    payload: bytes | Event | EventBatch | AlignedBarriers


class AlignedBarriers(NamedTuple):
    """The barriers of several channels, for one receiver that all of them lead to."""

    checkpoint_id: int
    channels: frozenset[int]


class FanOut(NamedTuple):
    """An event on a channel that leads to all receivers of an exchange.

    It comes once to each process that has some of them. So barriers, watermarks, idleness and the
    end cost as much as there are senders and processes, not as there are pairs of senders and
    receivers.

    Args:
        channel: the channel.
        seq: its number among the rows of the channel.
        payload: the event, or what ``encode`` made of it.
        receivers: the numbers of all receivers. A process that it came to knows its own.
    """

    channel: int
    seq: int
    payload: bytes | ChannelEvent | Barrier
    receivers: Sequence[int] = ()

    def for_each(self) -> Iterator[ChannelRow]:
        """Yield a row for each receiver, as if the event came on a channel of each."""
        payload = self.payload if isinstance(self.payload, bytes) else encode(self.payload)
        for receiver in self.receivers:
            yield ChannelRow(receiver, self.channel, self.seq, payload)


class Outlet(Protocol):
    """The transport of rows to receivers in other processes."""

    def send(self, row: ChannelRow, stage: int) -> None:
        """Take a row for a subtask of a stage; never waits."""
        ...

    def spread(self, event: FanOut, stage: int) -> None:
        """Take an event for all receivers in other processes, after all rows so far."""
        ...

    def flush(self) -> None:
        """Let the rows leave that were sent."""
        ...

    def congested(self, stage: int) -> bool:
        """True if too many rows are on their way to a stage; senders then slow down."""
        ...

    def consumed(self, row: ChannelRow | FanOut, stage: int) -> None:
        """Note that a row that came from another process is processed."""
        ...


def encode(event: Event, sealed: bool = False) -> bytes:
    """Serialise an event for its channel."""
    if isinstance(event, Bundle):
        return pickle.dumps((event.values, event.timestamps, event.keys, sealed), 5)
    return pickle.dumps(event, 5)


def decode(payload: bytes | Event) -> Event:
    """Return the event that travelled; sealed elements come as new copies."""
    if type(payload) is not bytes:
        return payload  # type: ignore[return-value]
    small = len(payload) <= _SMALL_BYTES
    if small and (known := _barriers.get(payload)) is not None:
        return known
    thing = pickle.loads(payload)
    if type(thing) is Barrier and small:
        _barriers.clear()
        _barriers[payload] = thing
    if type(thing) is not tuple:
        return thing  # type: ignore[no-any-return]
    values, timestamps, keys, sealed = thing
    return Bundle(deserialize_all(values) if sealed else values, timestamps, keys)
