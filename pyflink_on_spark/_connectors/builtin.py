"""The source of a collection, and the sinks that send elements to the driver: print and collect."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import cloudpickle

from pyflink_on_spark._runtime.coders import integers, longs, utf
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter, Source
from pyflink_on_spark._runtime.contract.operator import OperatorContext
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._runtime.elements.immutability import serialize
from pyflink_on_spark._runtime.types.converters import print_text
from pyflink_on_spark.common.typeinfo import TypeInformation, Types

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.coders import DataInput
    from pyflink_on_spark._runtime.contract.connector import FlinkSplits
    from pyflink_on_spark._runtime.contract.operator import SendItems


class CollectionSource(Source):
    """Reads a copy of a collection, which is taken when the source is made.

    Args:
        elements: the elements, already converted to their type.
        produced_type: the type of the elements, or None.

    Raises:
        TypeError: an element cannot be pickled.
    """

    parallel = False

    def __init__(
        self, elements: Iterable[object], produced_type: TypeInformation | None = None
    ) -> None:
        self.produced_type = produced_type
        remaining = iter(elements)
        chunks = iter(lambda: list(islice(remaining, BUNDLE_SIZE)), [])
        self._chunks = [cloudpickle.dumps(chunk, protocol=5) for chunk in chunks]

    def splits(self, parallelism: int) -> list[None]:
        """Return one split, because one subtask reads a collection."""
        return [None]

    def read(self, split: None, context: OperatorContext) -> Iterator[Bundle]:
        for chunk in self._chunks:
            yield Bundle(pickle.loads(chunk))


_FLINKS_VERSION = 1


class NumberSequence(Source):
    """Reads all integers between two bounds, which are included.

    Args:
        start: the first number.
        end: the last number, which is not less than the first.

    Raises:
        TypeError: a bound is not an int.
        ValueError: the end is less than the start, or a bound does not fit into 64 bits.
    """

    already_typed = True

    def __init__(self, start: int, end: int) -> None:
        for bound in (start, end):
            if not isinstance(bound, int) or isinstance(bound, bool):
                raise TypeError(f"the bounds of a number sequence must be int, not {bound!r}")
            if not -(2**63) <= bound < 2**63:
                raise ValueError(f"the bounds of a number sequence must fit 64 bits, not {bound}")
        if start > end:
            raise ValueError("'from' must be <= 'to'")
        self._start = start
        self._end = end

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the numbers."""
        return Types.LONG()

    def splits(self, parallelism: int) -> list[range]:
        """Divide the numbers into contiguous ranges; the first ones may be longer by one."""
        size, longer = divmod(self._end - self._start + 1, parallelism)
        splits: list[range] = []
        first = self._start
        for i in range(parallelism):
            end = first + size + (i < longer)
            splits.append(range(first, end))
            first = end
        return [numbers for numbers in splits if numbers]

    def positions_of_flink(self, found: FlinkSplits) -> list[object]:
        unread = [_numbers(data, version) for version, data in found.splits]
        if found.enumerator is not None:
            version, data = found.enumerator
            unread += [_numbers(data, version) for _ in range(data.count("splits", 18))]
        return [(numbers, None, 0) for numbers in unread if numbers]

    def positions_for_flink(self, positions: Sequence[Any]) -> tuple[int, bytes]:
        unread = [numbers[skip:] for numbers, _, skip in positions]
        parts = [
            utf(str(index)) + longs(numbers.start, numbers.stop - 1)
            for index, numbers in enumerate(numbers for numbers in unread if numbers)
        ]
        return _FLINKS_VERSION, integers(len(parts)) + b"".join(parts)

    def read(self, split: range, context: OperatorContext) -> Iterator[Bundle]:
        for first in range(split.start, split.stop, BUNDLE_SIZE):
            yield Bundle(list(range(first, min(first + BUNDLE_SIZE, split.stop))))


def _numbers(data: DataInput, version: int) -> range:
    """Read the numbers of a split of Flink."""
    if version != _FLINKS_VERSION:
        raise ValueError(f"number sequences of version {version} are not known")
    data.utf()
    first, last = data.long(), data.long()
    return range(first, last + 1)


_SLOW_SECONDS = 0.05


class PrintSink(Sink):
    """Prints elements on the console of the driver.

    Args:
        channel: the name of the channel to the driver.
        type_info: the type of the stream, which determines the text of elements; None if they
            are texts.
        identifier: the prefix of each line, or None.
    """

    def __init__(self, channel: str, type_info: object, identifier: str | None) -> None:
        self._channel, self._type_info, self._identifier = channel, type_info, identifier

    def writer(self, context: OperatorContext) -> SinkWriter:
        text = str if self._type_info is None else print_text(self._type_info)
        return _PrintWriter(context.driver(self._channel), text, self._prefix(context))

    def _prefix(self, context: OperatorContext) -> str:
        parts = [] if not self._identifier else [self._identifier]
        if context.task.parallelism > 1:
            parts.append(str(context.task.subtask_index + 1))
        return ":".join(parts) + "> " if parts else ""


class _PrintWriter(SinkWriter):
    def __init__(self, send: SendItems, text: Callable[[object], str], prefix: str) -> None:
        self._send, self._text, self._prefix = send, text, prefix
        self._pace = _Pace()

    def write(self, elements: Iterator[object]) -> None:
        prefix, text = self._prefix, self._text
        lines = (prefix + text(value) for value in elements)
        _send_in_chunks(lines, self._send, self._pace)


class CollectSink(Sink):
    """Sends elements to the program in the driver.

    Args:
        channel: the name of the channel to the driver.
    """

    def __init__(self, channel: str) -> None:
        self._channel = channel

    def writer(self, context: OperatorContext) -> SinkWriter:
        return _CollectWriter(context.driver(self._channel))


class _CollectWriter(SinkWriter):
    def __init__(self, send: SendItems) -> None:
        self._send = send
        self._pace = _Pace()

    def write(self, elements: Iterator[object]) -> None:
        _send_in_chunks(map(serialize, elements), self._send, self._pace)


class _Pace:
    """The number of elements to send together: many of a fast stream, one of a slow stream."""

    def __init__(self) -> None:
        self.size = 1

    def adapt(self, seconds: float) -> None:
        """Adapt the number to the time that a chunk has taken."""
        if seconds < _SLOW_SECONDS:
            self.size = min(self.size * 4, BUNDLE_SIZE)
        else:
            self.size = max(self.size // 8, 1)


def _send_in_chunks(elements: Iterator[object], send: SendItems, pace: _Pace) -> None:
    """Send elements in chunks; if the iterator raises, send the elements before that first."""
    while True:
        chunk: list[object] = []
        started = time.monotonic()
        try:
            chunk.extend(islice(elements, pace.size))
        finally:
            took = time.monotonic() - started
            if chunk:
                send(chunk)
        if not chunk:
            return
        pace.adapt(took)
