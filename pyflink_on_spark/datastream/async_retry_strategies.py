"""Retries of asynchronous calls: their number, and the time between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.datastream.functions import AsyncRetryPredicate, AsyncRetryStrategy

__all__ = [
    "RetryPredicate",
    "NoRetryStrategy",
    "FixedDelayRetryStrategy",
    "ExponentialBackoffDelayRetryStrategy",
]

OUT = TypeVar("OUT")


class RetryPredicate(AsyncRetryPredicate, Generic[OUT]):
    """A predicate on results and one on exceptions.

    Args:
        result_predicate: which results to try again, or None.
        exception_predicate: which exceptions to try again, or None.
    """

    def __init__(
        self,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ):
        self._result_predicate = result_predicate
        self._exception_predicate = exception_predicate

    def result_predicate(self) -> Callable[[list[OUT]], bool] | None:
        """Return which results to try again, or None."""
        return self._result_predicate

    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        """Return which exceptions to try again, or None."""
        return self._exception_predicate


class NoRetryStrategy(AsyncRetryStrategy, Generic[OUT]):
    """Never tries again."""

    def can_retry(self, current_attempts: int) -> bool:
        """Return False."""
        return False

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return -1."""
        return -1

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return a predicate without conditions."""
        return RetryPredicate(None, None)


class FixedDelayRetryStrategy(AsyncRetryStrategy, Generic[OUT]):
    """Waits the same time before each further attempt.

    Args:
        max_attempts: how many attempts there may be after the first.
        backoff_time_millis: the time to wait, in milliseconds.
        result_predicate: which results to try again, or None.
        exception_predicate: which exceptions to try again, or None.

    Raises:
        AssertionError: a number is not more than 0.
    """

    def __init__(
        self,
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ):
        _require_positive(max_attempts=max_attempts, backoff_time_millis=backoff_time_millis)
        self._max_attempts = max_attempts
        self._backoff_time_millis = backoff_time_millis
        self._result_predicate = result_predicate
        self._exception_predicate = exception_predicate

    def can_retry(self, current_attempts: int) -> bool:
        """True while fewer retries than allowed were made."""
        return current_attempts <= self._max_attempts

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the time to wait, in milliseconds."""
        return self._backoff_time_millis

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return which outcomes to try again."""
        return RetryPredicate(self._result_predicate, self._exception_predicate)


class ExponentialBackoffDelayRetryStrategy(AsyncRetryStrategy, Generic[OUT]):
    """Waits longer before each further attempt.

    Args:
        max_attempts: how many attempts there may be after the first.
        initial_delay: the time to wait before the second attempt, in milliseconds.
        max_retry_delay: the longest time to wait, in milliseconds.
        multiplier: what the time grows by from attempt to attempt.
        result_predicate: which results to try again, or None.
        exception_predicate: which exceptions to try again, or None.

    Raises:
        AssertionError: a number is not more than 0.

    On Spark: the time depends on the attempt alone; PyFlink's also on what other elements
    waited for at the same time.
    """

    def __init__(
        self,
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ):
        _require_positive(
            max_attempts=max_attempts,
            initial_delay=initial_delay,
            max_retry_delay=max_retry_delay,
            multiplier=multiplier,
        )
        self._max_attempts = max_attempts
        self._initial_delay = initial_delay
        self._max_retry_delay = max_retry_delay
        self._multiplier = multiplier
        self._result_predicate = result_predicate
        self._exception_predicate = exception_predicate

    def can_retry(self, current_attempts: int) -> bool:
        """True while fewer retries than allowed were made."""
        return current_attempts <= self._max_attempts

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the time to wait, in milliseconds; the first one is not capped, as in PyFlink."""
        delay = self._initial_delay
        for _ in range(current_attempts - 1):
            delay = int(min(delay * self._multiplier, self._max_retry_delay))
        return delay

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return which outcomes to try again."""
        return RetryPredicate(self._result_predicate, self._exception_predicate)


def _require_positive(**numbers: float) -> None:
    for name, number in numbers.items():
        if not number > 0:
            raise AssertionError(f"{name} should be greater than zero.")


NO_RETRY_STRATEGY: AsyncRetryStrategy = NoRetryStrategy()

__getattr__ = missing_name(__name__)
