"""The outputs of an operator chain inside a subtask."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Protocol

from pyflink_on_spark._runtime.elements.bundle import (
    BUNDLE_SIZE,
    Bundle,
    ChannelStatus,
    EndOfInput,
    Watermark,
)
from pyflink_on_spark._runtime.elements.cursor import Cursor, noting, timed
from pyflink_on_spark._runtime.elements.immutability import (
    ImmutabilityGuard,
    deserialize,
    deserialize_all,
    serialize,
)

ChannelEvent = Watermark | ChannelStatus | EndOfInput
"""An event between elements inside a subtask."""


class Output(Protocol):
    """One edge, or several, that leave a chain."""

    def write(self, elements: Iterator[Any], cursor: Cursor) -> None:
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

    def write(self, elements: Iterator[Any], cursor: Cursor) -> None:
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


class ForkOutput:
    """Several edges: each gets every element, as it was when it was emitted."""

    def __init__(self, outputs: list[Output], timestamped: bool) -> None:
        self.outputs = outputs
        self._timestamped = timestamped
        self._guard = ImmutabilityGuard()

    def write(self, elements: Iterator[Any], cursor: Cursor) -> None:
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


class NoOutput:
    """Draws the elements of a chain that no edge leaves."""

    def write(self, elements: Iterator[Any], cursor: Cursor) -> None:
        """Draw all elements."""
        for _ in elements:
            pass

    def write_bundle(self, bundle: Bundle) -> None:
        """Do nothing: the elements are drawn already."""

    def event(self, event: ChannelEvent) -> None:
        """Do nothing."""


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
