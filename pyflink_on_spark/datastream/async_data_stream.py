"""Operators that wait for something outside without holding up the other elements."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._runtime.operators.async_wait import AsyncWaitOperator
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark.common.time import Time
from pyflink_on_spark.common.typeinfo import TypeInformation
from pyflink_on_spark.datastream.async_retry_strategies import NO_RETRY_STRATEGY
from pyflink_on_spark.datastream.data_stream.data_stream import declared_type
from pyflink_on_spark.datastream.functions import (
    AsyncFunction,
    AsyncRetryStrategy,
)

if TYPE_CHECKING:
    from pyflink_on_spark.datastream.data_stream import DataStream

__all__ = ["AsyncDataStream"]


class AsyncDataStream:
    """Adds asynchronous functions to streams."""

    @staticmethod
    def unordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction,
        timeout: Time,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Apply a function whose results come out as they are ready, within a watermark.

        Args:
            data_stream: whose elements the function gets.
            async_function: the function.
            timeout: how long the call for an element may take.
            capacity: how many elements may be under way in a parallel instance.
            output_type: the type of the results; None means untyped.
        """
        return AsyncDataStream.unordered_wait_with_retry(
            data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type
        )

    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction,
        timeout: Time,
        async_retry_strategy: AsyncRetryStrategy,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Apply a function that is tried again; results come out as they are ready.

        Args:
            data_stream: whose elements the function gets.
            async_function: the function.
            timeout: how long all attempts for an element may take together.
            async_retry_strategy: whether and when to try again.
            capacity: how many elements may be under way in a parallel instance.
            output_type: the type of the results; None means untyped.
        """
        return _wait(
            data_stream,
            async_function,
            timeout,
            async_retry_strategy,
            capacity,
            output_type,
            ordered=False,
        )

    @staticmethod
    def ordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction,
        timeout: Time,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Apply a function whose results come out in the order of the elements.

        Args:
            data_stream: whose elements the function gets.
            async_function: the function.
            timeout: how long the call for an element may take.
            capacity: how many elements may be under way in a parallel instance.
            output_type: the type of the results; None means untyped.
        """
        return AsyncDataStream.ordered_wait_with_retry(
            data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type
        )

    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction,
        timeout: Time,
        async_retry_strategy: AsyncRetryStrategy,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Apply a function that is tried again; results come out in the order of the elements.

        Args:
            data_stream: whose elements the function gets.
            async_function: the function.
            timeout: how long all attempts for an element may take together.
            async_retry_strategy: whether and when to try again.
            capacity: how many elements may be under way in a parallel instance.
            output_type: the type of the results; None means untyped.
        """
        return _wait(
            data_stream,
            async_function,
            timeout,
            async_retry_strategy,
            capacity,
            output_type,
            ordered=True,
        )


def _wait(
    data_stream: DataStream,
    async_function: AsyncFunction,
    timeout: Time,
    strategy: AsyncRetryStrategy,
    capacity: int,
    output_type: TypeInformation | None,
    *,
    ordered: bool,
) -> DataStream:
    _check(async_function, timeout, strategy)
    if capacity < 1:
        raise ValueError(f"The capacity must be at least 1, not {capacity}: nothing could start.")
    operator = AsyncWaitOperator(
        UserFunction.of(async_function),
        timeout.to_milliseconds(),
        capacity,
        ordered,
        None if strategy == NO_RETRY_STRATEGY else UserFunction.of(strategy),
        keyed=hasattr(data_stream, "_origin_stream"),
    )
    return data_stream._then("async wait operator", operator, declared_type(output_type))


def _check(async_function: AsyncFunction, timeout: Time, strategy: AsyncRetryStrategy) -> None:
    if not inspect.iscoroutinefunction(async_function.async_invoke):
        raise Exception(
            f"Method 'async_invoke' of class '{type(async_function)}' should be declared as "
            "'async def'."
        )
    if strategy is None:
        raise Exception("Async retry strategy should not be None.")
    if strategy != NO_RETRY_STRATEGY and timeout.to_milliseconds() <= 0:
        raise Exception("Timeout should be configured when do async with retry.")
    if strategy.get_retry_predicate() is None:
        raise Exception(f"Retry predicate of the async retry strategy '{type(strategy)}' is None.")


__getattr__ = missing_name(__name__)
