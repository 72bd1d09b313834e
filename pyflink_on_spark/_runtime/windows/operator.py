"""The operator of ``window`` and ``window_all``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.function_loop import FusableOperator, LoopCode
from pyflink_on_spark._runtime.operators.stateless import UdfOperator, keyed_state_of
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark._runtime.windows.aligned_windows import AlignedWindows
from pyflink_on_spark._runtime.windows.general_windows import STATE_NAME as MERGING
from pyflink_on_spark._runtime.windows.general_windows import GeneralWindows, contents_of
from pyflink_on_spark._runtime.windows.operation import (
    WindowDescription,
    WindowGrid,
    WindowOperation,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


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
        self._parts: tuple[Any, ...] = ()

    def open(self, context: OperatorContext) -> None:
        """Load the parts, and open the window function."""
        description = self._description = self.description()
        function = description.internal_window_function
        keyed_state_of(context).read_windows(description.window_serializer, MERGING)
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
