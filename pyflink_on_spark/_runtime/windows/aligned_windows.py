"""Tumbling and sliding windows of event time with the default trigger: what most jobs have.

They do what ``GeneralWindows`` would, without asking assigner or trigger for each element and
without a timer for each key: the end of a window says when it fires, and the elements of a stretch
of time in which no window starts or ends ("pane") all go to the same windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.function_loop import LoopCode
    from pyflink_on_spark._runtime.state.keyed_state import StateTable
    from pyflink_on_spark._runtime.state.snapshot import Entries
    from pyflink_on_spark._runtime.windows.general_windows import WindowContents
    from pyflink_on_spark._runtime.windows.operation import WindowGrid, WindowOperation

FIRED_NAME = "_window-fired"


class Pane:
    """A stretch of time whose elements all go to the same windows.

    Args:
        start: the first ms.
        end: the first ms that is no longer in it.
        windows: where its elements go.
        targets: the entries of these windows; None if each element needs attention.
        touched: the keys of the elements that came; None if nobody asks.
    """

    __slots__ = ("end", "start", "targets", "touched", "windows")

    def __init__(
        self,
        start: int,
        end: int,
        windows: list[object],
        targets: list[Entries] | None,
        touched: set[object] | None,
    ) -> None:
        self.start, self.end = start, end
        self.windows, self.targets, self.touched = windows, targets, touched


class AlignedWindows:
    """Windows of a grid.

    With allowed lateness a window outlives its firing, and the keys for which it has fired are
    recorded. After a restart, when the watermark is low again, it does not fire for them again.

    Args:
        operation: the user's parts.
        grid: where windows are.
        contents: what is kept of a window, and how elements are added to it.
    """

    def __init__(
        self, operation: WindowOperation, grid: WindowGrid, contents: WindowContents
    ) -> None:
        self._operation, self._grid, self._contents = operation, grid, contents
        self._backend, self._timers = operation.backend, operation.timers
        self._lateness = operation.lateness
        state = operation.contents
        backend, type_info = operation.backend, getattr(state, "type_info", None)
        self._table = backend.typed_table(state.get_name(), state._kind, type_info)
        self._fired: StateTable | None = None
        if self._lateness:
            self._fired = backend.table(FIRED_NAME, "value")
        self._take_over_timers()
        self._panes: dict[int, Pane] = {}

    def parts(self) -> Iterable[object]:
        """Return the part that adds elements to windows."""
        return (self._contents,)

    def write_lines(self, code: LoopCode) -> None:
        """Write the lines that add elements to windows and emit the results of late ones."""
        windows, cursor = code.bind("windows", self), code.bind("cursor", self._operation.cursor)
        timestamp, key, value = code.new_value(), code.key, code.value
        code.before += [f"{windows}.forget_panes()", "start = end = 0"]
        code.add(f"{timestamp} = {cursor}.timestamp")
        code.add(f"if {timestamp} is None or not start <= {timestamp} < end:")
        code.add(f" pane = {windows}.pane({value}, {timestamp})")
        code.add(" if pane.targets is None:")
        late = f"{windows}.take_one({key}, {value}, {timestamp}, pane.windows)"
        code.add(f"  yield from {late}")
        code.add("  continue")
        code.add(" start, end, touched = pane.start, pane.end, pane.touched")
        if self._grid.size <= self._grid.slide:
            code.add(" entries, = pane.targets")
            self._contents.write_lines(code, "entries", "")
        else:
            code.add(" targets = pane.targets")
            code.add("for entries in targets:")
            self._contents.write_lines(code, "entries", " ")
        if self._table.changed is not None:
            code.add(f"touched.add({key})")
            code.after.append(f"{windows}.note_touched()")

    def forget_panes(self) -> None:
        """Forget all panes: a pane is valid until the watermark advances."""
        self._panes = {}

    def note_touched(self) -> None:
        """Note which entries have changed."""
        for pane in self._panes.values():
            if pane.touched:
                for window in pane.windows:
                    self._note(self._table, window, pane.touched)

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield the results of the windows whose end has come."""
        self._timers.watermark = watermark
        limit = watermark + 1
        windows: Iterable[Any] = self._table.namespaces
        over = [window for window in windows if window is not None and window.end <= limit]
        if not over:
            return ()
        over.sort()
        return self._finish(over) if self._fired is None else self._fire(over, self._fired)

    def advance_processing_time(self, now: int) -> Iterable[object]:
        """Do nothing."""
        return ()

    def next_processing_time(self) -> int | None:
        """Return None: the clock fires no window."""
        return None

    # -- elements ---------------------------------------------------------------------------------

    def pane(self, value: object, timestamp: int | None) -> Pane:
        """Return the pane of an element."""
        time = MIN_TIMESTAMP if timestamp is None else timestamp
        grid = self._grid
        slide = grid.slide
        last_start = time - (time - grid.offset) % slide
        last_end = time - (time - grid.offset - grid.size) % slide
        start = max(last_end, last_start)
        pane = self._panes.get(start)
        if pane is None:
            operation = self._operation
            windows = operation.assigner.assign_windows(value, time, operation.assigner_context)
            end = slide + (min(last_start, last_end))
            pane = self._panes[start] = self._new_pane(start, end, windows)
        return pane

    def take_one(
        self, key: object, value: object, timestamp: int | None, windows: list[Any]
    ) -> Iterator[object]:
        """Yield the results of an element, some of whose windows have fired or are over."""
        assert timestamp is not None
        operation, watermark = self._operation, self._timers.watermark
        taken = False
        for window in windows:
            last = window.end - 1
            if last + self._lateness <= watermark:
                continue
            taken = True
            entries = self._entries(window)
            self._contents.add(entries, key, value)
            self._note(self._table, window, (key,))
            if self._fired is not None:
                self._mark(self._fired, window, key, last <= watermark)
            if last <= watermark:
                result = self._contents.result(entries[key])
                if result is not None:
                    self._backend.key = key
                    yield from operation.emit(window, result, timestamp)
        if not taken and timestamp + self._lateness <= watermark:
            operation.too_late(value, timestamp)

    def _new_pane(self, start: int, end: int, windows: list[Any]) -> Pane:
        for window in windows:
            self._operation.cleanup_time(window)  # refuses a window that could never fire
        limit = self._timers.watermark + 1
        fired = () if self._fired is None else self._fired.namespaces
        if not windows or any(window.end <= limit or window in fired for window in windows):
            return Pane(start, end, windows, None, None)
        targets = [self._entries(window) for window in windows]
        return Pane(start, end, windows, targets, None if self._table.changed is None else set())

    def _take_over_timers(self) -> None:
        """Remove the timers that Flink has written for windows; they say what has fired."""
        timers: list[Any] = list(self._timers.all())
        if not timers:
            return
        if self._fired is not None:
            waiting = {(key, window) for _, time, key, window in timers if time == window.end - 1}
            for window, key in self._table.places():
                if (key, window) not in waiting:
                    self._fired.put(window, key, True)
        for timer in timers:
            self._timers.apply(timer, False)

    def _entries(self, window: object) -> Entries:
        return self._table.namespaces.setdefault(window, {})

    @staticmethod
    def _note(table: StateTable, window: object, keys: Iterable[object]) -> None:
        if table.changed is not None:
            table.changed[window].update(keys)

    def _mark(self, fired: StateTable, window: object, key: object, has_fired: bool) -> None:
        if has_fired:
            fired.put(window, key, True)
        else:
            fired.remove(window, key)
        self._note(fired, window, (key,))

    # -- windows that are over --------------------------------------------------------------------

    def _finish(self, over: list[Any]) -> Iterator[object]:
        """Fire windows and give them up at once."""
        for window in over:
            entries = self._table.namespaces.pop(window)
            self._note(self._table, window, entries)
            time = window.end - 1
            if self._operation.passes_through:
                yield from self._results(entries, time)
            else:
                for key, held in entries.items():
                    yield from self._fire_key(window, key, held, time)
                    self._operation.clear(window)

    def _results(self, entries: Entries, time: int) -> Iterator[object]:
        cursor, result_of = self._operation.cursor, self._contents.result
        for held in entries.values():
            result = result_of(held)
            if result is not None:
                cursor.timestamp = time
                yield result

    def _fire(self, over: list[Any], fired: StateTable) -> Iterator[object]:
        """Fire windows whose end has come, clear those whose lateness has; in order of time."""
        steps = []
        for window in over:
            steps.append((window.end - 1, window, False))
            cleanup = window.end - 1 + self._lateness
            if cleanup <= self._timers.watermark and cleanup < MAX_WATERMARK:
                steps.append((cleanup, window, True))
        for time, window, last in sorted(steps):
            entries = self._table.namespaces[window]
            if last:
                self._drop(window, entries, fired)
                continue
            known = fired.namespaces.get(window, {})
            if len(known) < len(entries):
                due = [item for item in entries.items() if item[0] not in known]
                for key, held in due:
                    self._mark(fired, window, key, True)
                    yield from self._fire_key(window, key, held, time)

    def _fire_key(self, window: object, key: object, held: object, time: int) -> Iterator[object]:
        self._backend.key = key
        result = self._contents.result(held)
        if result is not None:
            yield from self._operation.emit(window, result, time)

    def _drop(self, window: object, entries: Entries, fired: StateTable) -> None:
        for table in (self._table, fired):
            self._note(table, window, table.namespaces.pop(window, ()))
        for key in entries:
            self._backend.key = key
            self._operation.clear(window)
