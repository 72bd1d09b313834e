"""Coroutine functions that the user has written in Python."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark._sql.functions.python.binding import UserBinding, result_of
from pyflink_on_spark._sql.types.logical import LogicalType


class AsyncBinding(UserBinding):
    """Calls a coroutine function.

    Args:
        function: the function.
        types: the types of the arguments.
        result: the type of the result.
    """

    def __init__(
        self, function: UserFunction, types: Sequence[LogicalType], result: LogicalType
    ) -> None:
        super().__init__(function, types)
        self._result = result

    def caller(self, loaded: Any) -> Any:
        """Return a coroutine function of all arguments."""
        evaluate = getattr(loaded, "eval", loaded)
        arguments, result = self.arguments(), result_of(self._result)

        async def call(args: Sequence[Any]) -> Any:
            value = evaluate(*arguments(args))
            return result(await value if asyncio.iscoroutine(value) else value)

        call.owner = loaded  # type: ignore[attr-defined]
        return call
