"""The common parts of the windows of one operator: the user's functions, and the outputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark._runtime.elements.immutability import unwrap_key
from pyflink_on_spark._runtime.operators.process import IS_TAG
from pyflink_on_spark._runtime.operators.timestamps import LateRows
from pyflink_on_spark._runtime.state.keyed_state import MergingState

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext, RuntimeContext
    from pyflink_on_spark._runtime.elements.time import Clock
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend


class AssignerContext:
    """For ``assign_windows``.

    Args:
        clock: processing time.
        runtime_context: where the operator runs.
    """

    __slots__ = ("_clock", "_runtime_context")

    def __init__(self, clock: Clock, runtime_context: RuntimeContext) -> None:
        self._clock = clock
        self._runtime_context = runtime_context

    def get_current_processing_time(self) -> int:
        """Return the clock's time in ms."""
        return self._clock.now()

    def get_runtime_context(self) -> RuntimeContext:
        """Return where the operator runs, and the state of the current key."""
        return self._runtime_context


class TriggerContext:
    """For a trigger: the time, and the timers and the state of the current key and one window.

    Args:
        backend: has the states and the timers.
        runtime_context: has the metrics.
    """

    __slots__ = ("_backend", "_runtime_context", "_timers", "merged", "window")

    def __init__(self, backend: KeyedStateBackend, runtime_context: RuntimeContext) -> None:
        self._backend = backend
        self._timers = backend.timers
        self._runtime_context = runtime_context
        self.window: object = None
        self.merged: Collection[object] = ()

    def get_current_processing_time(self) -> int:
        """Return the clock's time in ms."""
        return self._timers.clock.now()

    def get_metric_group(self) -> object:
        """Return the operator's metric group."""
        return self._runtime_context.get_metrics_group()

    def get_current_watermark(self) -> int:
        """Return the event time in ms; -2**63 before the first watermark."""
        return self._timers.watermark

    def register_processing_time_timer(self, time: int) -> None:
        """Ask for ``on_processing_time`` once the clock has passed a time (ms)."""
        self._timers.processing.register(time, self._backend.key, self.window)

    def register_event_time_timer(self, time: int) -> None:
        """Ask for ``on_event_time`` once the watermark has reached a time (ms)."""
        self._timers.event.register(time, self._backend.key, self.window)

    def delete_processing_time_timer(self, time: int) -> None:
        """Take back a timer; nothing happens if it is not there."""
        self._timers.processing.delete(time, self._backend.key, self.window)

    def delete_event_time_timer(self, time: int) -> None:
        """Take back a timer; nothing happens if it is not there."""
        self._timers.event.delete(time, self._backend.key, self.window)

    def get_partitioned_state(self, state_descriptor: object) -> object:
        """Return a state of the current key and the window."""
        state = state_of(self._backend, state_descriptor)
        state.set_current_namespace(self.window)
        return state

    def merge_partitioned_state(self, state_descriptor: object) -> None:
        """Add a state of the windows that were merged to that of the window."""
        if not self.merged:
            return
        state = state_of(self._backend, state_descriptor)
        if not isinstance(state, MergingState):
            raise TypeError(
                "The given state descriptor does not refer to a mergeable state (MergingState)"
            )
        state.merge_namespaces(self.window, self.merged)


class FunctionContext:
    """For window functions, and for their ``clear``.

    Args:
        backend: has the states and the timers.
        merging: whether windows merge: then they have no state of their own.
    """

    __slots__ = ("_global_state", "_timers", "_window_state", "window")

    def __init__(self, backend: KeyedStateBackend, merging: bool) -> None:
        self._timers = backend.timers
        self._window_state = NoWindowState(backend) if merging else StateOfNamespace(backend)
        self._global_state = StateOfNamespace(backend)
        self.window: object = None

    def current_processing_time(self) -> int:
        """Return the clock's time in ms."""
        return self._timers.clock.now()

    def current_watermark(self) -> int:
        """Return the event time in ms; -2**63 before the first watermark."""
        return self._timers.watermark

    def window_state(self) -> StateOfNamespace:
        """Return the state of the current key and the window."""
        self._window_state.namespace = self.window
        return self._window_state

    def global_state(self) -> StateOfNamespace:
        """Return the state of the current key."""
        return self._global_state


class StateOfNamespace:
    """Gives a function the states of the current key: those of a window, or those of none.

    Args:
        backend: has the states.
    """

    __slots__ = ("_backend", "namespace")

    def __init__(self, backend: KeyedStateBackend) -> None:
        self._backend = backend
        self.namespace: object = None

    def get_state(self, state_descriptor: object) -> object:
        """Return the single value."""
        return self._used(self._backend.value_state(state_descriptor))

    def get_list_state(self, state_descriptor: object) -> object:
        """Return the list."""
        return self._used(self._backend.list_state(state_descriptor))

    def get_map_state(self, state_descriptor: object) -> object:
        """Return the map."""
        return self._used(self._backend.map_state(state_descriptor))

    def get_reducing_state(self, state_descriptor: object) -> object:
        """Return the reduced value."""
        return self._used(self._backend.reducing_state(state_descriptor))

    def get_aggregating_state(self, state_descriptor: object) -> object:
        """Return the aggregate."""
        return self._used(self._backend.aggregating_state(state_descriptor))

    def _used(self, state: Any) -> object:
        state.set_current_namespace(self.namespace)
        return state


class NoWindowState(StateOfNamespace):
    """Refuses: a window that may be merged into another has no state of its own."""

    __slots__ = ()

    def get_state(self, state_descriptor: object) -> object:
        """Raise an error."""
        raise _not_with_merging_windows()

    get_list_state = get_map_state = get_state
    get_reducing_state = get_aggregating_state = get_state


def _not_with_merging_windows() -> Exception:
    return RuntimeError("Per-window state is not allowed when using merging windows.")


def state_of(backend: KeyedStateBackend, descriptor: object) -> Any:
    """Return the state that a descriptor of whatever kind describes."""
    try:
        return backend.described(descriptor)
    except TypeError:
        raise TypeError(f"Unsupported state descriptor: {type(descriptor)}") from None


class WindowDescription(Protocol):
    """The parts of a window operation; the mirror's WindowOperationDescriptor has them."""

    assigner: Any
    trigger: Any
    allowed_lateness: int
    late_data_output_tag: Any
    window_state_descriptor: Any
    window_serializer: Any
    internal_window_function: Any


@dataclass(frozen=True)
class WindowGrid:
    """Windows of event time at regular distances. All in ms.

    Args:
        size: how long they are.
        slide: the distance between the starts of two.
        offset: a time at which one starts, if it were long ago or to come.
    """

    size: int
    slide: int
    offset: int


class WindowOperation:
    """The parts of an operation in a subtask.

    Args:
        description: the parts, loaded.
        context: of the operator.
        backend: the keyed state of the operator.
        merging: whether windows merge.
        passes_through: whether the contents themselves are the result, without a function.
    """

    def __init__(
        self,
        description: WindowDescription,
        context: OperatorContext,
        backend: KeyedStateBackend,
        *,
        merging: bool,
        passes_through: bool,
    ) -> None:
        self.assigner = description.assigner
        self.trigger = description.trigger
        self.lateness = description.allowed_lateness
        self.contents = description.window_state_descriptor
        self.batch = context.task.batch
        self.event_time: bool = description.assigner.is_event_time()
        self.merging = merging
        self.passes_through = passes_through
        self.backend = backend
        self.timers = backend.timers
        self.cursor = context.cursor
        self.runtime_context = context.runtime_context
        self.assigner_context = AssignerContext(context.clock, context.runtime_context)
        self._late = LateRows(context)
        self._side_output: Callable[[str, object], None] = context.side_output
        tag = description.late_data_output_tag
        self._late_tag: str | None = None if tag is None else tag.tag_id
        function = description.internal_window_function
        self._function = None if passes_through else function
        self._function_context = FunctionContext(backend, merging)

    def emit(self, window: object, contents: object, timestamp: int | None) -> Iterator[object]:
        """Yield the results of the current key's window, with a timestamp in ms."""
        cursor = self.cursor
        if self._function is None:
            cursor.timestamp = timestamp
            yield contents
            return
        context = self._function_context
        context.window = window
        key = unwrap_key(self.backend.key)
        cursor.timestamp = timestamp
        for result in self._function.process(key, window, context, contents):
            cursor.timestamp = timestamp
            if type(result) is tuple and len(result) == 2 and IS_TAG[type(result[0])]:
                self._side_output(result[0].tag_id, result[1])
            else:
                yield result

    def clear(self, window: object) -> None:
        """Let the user's function clear its state for the current key's window."""
        if self._function is not None:
            self._function_context.window = window
            self._function.clear(window, self._function_context)

    def too_late(self, value: object, timestamp: int | None) -> None:
        """Put an element that belongs to no window any more into its side output, or count it."""
        if self._late_tag is None:
            self._late.drop()
        else:
            self.cursor.timestamp = timestamp
            self._side_output(self._late_tag, value)

    def cleanup_time(self, window: Any) -> int:
        """Return when a window is cleared (ms); 2**63 - 1 for never.

        Raises:
            OverflowError: if the window ends after all time.
        """
        last: int = window.max_timestamp()
        if last > MAX_WATERMARK:
            raise OverflowError(
                f"{window} ends after the largest timestamp, {MAX_WATERMARK}. "
                "In BATCH mode the results of reduce, sum and the like have that timestamp."
            )
        if not self.event_time:
            return last
        if self.lateness < 0:
            return MAX_WATERMARK  # nonsense, which PyFlink takes for an overflow
        return min(last + self.lateness, MAX_WATERMARK)
