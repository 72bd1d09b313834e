"""The sinks that send elements to the driver: print and collect."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark._runtime.contract.operator import OperatorContext
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE
from pyflink_on_spark._runtime.elements.immutability import serialize
from pyflink_on_spark._runtime.types import print_text

_SLOW_SECONDS = 0.05


class PrintSink(Sink):
    """Prints elements on the console of the driver.

    Args:
        channel: the name of the channel to the driver.
        type_info: the type of the stream, which determines the text of elements.
        identifier: the prefix of each line, or None.
    """

    def __init__(self, channel: str, type_info: object, identifier: str | None) -> None:
        self._channel, self._type_info, self._identifier = channel, type_info, identifier

    def writer(self, context: OperatorContext) -> SinkWriter:
        return _PrintWriter(
            context.driver(self._channel), print_text(self._type_info), self._prefix(context)
        )

    def _prefix(self, context: OperatorContext) -> str:
        parts = [] if not self._identifier else [self._identifier]
        if context.task.parallelism > 1:
            parts.append(str(context.task.subtask_index + 1))
        return ":".join(parts) + "> " if parts else ""


class _PrintWriter(SinkWriter):
    def __init__(
        self, send: Callable[[list[Any]], None], text: Callable[[Any], str], prefix: str
    ) -> None:
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
    def __init__(self, send: Callable[[list[Any]], None]) -> None:
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


def _send_in_chunks(
    elements: Iterator[object], send: Callable[[list[Any]], None], pace: _Pace
) -> None:
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
