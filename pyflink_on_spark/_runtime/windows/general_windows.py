"""Windows of any assigner and any trigger: the operator, and the contents of windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.elements.immutability import copied, is_immutable
from pyflink_on_spark._runtime.operators.function_loop import FusableOperator, LoopCode
from pyflink_on_spark._runtime.operators.stateless import UdfOperator, keyed_state_of
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark._runtime.windows.aligned_windows import AlignedWindows
from pyflink_on_spark._runtime.windows.operation import (
    TriggerContext,
    WindowDescription,
    WindowGrid,
    WindowOperation,
    state_of,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark._runtime.state.snapshot import Entries


STATE_NAME = "merging-window-set"

Merged = Callable[[object, list[object], object, list[object]], None]
"""Called with a merger: the result, the windows that it replaces, the state windows of both."""


class _Mergers:
    """The windows that an assigner merged."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found: list[tuple[object, list[object]]] = []

    def merge(self, to_be_merged: Iterable[object], merge_result: object) -> None:
        """Note one merger."""
        self.found.append((merge_result, list(to_be_merged)))


class MergingWindows:
    """The windows of each key.

    A window's contents stay where they are when it is merged: under the "state window", which is
    the oldest of those that became one.

    Args:
        assigner: knows which windows merge.
        backend: keeps, for each key, a dict from windows to state windows.
    """

    __slots__ = ("_assigner", "_backend", "_table")

    def __init__(self, assigner: Any, backend: KeyedStateBackend) -> None:
        self._assigner = assigner
        self._backend = backend
        self._table = backend.table(STATE_NAME, "map")

    def state_window(self, window: object) -> object:
        """Return the current key's window that has the contents of a window, or None."""
        windows = self._table.current.get(self._backend.key)
        return None if windows is None else windows.get(window)

    def retire(self, window: object) -> None:
        """Forget a window of the current key."""
        table, key = self._table, self._backend.key
        windows = table.current[key]
        del windows[window]
        if not windows:
            del table.current[key]
        self._note()

    def add(self, new: object, merged: Merged) -> object:
        """Add a window to those of the current key; return the window that it is part of.

        Args:
            new: the window.
            merged: called with each merger.
        """
        windows = self._table.current.setdefault(self._backend.key, {})
        if new in windows:
            return new
        mergers = _Mergers()
        self._assigner.merge_windows([*windows, new], mergers)
        actual, placed = new, False
        for result, members in mergers.found:
            if new in members:
                actual = result
            replaced = [window for window in windows if window in members]
            if not replaced:
                continue
            placed = placed or actual == result
            target, *sources = [windows.pop(window) for window in replaced]
            windows[result] = target
            if replaced != [result]:
                merged(result, replaced, target, sources)
        if not placed:
            windows[actual] = actual
        self._note()
        return actual

    def _note(self) -> None:
        if self._table.changed is not None:
            self._table.changed[None].add(self._backend.key)


class GeneralWindows:
    """Asks the assigner and the trigger for each element, and the trigger for each timer.

    Args:
        operation: the user's parts.
    """

    def __init__(self, operation: WindowOperation) -> None:
        self._operation = operation
        self._backend, self._timers = operation.backend, operation.timers
        self._waiting: Sequence[int] = () if operation.batch else self._timers.processing.times
        self._trigger = operation.trigger
        self._context = TriggerContext(operation.backend, operation.runtime_context)
        self._contents = state_of(operation.backend, operation.contents)
        self._is_list = operation.contents._kind == "list"
        self._merging = (
            MergingWindows(operation.assigner, operation.backend) if operation.merging else None
        )

    def parts(self) -> Iterable[object]:
        """Return nothing: it does all by itself."""
        return ()

    def process(self, pairs: Iterator[Any]) -> Iterator[object]:
        """Yield the results of windows that elements fire at once."""
        operation, backend, cursor = self._operation, self._backend, self._operation.cursor
        assign, context = operation.assigner.assign_windows, operation.assigner_context
        waiting = self._waiting
        for backend.key, value in pairs:
            if waiting:
                yield from self._due_before_element()
            timestamp = cursor.timestamp
            time = MIN_TIMESTAMP if timestamp is None else timestamp
            taken = False
            for window in assign(value, time, context):
                place = self._place(window)
                if place is None:
                    continue
                taken = True
                yield from self._add(value, timestamp, *place)
            if not taken and self._is_late(time):
                operation.too_late(value, timestamp)

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield the results of windows that event-time timers fire."""
        timers = self._timers
        timers.watermark = watermark
        earliest = timers.event.earliest()
        if earliest is None or earliest > watermark:
            return ()
        return self._fire(timers.due_by_watermark(watermark), True)

    def advance_processing_time(self, now: int) -> Iterable[object]:
        """Yield the results of windows that processing-time timers fire."""
        timers = self._timers
        earliest = timers.next_processing_time()
        if earliest is None or earliest > now:
            return ()
        return self._fire(timers.due_by_clock(now), False)

    def next_processing_time(self) -> int | None:
        """Return when the first timer is due."""
        return self._timers.next_processing_time()

    def _due_before_element(self) -> Iterator[object]:
        """Yield the results of timers that the clock has passed; then restore key and timestamp."""
        backend, cursor = self._backend, self._operation.cursor
        key, timestamp = backend.key, cursor.timestamp
        yield from self.advance_processing_time(self._timers.clock.now())
        backend.key, cursor.timestamp = key, timestamp

    def _place(self, window: object) -> tuple[object, object] | None:
        """Return the window that an element goes to, and that of its contents; None if late."""
        merging = self._merging
        if merging is None:
            return None if self._is_over(window) else (window, window)
        actual = merging.add(window, self._merged)
        if self._is_over(actual):
            merging.retire(actual)
            return None
        return actual, merging.state_window(actual)

    def _add(
        self, value: object, timestamp: int | None, window: object, state_window: object
    ) -> Iterator[object]:
        contents = self._contents
        contents.set_current_namespace(state_window)
        contents.add(value)
        self._context.window = window
        time = MIN_TIMESTAMP if timestamp is None else timestamp
        result = self._trigger.on_element(value, time, window, self._context)
        if result.is_fire():
            found = self._found()
            if found is None:
                return
            yield from self._operation.emit(window, found, timestamp)
        if result.is_purge():
            contents.clear()
        self._see_to_cleanup(window)

    def _fire(self, due: Iterator[Any], by_event_time: bool) -> Iterator[object]:
        operation, backend, context = self._operation, self._backend, self._context
        trigger = self._trigger
        ask = trigger.on_event_time if by_event_time else trigger.on_processing_time
        for time, backend.key, window in due:
            state_window = window if self._merging is None else self._merging.state_window(window)
            if state_window is None:
                continue  # a timer that a trigger left when its window was merged
            self._contents.set_current_namespace(state_window)
            context.window = window
            result = ask(time, window, context)
            if result.is_fire():
                found = self._found()
                if found is not None:
                    yield from operation.emit(window, found, time)
            if result.is_purge():
                self._contents.clear()
            if operation.event_time == by_event_time and time == operation.cleanup_time(window):
                self._clear(window)

    def _found(self) -> object:
        found = self._contents.get()
        return (list(found) or None) if self._is_list else found

    def _clear(self, window: object) -> None:
        self._contents.clear()
        self._context.window = window
        self._trigger.clear(window, self._context)
        self._operation.clear(window)
        if self._merging is not None:
            self._merging.retire(window)

    def _merged(
        self,
        result: object,
        replaced: list[object],
        state_window: object,
        state_windows: list[object],
    ) -> None:
        self._check_merged(result)
        context = self._context
        context.window, context.merged = result, replaced
        self._trigger.on_merge(result, context)
        for window in replaced:
            context.window = window
            self._trigger.clear(window, context)
            self._forget_cleanup(window)
        self._contents.merge_namespaces(state_window, state_windows)

    def _check_merged(self, window: Any) -> None:
        if self._operation.event_time:
            time, clock = self._timers.watermark, "watermark"
            end = self._operation.cleanup_time(window)
        else:
            time, clock = self._timers.clock.now(), "processing time"
            end = window.max_timestamp()
        if end <= time:
            kind = "an event-time" if self._operation.event_time else "a processing-time"
            raise RuntimeError(
                f"The end timestamp of {kind} window cannot become earlier than the current "
                f"{clock} by merging. Current {clock}: {time} window: {window}"
            )

    def _is_over(self, window: object) -> bool:
        operation = self._operation
        return operation.event_time and operation.cleanup_time(window) <= self._timers.watermark

    def _is_late(self, time: int) -> bool:
        operation = self._operation
        return operation.event_time and time + operation.lateness <= self._timers.watermark

    def _see_to_cleanup(self, window: object) -> None:
        time = self._operation.cleanup_time(window)
        if time == MAX_WATERMARK:
            return
        if self._operation.event_time:
            self._context.register_event_time_timer(time)
        else:
            self._context.register_processing_time_timer(time)

    def _forget_cleanup(self, window: object) -> None:
        time = self._operation.cleanup_time(window)
        if self._operation.event_time:
            self._context.delete_event_time_timer(time)
        else:
            self._context.delete_processing_time_timer(time)


class WindowContents(Protocol):
    """The contents of a key's window."""

    def write_lines(self, code: LoopCode, entries: str, indent: str) -> None:
        """Write what adds an element to the entries of a window."""
        ...

    def add(self, entries: Entries, key: object, value: object) -> None:
        """Add one element."""
        ...

    def result(self, held: object) -> object:
        """Return the argument of the window function; None if the window is empty."""
        ...


class Lists:
    """All elements.

    Args:
        kept: whether a window may get further elements after it has fired.
    """

    def __init__(self, kept: bool) -> None:
        self._kept = kept

    def write_lines(self, code: LoopCode, entries: str, indent: str) -> None:
        """Write what appends an element."""
        held, key = code.new_value(), code.key
        code.add(f"{indent}{held} = {entries}.get({key})")
        code.add(f"{indent}if {held} is None: {entries}[{key}] = [{code.value}]")
        code.add(f"{indent}else: {held}.append({code.value})")

    def add(self, entries: Entries, key: object, value: object) -> None:
        """Add one element."""
        entries.setdefault(key, []).append(value)

    def result(self, held: Any) -> object:
        """Return the elements, as a list of the function's own."""
        return list(held) if self._kept else held


class Reduced:
    """One value that all elements are reduced to.

    Args:
        reduce: makes one value of two.
        overlapping: whether an element goes to several windows. The first element of a window is
            its value, which ``reduce`` may change: so each window needs one of its own.
    """

    def __init__(self, reduce: Callable[[object, object], object], overlapping: bool) -> None:
        self._reduce = reduce
        self._overlapping = overlapping

    def write_lines(self, code: LoopCode, entries: str, indent: str) -> None:
        """Write what reduces the value of a window and an element to one value."""
        held, key, value = code.new_value(), code.key, code.value
        first = f"{code.bind('own', own)}({value})" if self._overlapping else value
        code.add(f"{indent}{held} = {entries}.get({key})")
        code.add(f"{indent}if {held} is None: {held} = {first}")
        code.add(f"{indent}else:")
        code.call(held, "reduce", self._reduce, held, value, indent=f"{indent} ")
        code.add(f"{indent}{entries}[{key}] = {held}")

    def add(self, entries: Entries, key: object, value: object) -> None:
        """Add one element."""
        current = entries.get(key)
        entries[key] = own(value) if current is None else self._reduce(current, value)

    def result(self, held: object) -> object:
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

    def write_lines(self, code: LoopCode, entries: str, indent: str) -> None:
        """Write what adds an element to an accumulator; None empties the accumulator."""
        held, key, value = code.new_value(), code.key, code.value
        create = code.bind("create_accumulator", self._create)
        code.add(f"{indent}if {value} is None: {held} = None")
        code.add(f"{indent}else:")
        code.add(f"{indent} {held} = {entries}.get({key})")
        code.add(f"{indent} if {held} is None: {held} = {create}()")
        code.call(held, "add", self._add, value, held, indent=f"{indent} ")
        code.add(f"{indent}{entries}[{key}] = {held}")

    def add(self, entries: Entries, key: object, value: object) -> None:
        """Add one element; None empties the accumulator."""
        accumulator = entries.get(key)
        if value is None:
            entries[key] = None
            return
        entries[key] = self._add(value, self._create() if accumulator is None else accumulator)

    def result(self, held: object) -> object:
        """Return the result for the accumulator."""
        return None if held is None else self._get_result(held)


def own(value: object) -> object:
    """Return a value that nobody else may change: itself if immutable, else a copy."""
    return value if is_immutable(value) else copied(value)


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


class WindowOperator(FusableOperator, UdfOperator):
    """Puts the elements of each key into windows, and emits what becomes of those that fire.

    Results have the time of what made their window fire: a timer's (the end of the window, with the
    default triggers), or an element's.

    Args:
        description: a pickled WindowDescription.
        merging: whether the assigner's windows merge.
        passes_through: whether the contents themselves are the result, without a window function.
        grid: where the windows are, if they are regular ones with the default trigger.
        means: what the state depends on: the assigner, the trigger and the contents.
    """

    keyed = True
    takes_pairs = True
    emits_itself = True
    emits_timestamps = True

    def __init__(
        self,
        description: UserFunction,
        *,
        merging: bool,
        passes_through: bool,
        grid: WindowGrid | None = None,
        means: Mapping[str, str] | None = None,
    ) -> None:
        self._pickled = description
        self._merging = merging
        self._passes_through = passes_through
        self._grid = grid
        self._means = means or {}
        self._description: WindowDescription | None = None
        self._parts: tuple[object, ...] = ()

    def open(self, context: OperatorContext) -> None:
        """Load the parts, and open the window function."""
        description = self._description = self.description()
        function = description.internal_window_function
        keyed_state_of(context).read_windows(description.window_serializer, STATE_NAME)
        self._open_function(function, context)
        self._operation = WindowOperation(
            description,
            context,
            keyed_state_of(context),
            merging=self._merging,
            passes_through=self._passes_through,
        )
        self._windows = self._kind_of_windows(self._operation)
        self._parts = (self._operation, self._windows, *self._windows.parts(), function)
        self._ended = False

    @property
    def fusable(self) -> bool:
        """True for windows of a grid."""
        return isinstance(self._windows, AlignedWindows)

    def write_lines(self, code: LoopCode) -> None:
        """Add the element to its windows."""
        assert isinstance(self._windows, AlignedWindows)
        self._windows.write_lines(code)

    def description(self) -> WindowDescription:
        """Load the parts of an operator that is not open."""
        description: WindowDescription = self._pickled.load()
        return description

    def times_left_out(
        self, description: WindowDescription, window: Any, *, fired: bool
    ) -> list[int]:
        """List the times (ms) of event-time timers that Flink has for a window and a key.

        Args:
            description: the parts of this operator.
            window: the window.
            fired: whether the window has fired for the key.

        Returns:
            Nothing where this operator has timers itself.
        """
        lateness = description.allowed_lateness
        if self._grid is None or lateness < 0:
            return []
        last = window.max_timestamp()
        times = [] if fired else [last]
        return [*times, last + lateness] if lateness or fired else times

    def process(self, pairs: Iterator[Any]) -> Iterator[Any]:
        """Add elements to windows; emit the results that are due at once."""
        if isinstance(self._windows, GeneralWindows):
            return self._windows.process(pairs)
        return super().process(pairs)

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the results of windows that an advance of event time fires."""
        return self._windows.advance_watermark(watermark)

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Yield the results of windows that an advance of processing time fires."""
        return () if self._ended else self._windows.advance_processing_time(now)

    def next_processing_time(self) -> int | None:
        """Return when the clock may fire a window."""
        return None if self._ended else self._windows.next_processing_time()

    def end_input(self) -> Iterable[Any]:
        """Delete the timers that still wait for processing time."""
        self._ended = True
        return ()

    def close(self) -> None:
        """Close the window function."""
        if self._description is not None:
            self._close_function(self._description.internal_window_function)

    def state_parts(self) -> dict[str, str]:
        """Return the assigner, the trigger and the contents of windows."""
        return {"kind": "windows", **self._means}

    def parts(self) -> Iterable[Any]:
        """Return the windows, and the caller of the window function."""
        return self._parts

    def _kind_of_windows(self, operation: WindowOperation) -> GeneralWindows | AlignedWindows:
        grid = self._grid
        if grid is None or operation.lateness < 0:
            return GeneralWindows(operation)
        contents = contents_of(
            operation.contents, kept=operation.lateness > 0, overlapping=grid.size > grid.slide
        )
        return AlignedWindows(operation, grid, contents)
