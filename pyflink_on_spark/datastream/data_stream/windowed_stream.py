"""Streams that are cut into windows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

from pyflink_on_spark._compat.arguments import renamed
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark._runtime.windows.general_windows import WindowOperator
from pyflink_on_spark._runtime.windows.operation import WindowGrid
from pyflink_on_spark.common.typeinfo import TypeInformation
from pyflink_on_spark.datastream.data_stream.data_stream import DataStream, declared_type
from pyflink_on_spark.datastream.data_stream.keyed_stream import KeyedStream
from pyflink_on_spark.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    InternalIterableAllWindowFunction,
    InternalIterableProcessAllWindowFunction,
    InternalIterableProcessWindowFunction,
    InternalIterableWindowFunction,
    InternalSingleValueAllWindowFunction,
    InternalSingleValueProcessAllWindowFunction,
    InternalSingleValueProcessWindowFunction,
    InternalSingleValueWindowFunction,
    NullByteKeySelector,
    PassThroughAllWindowFunction,
    PassThroughWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from pyflink_on_spark.datastream.output_tag import OutputTag
from pyflink_on_spark.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
)
from pyflink_on_spark.datastream.window import (
    EventTimeTrigger,
    MergingWindowAssigner,
    SlidingEventTimeWindows,
    Trigger,
    TumblingEventTimeWindows,
    WindowAssigner,
    WindowOperationDescriptor,
)
from pyflink_on_spark.datastream.window.operation import description_of

WINDOW_STATE_NAME = "window-contents"


AnyWindowFunction = (
    WindowFunction | ProcessWindowFunction | AllWindowFunction | ProcessAllWindowFunction
)


class _Windows:
    """The common part of windows of keyed streams and of streams without key."""

    _kind: str
    _single_value: ClassVar[dict[type, Any]]
    _applied: object
    _processed: object

    def __init__(self, keyed_stream: KeyedStream, window_assigner: WindowAssigner):
        self._keyed_stream = keyed_stream
        self._window_assigner = window_assigner
        self._allowed_lateness = 0
        self._late_data_output_tag: OutputTag | None = None
        self._window_trigger: Trigger | None = None

    def get_execution_environment(self):
        """Return the environment that the stream belongs to."""
        return self._keyed_stream.get_execution_environment()

    def get_input_type(self):
        """Return the type of the elements."""
        return self._keyed_stream._original_data_type_info

    def trigger(self, trigger: Trigger) -> Self:
        """Let another trigger than the assigner's own say when windows fire."""
        self._window_trigger = trigger
        return self

    def allowed_lateness(self, time_ms: int) -> Self:
        """Keep windows of event time for a while after their end, and fire for late elements.

        Args:
            time_ms: how long, in milliseconds.
        """
        self._allowed_lateness = time_ms
        return self

    def side_output_late_data(self, output_tag: OutputTag) -> Self:
        """Send elements that come too late to a side output, instead of dropping them.

        Args:
            output_tag: ask the resulting stream for the side output with this tag.
        """
        self._late_data_output_tag = output_tag
        return self

    def reduce(
        self,
        reduce_function: Callable | ReduceFunction,
        window_function: AnyWindowFunction | None = None,
        output_type: TypeInformation = None,
    ) -> DataStream:
        """Combine each window's elements two by two, as they come.

        Args:
            reduce_function: a function of two elements, or an object with ``reduce``.
            window_function: makes something else of the result; it gets a list of one.
            output_type: the type of the results. If not given: without ``window_function`` that of
                the elements, else untyped.

        Raises:
            TypeError: if a function is of another kind, or cannot be pickled.
        """
        if window_function is None and output_type is None:
            output_type = self.get_input_type()
        state = ReducingStateDescriptor(WINDOW_STATE_NAME, reduce_function, self.get_input_type())
        if not isinstance(reduce_function, ReduceFunction):
            # The callable itself, instead of a method that calls it for each element.
            state.get_reduce_function().reduce = reduce_function
        internal = self._of_single_value(window_function)
        return self._windowed(reduce_function, window_function, internal, state, output_type)

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: AnyWindowFunction | None = None,
        accumulator_type: TypeInformation = None,
        output_type: TypeInformation = None,
    ) -> DataStream:
        """Collect each window's elements in an accumulator, as they come.

        A result None is not emitted.

        Args:
            aggregate_function: makes accumulators, adds elements, and gives the result.
            window_function: makes something else of the result; it gets a list of one.
            accumulator_type: the type of the accumulators.
            output_type: the type of the results; untyped if not given.

        Raises:
            TypeError: if a function is of another kind, or cannot be pickled.
        """
        state = AggregatingStateDescriptor(
            WINDOW_STATE_NAME, aggregate_function, declared_type(accumulator_type)
        )
        internal = self._of_single_value(window_function)
        return self._windowed(aggregate_function, window_function, internal, state, output_type)

    def apply(
        self,
        window_function: WindowFunction | AllWindowFunction,
        output_type: TypeInformation = None,
    ) -> DataStream:
        """Work on all elements of a window at once.

        Args:
            window_function: its ``apply`` returns an iterable of results, or yields them.
            output_type: the type of the results; untyped if not given.

        Raises:
            TypeError: if the function cannot be pickled.
        """
        return self._collecting(window_function, self._applied, output_type)

    def process(
        self,
        process_window_function: ProcessWindowFunction | ProcessAllWindowFunction,
        output_type: TypeInformation = None,
    ) -> DataStream:
        """Work on all elements of a window at once, with time, state and side outputs at hand.

        Args:
            process_window_function: its ``process`` returns an iterable of results, or yields them.
            output_type: the type of the results; untyped if not given.

        Raises:
            TypeError: if the function cannot be pickled.
        """
        return self._collecting(process_window_function, self._processed, output_type)

    def _collecting(self, function: Any, internal: Any, output_type: object) -> DataStream:
        state = ListStateDescriptor(WINDOW_STATE_NAME, self.get_input_type())
        return self._windowed(None, function, internal(function), state, output_type)

    @staticmethod
    @abstractmethod
    def _passed_through() -> object:
        """Return the function that emits this one value unchanged."""

    def _of_single_value(self, function: object) -> object:
        """Return the function for windows with one value, which was combined from the elements."""
        for kind, internal in self._single_value.items():
            if isinstance(function, kind):
                return internal(function)
        if function is None:
            return self._passed_through()
        kinds = " or ".join(kind.__name__ for kind in self._single_value)
        raise TypeError(f"window_function should be a {kinds}")

    def _windowed(
        self,
        incremental: object,
        function: object,
        internal: Any,
        state: StateDescriptor,
        output_type: object,
    ) -> DataStream:
        if self._window_trigger is None:
            self._window_trigger = self._window_assigner.get_default_trigger(
                self.get_execution_environment()
            )
        description = WindowOperationDescriptor(
            self._window_assigner,
            self._window_trigger,
            self._allowed_lateness,
            self._late_data_output_tag,
            state,
            self._window_assigner.get_window_serializer(),
            internal,
        )
        operator = WindowOperator(
            _pickled(description, incremental, function),
            merging=isinstance(self._window_assigner, MergingWindowAssigner),
            passes_through=function is None,
            grid=_grid(self._window_assigner, self._window_trigger),
            means={
                "assigner": description_of(self._window_assigner),
                "trigger": description_of(self._window_trigger),
                "contents": f"{state._kind} of {state.type_info}",
            },
        )
        named = [part for part in (incremental, function) if part is not None]
        functions = ", ".join(type(part).__name__ for part in named)
        stream = self._keyed_stream._then(
            description.generate_op_name(), operator, declared_type(output_type)
        )
        return stream.set_description(description.generate_op_desc(self._kind, functions))


class WindowedStream(_Windows):
    """A keyed stream whose elements are put into windows, those of each key on their own.

    Args:
        keyed_stream: the stream.
        window_assigner: which windows an element belongs to.
    """

    _kind = "Window"
    _single_value: ClassVar[dict[type, Any]] = {
        WindowFunction: InternalSingleValueWindowFunction,
        ProcessWindowFunction: InternalSingleValueProcessWindowFunction,
    }
    _applied = InternalIterableWindowFunction
    _processed = InternalIterableProcessWindowFunction

    apply = renamed(output_type="result_type")(_Windows.apply)
    process = renamed(output_type="result_type")(_Windows.process)

    @staticmethod
    def _passed_through() -> object:
        return InternalSingleValueWindowFunction(PassThroughWindowFunction())


class AllWindowedStream(_Windows):
    """A stream whose elements, all of them together, are put into windows.

    One subtask gets all elements, whatever the parallelism.

    Args:
        data_stream: the stream.
        window_assigner: which windows an element belongs to.
    """

    _kind = "AllWindow"
    _single_value: ClassVar[dict[type, object]] = {
        AllWindowFunction: InternalSingleValueAllWindowFunction,
        ProcessAllWindowFunction: InternalSingleValueProcessAllWindowFunction,
    }
    _applied = InternalIterableAllWindowFunction
    _processed = InternalIterableProcessAllWindowFunction

    def __init__(self, data_stream: DataStream, window_assigner: WindowAssigner):
        super().__init__(data_stream.key_by(NullByteKeySelector()), window_assigner)

    def trigger(self, trigger: Trigger) -> AllWindowedStream:
        """Let another trigger than the assigner's own say when windows fire.

        Raises:
            TypeError: if windows merge and the trigger cannot.
        """
        merging = isinstance(self._window_assigner, MergingWindowAssigner)
        if merging and trigger.can_merge() is not True:
            raise TypeError(
                "A merging window assigner cannot be used with a trigger that does not support "
                "merging."
            )
        return super().trigger(trigger)

    @staticmethod
    def _passed_through() -> object:
        return InternalSingleValueAllWindowFunction(PassThroughAllWindowFunction())


def _grid(assigner: object, trigger: object) -> WindowGrid | None:
    """Return where windows are that need neither their assigner nor their trigger; else None."""
    if type(trigger) is not EventTimeTrigger:
        return None
    if type(assigner) is TumblingEventTimeWindows:
        return WindowGrid(assigner._size, assigner._size, assigner._offset)
    if type(assigner) is SlidingEventTimeWindows:
        return WindowGrid(assigner._size, assigner._slide, assigner._offset)
    return None


def _pickled(description: WindowOperationDescriptor, *functions: object) -> UserFunction:
    try:
        return UserFunction.of(description)
    except TypeError:
        for part in (*functions, description.assigner, description.trigger):
            UserFunction.of(part)  # the message is to name the part that cannot be pickled
        raise
