"""The contents of regular windows, and the loops that add elements: one for each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._runtime.elements.immutability import deserialize, is_immutable, serialize

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.elements.cursor import Cursor
    from pyflink_on_spark._runtime.windows.aligned_windows import AlignedWindows

Entries = dict[Any, Any]
"""The contents of one window, by key."""


class WindowContents(Protocol):
    """The contents of a key's window."""

    def absorb(
        self, pairs: Iterator[Any], cursor: Cursor, windows: AlignedWindows
    ) -> Iterator[Any]:
        """Add elements to their windows; yield what those bring forth whose windows are over."""
        ...

    def add(self, entries: Entries, key: Any, value: Any) -> None:
        """Add one element."""
        ...

    def result(self, held: Any) -> Any:
        """Return the argument of the window function; None if the window is empty."""
        ...


class Lists:
    """All elements.

    Args:
        kept: whether a window may get further elements after it has fired.
    """

    def __init__(self, kept: bool) -> None:
        self._kept = kept

    def absorb(
        self, pairs: Iterator[Any], cursor: Cursor, windows: AlignedWindows
    ) -> Iterator[Any]:
        """Add elements to their windows; yield what those bring forth whose windows are over."""
        start = end = 0
        targets: list[Entries] = []
        touched: set[Any] | None = None
        for key, value in pairs:
            timestamp = cursor.timestamp
            if timestamp is None or not start <= timestamp < end:
                pane = windows.pane(value, timestamp)
                if pane.targets is None:
                    yield from windows.take_one(key, value, timestamp, pane.windows)
                    continue
                start, end, targets, touched = pane.start, pane.end, pane.targets, pane.touched
            for entries in targets:
                elements = entries.get(key)
                if elements is None:
                    entries[key] = [value]
                else:
                    elements.append(value)
            if touched is not None:
                touched.add(key)

    def add(self, entries: Entries, key: Any, value: Any) -> None:
        """Add one element."""
        entries.setdefault(key, []).append(value)

    def result(self, held: Any) -> Any:
        """Return the elements, as a list of the function's own."""
        return list(held) if self._kept else held


class Reduced:
    """One value that all elements are reduced to.

    Args:
        reduce: makes one value of two.
        overlapping: whether an element goes to several windows. The first element of a window is
            its value, which ``reduce`` may change: so each window needs one of its own.
    """

    def __init__(self, reduce: Callable[[Any, Any], Any], overlapping: bool) -> None:
        self._reduce = reduce
        self._overlapping = overlapping

    def absorb(
        self, pairs: Iterator[Any], cursor: Cursor, windows: AlignedWindows
    ) -> Iterator[Any]:
        """Add elements to their windows; yield what those bring forth whose windows are over."""
        start = end = 0
        reduce, overlapping = self._reduce, self._overlapping
        targets: list[Entries] = []
        touched: set[Any] | None = None
        for key, value in pairs:
            timestamp = cursor.timestamp
            if timestamp is None or not start <= timestamp < end:
                pane = windows.pane(value, timestamp)
                if pane.targets is None:
                    yield from windows.take_one(key, value, timestamp, pane.windows)
                    continue
                start, end, targets, touched = pane.start, pane.end, pane.targets, pane.touched
            for entries in targets:
                current = entries.get(key)
                if current is not None:
                    entries[key] = reduce(current, value)
                else:
                    entries[key] = own(value) if overlapping else value
            if touched is not None:
                touched.add(key)

    def add(self, entries: Entries, key: Any, value: Any) -> None:
        """Add one element."""
        current = entries.get(key)
        entries[key] = own(value) if current is None else self._reduce(current, value)

    def result(self, held: Any) -> Any:
        """Return the value."""
        return held


class Aggregated:
    """An accumulator.

    Args:
        function: the user's AggregateFunction.
    """

    def __init__(self, function: Any) -> None:
        self._create, self._add = function.create_accumulator, function.add
        self._get_result = function.get_result

    def absorb(
        self, pairs: Iterator[Any], cursor: Cursor, windows: AlignedWindows
    ) -> Iterator[Any]:
        """Add elements to their windows; yield what those bring forth whose windows are over."""
        start = end = 0
        create, add = self._create, self._add
        targets: list[Entries] = []
        touched: set[Any] | None = None
        for key, value in pairs:
            timestamp = cursor.timestamp
            if timestamp is None or not start <= timestamp < end:
                pane = windows.pane(value, timestamp)
                if pane.targets is None:
                    yield from windows.take_one(key, value, timestamp, pane.windows)
                    continue
                start, end, targets, touched = pane.start, pane.end, pane.targets, pane.touched
            for entries in targets:
                accumulator = entries.get(key)
                if value is None:
                    entries[key] = None
                elif accumulator is None:
                    entries[key] = add(value, create())
                else:
                    entries[key] = add(value, accumulator)
            if touched is not None:
                touched.add(key)

    def add(self, entries: Entries, key: Any, value: Any) -> None:
        """Add one element; None empties the accumulator."""
        accumulator = entries.get(key)
        if value is None:
            entries[key] = None
            return
        entries[key] = self._add(value, self._create() if accumulator is None else accumulator)

    def result(self, held: Any) -> Any:
        """Return the result for the accumulator."""
        return None if held is None else self._get_result(held)


def own(value: Any) -> Any:
    """Return a value that nobody else may change: itself if immutable, else a copy."""
    return value if is_immutable(value) else deserialize(serialize(value))


def contents_of(descriptor: Any, *, kept: bool, overlapping: bool) -> WindowContents:
    """Return the contents of windows whose state has a certain descriptor.

    Args:
        descriptor: of a list, reducing or aggregating state.
        kept: whether a window may get further elements after it has fired.
        overlapping: whether an element goes to several windows.
    """
    kind: str = descriptor._kind
    if kind == "list":
        return Lists(kept)
    if kind == "reducing":
        return Reduced(descriptor.get_reduce_function().reduce, overlapping)
    return Aggregated(descriptor.get_agg_function())
