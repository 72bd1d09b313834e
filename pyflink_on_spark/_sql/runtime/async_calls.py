"""Functions of the user's that are called for several rows at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.async_wait import AsyncWaitOperator
from pyflink_on_spark._sql.codegen.program import Binding, Program

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


@dataclass(frozen=True)
class AsyncSettings:
    """How calls are made.

    Args:
        capacity: how many may be in flight.
        timeout: how long all attempts for a row may take together, in ms.
        attempts: how many attempts may follow the first one; 0 for none.
        delay: the time before each of them, in ms.
    """

    capacity: int
    timeout: int
    attempts: int
    delay: int


class AsyncCalls(AsyncWaitOperator):
    """Adds a column that a coroutine function computes, in the order of the rows.

    Args:
        binding: loads the function.
        arguments: computes the arguments of a row.
        settings: how calls are made.
        changelog: whether elements are pairs of the kind and the row.
    """

    frozen = True

    def __init__(
        self, binding: Binding, arguments: Program, settings: AsyncSettings, changelog: bool
    ) -> None:
        self._timeout, self._capacity, self._ordered = settings.timeout, settings.capacity, True
        self._binding, self._arguments, self._changelog = binding, arguments, changelog
        self._settings = settings
        self._event_loop = self._loaded = None

    def open(self, context: OperatorContext) -> None:
        """Load and open the function, start the event loop."""
        self._context, self._cursor = context, context.cursor
        self._program = self._arguments.load(context)
        self._function = self._binding.load(context)
        self._loaded = _Calls(self._function, self._program.function, self._changelog)
        self._strategy = _FixedDelay(self._settings) if self._settings.attempts else None
        self._begin(context)

    def close(self) -> None:
        """Cancel what is in flight, close the function."""
        if self._event_loop is not None:
            self._event_loop.stop()
        if self._loaded is not None:
            self._binding.close(self._function)
            self._program.close()


class _Calls:
    """The function as the operator calls it: of an element."""

    def __init__(self, function: Any, arguments: Any, changelog: bool) -> None:
        self._function, self._arguments, self._changelog = function, arguments, changelog

    async def async_invoke(self, value: Any) -> list[Any]:
        if self._changelog:
            kind, row = value
            return [(kind, (*row, await self._function(self._arguments(row))))]
        return [(*value, await self._function(self._arguments(value)))]

    def timeout(self, value: Any) -> list[Any]:
        row = value[1] if self._changelog else value
        raise TimeoutError(
            f"Async function call has timed out for input: {list(self._arguments(row))}"
        )


class _FixedDelay:
    """Makes a number of further attempts after any error."""

    def __init__(self, settings: AsyncSettings) -> None:
        self._settings = settings

    def can_retry(self, attempts: int) -> bool:
        return attempts <= self._settings.attempts

    def get_backoff_time_millis(self, attempts: int) -> int:
        return self._settings.delay

    def get_retry_predicate(self) -> _FixedDelay:
        return self

    def exception_predicate(self) -> Any:
        return lambda _: True

    def result_predicate(self) -> None:
        return None
