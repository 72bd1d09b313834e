"""The event timestamp of the element that is in flight."""

from __future__ import annotations

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
