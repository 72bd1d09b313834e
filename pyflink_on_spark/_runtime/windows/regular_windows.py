"""Tumbling and sliding windows of event time with the default trigger: what most jobs have.

They do what ``AnyWindows`` would, without asking assigner or trigger for each element and without a
timer for each key: the end of a window says when it fires, and the elements of a stretch of time in
which no window starts or ends ("pane") all go to the same windows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.isolation import is_immutable, seal, unseal

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.table import StateTable
    from pyflink_on_spark._runtime.windows.operation import Grid, WindowOperation

FIRED_NAME = "_window-fired"

Entries = dict[Any, Any]
"""What is kept of a window, by key."""


class Pane:
    """A stretch of time whose elements all go to the same windows.

    Args:
        start: the first ms.
        end: the first ms that is no longer in it.
        windows: where its elements go.
        targets: the entries of these windows; None if it needs attention for each element.
        touched: the keys of the elements that came, if changes are to be noted.
    """

    __slots__ = ("end", "start", "targets", "touched", "windows")

    def __init__(
        self,
        start: int,
        end: int,
        windows: list[Any],
        targets: list[Entries] | None,
        touched: set[Any] | None,
    ) -> None:
        self.start, self.end = start, end
        self.windows, self.targets, self.touched = windows, targets, touched


class RegularWindows:
    """Windows of a grid.

    Args:
        operation: the user's parts.
        grid: where windows are.
    """

    def __init__(self, operation: WindowOperation, grid: Grid) -> None:
        self._operation, self._grid = operation, grid
        self._backend, self._timers = operation.backend, operation.timers
        descriptor = operation.contents
        kind: str = descriptor._kind
        self._table = operation.backend.table(descriptor.get_name(), kind)
        self._lateness = operation.lateness
        self._fired = operation.backend.table(FIRED_NAME, "value") if self._lateness else None
        self._copies = kind == "reducing" and grid.size > grid.slide
        self._panes: dict[int, Pane] = {}
        self._take_all = self._choose(kind, descriptor)

    def process(self, pairs: Iterator[Any]) -> Iterator[Any]:
        """Yield what late elements bring forth at once."""
        self._panes = {}
        yield from self._take_all(pairs)
        self._note_touched()

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the results of the windows whose end has come."""
        self._timers.watermark = watermark
        limit = watermark + 1
        over = [
            window
            for window in self._table.namespaces
            if window is not None and window.end <= limit
        ]
        if not over:
            return ()
        over.sort()
        return self._fire_once(over) if self._fired is None else self._fire(over, self._fired)

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Do nothing."""
        return ()

    # -- elements: one loop for each kind of contents ---------------------------------------------

    def _choose(self, kind: str, descriptor: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
        if kind == "list":
            self._result: Callable[[Any], Any] | None = None if self._fired is None else list
            return self._collect
        if kind == "reducing":
            self._result = None
            self._reduce = descriptor.get_reduce_function().reduce
            return self._reduce_all
        function = descriptor.get_agg_function()
        self._create, self._add, self._result = (
            function.create_accumulator,
            function.add,
            function.get_result,
        )
        return self._aggregate

    def _collect(self, pairs: Iterator[Any]) -> Iterator[Any]:
        cursor, start, end = self._operation.cursor, 0, 0
        targets: list[Entries] = []
        touched: set[Any] | None = None
        for key, value in pairs:
            timestamp = cursor.timestamp
            if timestamp is None or not start <= timestamp < end:
                pane = self._pane(value, timestamp)
                if pane.targets is None:
                    yield from self._take_one(key, value, timestamp, pane.windows)
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

    def _reduce_all(self, pairs: Iterator[Any]) -> Iterator[Any]:
        cursor, start, end = self._operation.cursor, 0, 0
        reduce, copies = self._reduce, self._copies
        targets: list[Entries] = []
        touched: set[Any] | None = None
        for key, value in pairs:
            timestamp = cursor.timestamp
            if timestamp is None or not start <= timestamp < end:
                pane = self._pane(value, timestamp)
                if pane.targets is None:
                    yield from self._take_one(key, value, timestamp, pane.windows)
                    continue
                start, end, targets, touched = pane.start, pane.end, pane.targets, pane.touched
            for entries in targets:
                current = entries.get(key)
                if current is not None:
                    entries[key] = reduce(current, value)
                else:
                    entries[key] = _own(value) if copies else value
            if touched is not None:
                touched.add(key)

    def _aggregate(self, pairs: Iterator[Any]) -> Iterator[Any]:
        cursor, start, end = self._operation.cursor, 0, 0
        create, add = self._create, self._add
        targets: list[Entries] = []
        touched: set[Any] | None = None
        for key, value in pairs:
            timestamp = cursor.timestamp
            if timestamp is None or not start <= timestamp < end:
                pane = self._pane(value, timestamp)
                if pane.targets is None:
                    yield from self._take_one(key, value, timestamp, pane.windows)
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

    # -- panes ------------------------------------------------------------------------------------

    def _pane(self, value: Any, timestamp: int | None) -> Pane:
        time = MIN_TIMESTAMP if timestamp is None else timestamp
        grid = self._grid
        slide = grid.slide
        last_start = time - (time - grid.offset) % slide
        last_end = time - (time - grid.offset - grid.size) % slide
        start = max(last_start, last_end)
        pane = self._panes.get(start)
        if pane is None:
            operation = self._operation
            windows = operation.assigner.assign_windows(value, time, operation.assigner_context)
            pane = self._new_pane(start, min(last_start, last_end) + slide, windows)
        return pane

    def _new_pane(self, start: int, end: int, windows: list[Any]) -> Pane:
        if end <= start:
            end = start + self._grid.slide
        limit = self._timers.watermark + 1
        special = not windows or any(window.end <= limit for window in windows)
        if self._fired is not None:
            special = special or any(window in self._fired.namespaces for window in windows)
        track = self._table.changed is not None
        pane = self._panes[start] = Pane(
            start,
            end,
            windows,
            None if special else [self._entries(window) for window in windows],
            set() if track and not special else None,
        )
        return pane

    def _entries(self, window: Any) -> Entries:
        namespaces = self._table.namespaces
        entries = namespaces.get(window)
        if entries is None:
            entries = namespaces[window] = {}
        return entries

    def _note_touched(self) -> None:
        changed = self._table.changed
        if changed is not None:
            for pane in self._panes.values():
                for window in pane.windows if pane.touched else ():
                    changed.update(zip(repeat(window), pane.touched or ()))

    # -- elements whose windows are over, or were before a restart --------------------------------

    def _take_one(
        self, key: Any, value: Any, timestamp: int | None, windows: list[Any]
    ) -> Iterator[Any]:
        assert timestamp is not None
        operation, watermark = self._operation, self._timers.watermark
        taken = False
        for window in windows:
            last = window.max_timestamp()
            if last + self._lateness <= watermark:
                continue
            taken = True
            self._put(window, key, value)
            if last > watermark:
                self._mark(window, key, False)
                continue
            self._mark(window, key, True)
            contents = self._contents(self._table.namespaces[window], key)
            if contents is not None:
                self._backend.key = key
                yield from operation.emit(window, contents, timestamp)
        if not taken and timestamp + self._lateness <= watermark:
            operation.too_late(value, timestamp)

    def _put(self, window: Any, key: Any, value: Any) -> None:
        one = Pane(0, 1, [window], [self._entries(window)], None)
        cursor = self._operation.cursor
        timestamp, cursor.timestamp = cursor.timestamp, 0
        panes, self._panes = self._panes, {}
        raise NotImplementedError(one, timestamp, panes, key, value)
