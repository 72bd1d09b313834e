"""The event timestamp of the element that is in flight."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any


class Cursor:
    """The element in flight in a chain: its event timestamp in ms, or None.

    The operators of a chain share it. While an operator has control, it is the timestamp of the
    element that the operator has drawn last:

    - An operator that emits another timestamp sets the cursor before it yields. Before it draws the
      next element, it puts back what it found. An operator before it may be about to emit a second
      result for the same element.
    - An operator that draws several elements before it yields notes the timestamp of each.
    """

    __slots__ = ("timestamp",)

    def __init__(self) -> None:
        self.timestamp: int | None = None

    def part(self) -> None:
        """Let each thread have a timestamp of its own: parts of the chain work side by side."""
        if type(self) is Cursor:
            _OF_CURSOR.__set__(self, threading.local())
            self.__class__ = _PartedCursor


_OF_CURSOR: Any = vars(Cursor)["timestamp"]


class _PartedCursor(Cursor):
    """Finds the timestamp of the thread that asks; a chain that stays whole has no such lookup."""

    __slots__ = ()

    @property
    def timestamp(self) -> int | None:
        """The timestamp of the element that this thread works on."""
        return getattr(_OF_CURSOR.__get__(self), "timestamp", None)

    @timestamp.setter
    def timestamp(self, timestamp: int | None) -> None:
        _OF_CURSOR.__get__(self).timestamp = timestamp


def noting(elements: Iterable[Any], cursor: Cursor, timestamps: list[int | None]) -> Iterator[Any]:
    """Yield elements, and note the timestamp of each."""
    note = timestamps.append
    for value in elements:
        note(cursor.timestamp)
        yield value


def timed(
    elements: Iterable[Any], timestamps: Iterable[int | None], cursor: Cursor
) -> Iterator[Any]:
    """Yield elements; set the cursor to the timestamp of each before."""
    for value, cursor.timestamp in zip(elements, timestamps, strict=True):
        yield value
