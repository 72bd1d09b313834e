"""BATCH: a keyed operator sees one key after the other, the elements of each in order of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Operator, Process
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.rich_function import keyed_state_of

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

Held = tuple[int, int | None, int, Any]
"""Sort key, timestamp in ms or None, input, value."""


class BatchKeyedInput(Operator):
    """Holds the elements for a keyed operator until all are there, then gives them key by key.

    At the end of a key its timers fire, those of event time first, and its state is dropped. Until
    then the watermark is the lowest one. An input without keys (a broadcast stream) is not held.

    Args:
        operator: the keyed operator. What it knows of event time is in ``keyed_state.timers``.
    """

    keyed = True

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.emits_timestamps = operator.emits_timestamps
        self.emits_pairs = operator.emits_pairs

    def open(self, context: OperatorContext) -> None:
        """Open the operator."""
        self._backend = keyed_state_of(context)
        self._cursor = context.cursor
        self._keys: dict[Any, list[Held]] = {}
        self._operator.open(context)

    def inputs(self) -> tuple[Process, ...]:
        """Return the function that collects the elements of each input."""
        unkeyed: tuple[int, ...] = getattr(self._operator, "unkeyed_inputs", ())
        return tuple(
            process if port in unkeyed else self._collector(port)
            for port, process in enumerate(self._operator.inputs())
        )

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Collect the elements of the only input."""
        return self._collector(0)(elements)

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield everything, once all elements are there."""
        return self._all_keys() if watermark == MAX_WATERMARK else ()

    def end_input(self) -> Iterable[Any]:
        """Yield the results of all keys, and the operator's own at the end of input."""
        yield from self._all_keys()
        yield from self._operator.end_input()

    def committables(self) -> list[Any]:
        """Return the operator's."""
        return self._operator.committables()

    def close(self) -> None:
        """Close the operator."""
        self._operator.close()

    def parts(self) -> Iterable[Any]:
        """Return the operator and its parts."""
        return (self._operator, *self._operator.parts())

    def _collector(self, port: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
        def collect(pairs: Iterator[Any]) -> Iterator[Any]:
            keys, cursor = self._keys, self._cursor
            for key, value in pairs:
                timestamp = cursor.timestamp
                order = MIN_TIMESTAMP if timestamp is None else timestamp
                held = keys.get(key)
                if held is None:
                    held = keys[key] = []
                held.append((order, timestamp, port, value))
            return iter(())

        return collect

    def _all_keys(self) -> Iterator[Any]:
        heads = self._operator.inputs()
        while self._keys:
            key = next(iter(self._keys))
            held = self._keys.pop(key)
            held.sort(key=itemgetter(0))
            for port, elements in groupby(held, itemgetter(2)):
                yield from heads[port](self._pairs(key, elements))
            yield from self._end_of_key(key)

    def _pairs(self, key: Any, elements: Iterable[Held]) -> Iterator[Any]:
        cursor = self._cursor
        for _, cursor.timestamp, _, value in elements:
            yield key, value

    def _end_of_key(self, key: Any) -> Iterator[Any]:
        backend = self._backend
        timers = backend.timers
        while True:
            backend.key = key
            yield from self._operator.advance_watermark(MAX_WATERMARK)
            yield from self._operator.advance_processing_time(MAX_WATERMARK + 1)
            if timers.event.earliest() is None and timers.processing.earliest() is None:
                break
        timers.watermark = MIN_TIMESTAMP
        backend.drop_key(key)
