"""Functions that wait for something outside without holding up the other elements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

from pyflink_on_spark.datastream.functions.element_functions import Function

IN = TypeVar("IN")
OUT = TypeVar("OUT")


class AsyncRetryPredicate(ABC, Generic[OUT]):
    """Decides which outcomes of a call are retried."""

    @abstractmethod
    def result_predicate(self) -> Callable[[list[OUT]], bool] | None:
        """Return the test for results that are retried, or None."""

    @abstractmethod
    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        """Return the test for exceptions that are retried, or None."""


class AsyncRetryStrategy(ABC, Generic[OUT]):
    """Decides whether, when and how often a call is retried."""

    @abstractmethod
    def can_retry(self, current_attempts: int) -> bool:
        """True if another attempt is allowed.

        Args:
            current_attempts: how many there were.
        """

    @abstractmethod
    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return how long to wait before the next attempt, in milliseconds.

        Args:
            current_attempts: how many there were.
        """

    @abstractmethod
    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return the predicate that decides which results and exceptions are retried."""

    @staticmethod
    def no_restart():
        """Return the strategy that never tries again."""
        from pyflink_on_spark.datastream.async_retry_strategies import NO_RETRY_STRATEGY

        return NO_RETRY_STRATEGY

    @staticmethod
    def fixed_delay(
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ):
        """Return a strategy that waits the same time before each further attempt.

        Args:
            max_attempts: how many attempts there may be after the first.
            backoff_time_millis: the time to wait, in milliseconds.
            result_predicate: which results to try again, or None.
            exception_predicate: which exceptions to try again, or None.
        """
        from pyflink_on_spark.datastream.async_retry_strategies import FixedDelayRetryStrategy

        return FixedDelayRetryStrategy(
            max_attempts, backoff_time_millis, result_predicate, exception_predicate
        )

    @staticmethod
    def exponential_backoff(
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ):
        """Return a strategy that waits longer before each further attempt.

        Args:
            max_attempts: how many attempts there may be after the first.
            initial_delay: the time to wait before the second attempt, in milliseconds.
            max_retry_delay: the longest time to wait, in milliseconds.
            multiplier: what the time grows by from attempt to attempt.
            result_predicate: which results to try again, or None.
            exception_predicate: which exceptions to try again, or None.
        """
        from pyflink_on_spark.datastream.async_retry_strategies import (
            ExponentialBackoffDelayRetryStrategy,
        )

        return ExponentialBackoffDelayRetryStrategy(
            max_attempts,
            initial_delay,
            max_retry_delay,
            multiplier,
            result_predicate,
            exception_predicate,
        )


class AsyncFunction(Function, Generic[IN, OUT]):
    """Makes any number of elements of each element, with calls that are awaited.

    Example:
        >>> class Double(AsyncFunction):
        ...     async def async_invoke(self, value):
        ...         await asyncio.sleep(0)
        ...         return [2 * value]
        >>> numbers = env.from_collection([1, 2], Types.INT())
        >>> doubled = AsyncDataStream.ordered_wait(
        ...     numbers, Double(), Time.seconds(10), capacity=2, output_type=Types.INT()
        ... )
        >>> list(doubled.execute_and_collect())
        [2, 4]
    """

    @abstractmethod
    async def async_invoke(self, value: IN) -> list[OUT]:
        """Return the list of what becomes of an element."""

    def timeout(self, value: IN) -> list[OUT]:
        """Return the results for an element whose call has timed out.

        Raises:
            TimeoutError: always, and the job fails, unless a subclass says otherwise.
        """
        raise TimeoutError(f"Async function call has timed out for input: {value}")


class AsyncFunctionDescriptor:
    """An asynchronous function with its settings.

    Args:
        async_function: the function.
        timeout: the time that all attempts of an element may take together.
        capacity: how many elements may be under way.
        async_retry_strategy: whether and when to try again.
        output_mode: in which order results come out.
    """

    class OutputMode(Enum):
        """The order of results: that of the elements, or that in which they are ready."""

        ORDERED = 0
        UNORDERED = 1

    def __init__(self, async_function, timeout, capacity, async_retry_strategy, output_mode):
        self.async_function = async_function
        self.timeout = timeout
        self.capacity = capacity
        self.async_retry_strategy = async_retry_strategy
        self.output_mode = output_mode
