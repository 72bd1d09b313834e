"""Sinks that end in the driver's program: print and collect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE
from pyflink_on_spark._runtime.connector import Sink, SinkWriter
from pyflink_on_spark._runtime.context import OperatorContext
from pyflink_on_spark._runtime.isolation import seal
from pyflink_on_spark._runtime.types import print_text


class PrintSink(Sink):
    """Prints on the driver's console.

    Args:
        channel: the channel to the driver.
        type_info: the type of the stream, which decides how elements look.
        identifier: stands before each line.
    """

    def __init__(self, channel: str, type_info: Any, identifier: str | None) -> None:
        self._channel, self._type_info, self._identifier = channel, type_info, identifier

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return a writer that knows the subtask's prefix."""
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

    def write(self, elements: Iterator[Any]) -> None:
        prefix = self._prefix
        lines = map(self._text, elements)
        if prefix:
            lines = (prefix + line for line in lines)
        _send_in_chunks(lines, self._send)


class CollectSink(Sink):
    """Hands elements to the driver's program.

    Args:
        channel: the channel to the driver.
    """

    def __init__(self, channel: str) -> None:
        self._channel = channel

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return a writer."""
        return _CollectWriter(context.driver(self._channel))


class _CollectWriter(SinkWriter):
    def __init__(self, send: Callable[[list[Any]], None]) -> None:
        self._send = send

    def write(self, elements: Iterator[Any]) -> None:
        _send_in_chunks(map(seal, elements), self._send)


def _send_in_chunks(things: Iterator[Any], send: Callable[[list[Any]], None]) -> None:
    """Send what there is, also when drawing the next thing fails."""
    while True:
        chunk: list[Any] = []
        try:
            chunk.extend(islice(things, BUNDLE_SIZE))
        finally:
            if chunk:
                send(chunk)
        if not chunk:
            return
