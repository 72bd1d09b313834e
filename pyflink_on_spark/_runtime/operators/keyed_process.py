"""KeyedProcessFunction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.function_contexts import KeyedElementContext, TimerContext
from pyflink_on_spark._runtime.operators.timer_driven import TimeDomains, TimerDrivenOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark._runtime.user_code.user_function import UserFunction


class KeyedProcessOperator(TimerDrivenOperator):
    """Calls ``process_element`` for each element, and ``on_timer``.

    Args:
        function: the user's KeyedProcessFunction.
        time_domains: the members of the enum TimeDomain, for event time and for processing time.
    """

    keyed = True
    methods = ("process_element", "on_timer")

    def __init__(self, function: UserFunction, time_domains: TimeDomains) -> None:
        super().__init__(function, True, time_domains)

    def process(self, pairs: Iterator[Any]) -> Iterator[Any]:
        """Yield what comes out for each element."""
        return self._for_each_pair(pairs, self._loaded.process_element, self._element_context)

    def _make_contexts(self, context: OperatorContext) -> None:
        cursor, service = context.cursor, self._timer_service
        self._element_context = KeyedElementContext(cursor, service, self._backend)
        self._timer_context = TimerContext(cursor, service, self._backend)
