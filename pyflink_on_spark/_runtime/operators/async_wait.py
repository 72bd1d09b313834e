"""The operator of ``AsyncDataStream``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.async_calls import (
    Call,
    CallsAsReady,
    CallsInOrder,
    EventLoop,
)
from pyflink_on_spark._runtime.operators.rich_function import RichFunctionOperator
from pyflink_on_spark._runtime.operators.select_key import keyed_rows

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark._runtime.user_code.user_function import UserFunction


class AsyncWaitOperator(RichFunctionOperator):
    """Calls ``async_invoke`` for several elements at a time.

    Calls stay in flight while other elements come. Only a watermark, the barrier of a checkpoint
    and the end of input wait until all calls are over: so results never overtake a watermark, in
    either order, and a snapshot has nothing of them.

    Args:
        function: the user's AsyncFunction.
        timeout: how long all attempts for an element may take together, in ms; 0 for no limit.
        capacity: how many elements may be in flight, those included whose results still wait.
        ordered: whether results come in the order of their elements, or as they are ready.
        retry_strategy: the user's AsyncRetryStrategy; None for a single attempt.
        keyed: whether the stream is keyed. Then elements are rows of key and value, as in PyFlink.
    """

    methods = ("async_invoke", "timeout")

    def __init__(
        self,
        function: UserFunction,
        timeout: int,
        capacity: int,
        ordered: bool,
        retry_strategy: UserFunction | None = None,
        keyed: bool = False,
    ) -> None:
        super().__init__(function)
        self._retry_strategy = retry_strategy
        self._timeout, self._capacity, self._ordered = timeout, capacity, ordered
        self.keyed = keyed
        self._event_loop: EventLoop | None = None

    def open(self, context: OperatorContext) -> None:
        """Load and open the function, start the event loop."""
        context.runtime_context.withhold_state()
        super().open(context)
        self._strategy = None if self._retry_strategy is None else self._retry_strategy.load()
        self._begin(context)

    def _begin(self, context: OperatorContext) -> None:
        self._calls = CallsInOrder() if self._ordered else CallsAsReady()
        self._event_loop = EventLoop(f"async of {context.task.task_name_with_subtasks}")

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the results for the elements."""
        if self.keyed:
            elements = keyed_rows(elements)
        cursor, capacity = self._cursor, self._capacity
        calls = self._calls
        for element in elements:
            timestamp = cursor.timestamp
            while len(calls) >= capacity:
                yield from self._results(calls.wait())
            self._start(element, timestamp, calls)
            while (call := calls.ready()) is not None:
                yield from self._results(call)
            cursor.timestamp = timestamp

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Yield the results that have come meanwhile."""
        return self._ready() if self._calls else ()

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the results of all elements before the watermark."""
        return self.prepare_barrier()

    def prepare_barrier(self) -> Iterable[Any]:
        """Yield the results of all elements before the barrier."""
        return self._all() if self._calls else ()

    def close(self) -> None:
        """Cancel what is in flight, close the function."""
        if self._event_loop is not None:
            self._event_loop.stop()
        super().close()

    def _ready(self) -> Iterator[Any]:
        while (call := self._calls.ready()) is not None:
            yield from self._results(call)

    def _all(self) -> Iterator[Any]:
        while self._calls:
            yield from self._results(self._calls.wait())

    def _start(self, value: Any, timestamp: int | None, calls: CallsInOrder | CallsAsReady) -> None:
        assert self._event_loop is not None
        call = Call(self._loaded, value, timestamp, self._timeout, self._strategy, calls.finished)
        calls.add(call)
        self._event_loop.run(call.start)

    def _results(self, call: Call) -> Iterator[Any]:
        cursor, value = self._cursor, call.value  # noqa: F841 - a failure is traced to the value
        for result in call.results():
            cursor.timestamp = call.timestamp
            yield result
