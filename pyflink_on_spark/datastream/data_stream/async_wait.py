"""The operator of ``AsyncDataStream``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.async_wait import AsyncWaitOperator
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark.datastream.data_stream.flow import declared_type

if TYPE_CHECKING:
    from pyflink_on_spark.common.typeinfo import TypeInformation
    from pyflink_on_spark.datastream.data_stream.data_stream import DataStream
    from pyflink_on_spark.datastream.functions import AsyncFunction, AsyncRetryStrategy


def async_wait(
    stream: DataStream,
    async_function: AsyncFunction,
    timeout_ms: int,
    capacity: int,
    output_type: TypeInformation | list[Any] | None,
    ordered: bool,
    retry_strategy: AsyncRetryStrategy | None = None,
) -> DataStream:
    """Let an asynchronous function work on a stream's elements, several at a time.

    Args:
        stream: the stream; a keyed one gives rows of key and element.
        async_function: the function.
        timeout_ms: how long all attempts for an element may take; 0 for no limit.
        capacity: how many elements may be in flight in each subtask.
        output_type: the type of the results; untyped if not given.
        ordered: whether results come in the order of the elements.
        retry_strategy: whether and when to try again; never if not given.

    Raises:
        ValueError: if ``capacity`` is less than 1.
        TypeError: if the function or the strategy cannot be pickled.
    """
    if capacity < 1:
        raise ValueError(f"The capacity must be at least 1, not {capacity}: nothing could start.")
    operator = AsyncWaitOperator(
        UserFunction.of(async_function),
        timeout_ms,
        capacity,
        ordered,
        None if retry_strategy is None else UserFunction.of(retry_strategy),
        keyed=hasattr(stream, "_origin_stream"),
    )
    return stream._then("async wait operator", operator, declared_type(output_type))
