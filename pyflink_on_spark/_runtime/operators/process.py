"""ProcessFunction, and what all process functions have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.function_contexts import ElementContext
from pyflink_on_spark._runtime.operators.rich_function import RichFunctionOperator
from pyflink_on_spark._runtime.state.timers import NonKeyedTimerService

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

Call = Callable[[Any, Any], Any]


class _TagTypes(dict[type, bool]):
    """Tells which classes are those of OutputTags: they have the attribute ``_is_output_tag``."""

    def __missing__(self, kind: type) -> bool:
        answer = self[kind] = getattr(kind, "_is_output_tag", False)
        return answer


IS_TAG = _TagTypes()


class AnyProcessOperator(RichFunctionOperator):
    """Calls methods that give back nothing, or something to iterate over.

    A result ``(tag, value)`` goes to a side output.
    """

    def _for_each(self, elements: Iterator[Any], call: Call, context: Any) -> Iterator[Any]:
        side_output = self._context.side_output
        for value in elements:
            results = call(value, context)
            if results:
                for result in results:
                    if type(result) is tuple and len(result) == 2 and IS_TAG[type(result[0])]:
                        side_output(result[0].tag_id, result[1])
                    else:
                        yield result


class ProcessOperator(AnyProcessOperator):
    """Calls ``process_element`` for each element of a stream without key.

    Args:
        function: the user's ProcessFunction.
    """

    methods = ("process_element",)

    def open(self, context: OperatorContext) -> None:
        """Load and open the function."""
        head = context.head_state
        timers = None if head is None else head.timers
        self._timer_service = NonKeyedTimerService(context.clock, timers)
        self._element_context = ElementContext(context.cursor, self._timer_service)
        super().open(context)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield what comes out for each element."""
        return self._for_each(elements, self._loaded.process_element, self._element_context)

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Note the event time."""
        self._timer_service.watermark = watermark
        return ()
