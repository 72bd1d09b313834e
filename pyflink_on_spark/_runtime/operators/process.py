"""ProcessFunction on a stream without key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyflink_on_spark._runtime.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.context import Cursor, OperatorContext
from pyflink_on_spark._runtime.operators.results import is_output_tag
from pyflink_on_spark._runtime.operators.rich_function import RichFunctionOperator
from pyflink_on_spark._runtime.timers import UnkeyedTimerService


class ProcessContext:
    """What ``process_element`` gets on a stream without key.

    Args:
        cursor: has the element's timestamp.
        timer_service: tells the time.
    """

    __slots__ = ("_cursor", "_timer_service")

    def __init__(self, cursor: Cursor, timer_service: Any) -> None:
        self._cursor = cursor
        self._timer_service = timer_service

    def timer_service(self) -> Any:
        """Return what tells the time."""
        return self._timer_service

    def timestamp(self) -> int:
        """Return the element's timestamp in ms; -2**63 if it has none."""
        timestamp = self._cursor.timestamp
        return MIN_TIMESTAMP if timestamp is None else timestamp


class ProcessOperator(RichFunctionOperator):
    """Calls ``process_element`` for each element."""

    methods = ("process_element",)

    def open(self, context: OperatorContext) -> None:
        """Load and open the function."""
        self._timer_service = UnkeyedTimerService(context.clock)
        super().open(context)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield what comes out for each element."""
        process_element = self._loaded.process_element
        side_output = self._context.side_output
        context = ProcessContext(self._cursor, self._timer_service)
        for value in elements:
            results = process_element(value, context)
            if results:
                for result in results:
                    if type(result) is tuple and len(result) == 2 and is_output_tag(result[0]):
                        side_output(result[0].tag_id, result[1])
                    else:
                        yield result

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Note the event time."""
        self._timer_service.watermark = watermark
        return ()
