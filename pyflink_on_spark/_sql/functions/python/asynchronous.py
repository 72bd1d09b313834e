"""Coroutine functions that the user has written in Python."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pyflink_on_spark._sql.functions.python.binding import Arguments, CallBinding, Convert


class AsyncBinding(CallBinding):
    """Calls a coroutine function."""

    def call(self, evaluate: Any, arguments: Arguments, result: Convert) -> Any:
        """Return a coroutine function of the list of all arguments."""

        async def value(args: Sequence[Any]) -> Any:
            found = evaluate(*arguments(args))
            return result(await found if asyncio.iscoroutine(found) else found)

        return value
