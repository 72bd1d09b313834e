from __future__ import annotations

import pytest

from pyflink_on_spark.common.time import Time
from pyflink_on_spark.common.typeinfo import Types
from pyflink_on_spark.datastream import async_retry_predicates as predicates
from pyflink_on_spark.datastream.async_data_stream import AsyncDataStream
from pyflink_on_spark.datastream.async_retry_strategies import (
    NO_RETRY_STRATEGY,
    ExponentialBackoffDelayRetryStrategy,
    FixedDelayRetryStrategy,
)
from pyflink_on_spark.datastream.functions import AsyncFunction, AsyncRetryStrategy


class Echo(AsyncFunction):
    async def async_invoke(self, value):
        return [value]


class Blocking(AsyncFunction):
    def async_invoke(self, value):
        return [value]


class Stream:
    def _then(self, name, operator, output_type):
        assert name == "async wait operator"
        return operator, output_type


def settings_of(operator):
    return operator._timeout, operator._capacity, operator._ordered


def test_predicates():
    assert predicates.empty_result_predicate(None)
    assert predicates.empty_result_predicate([])
    assert not predicates.empty_result_predicate([None])
    assert predicates.has_exception_predicate(ValueError())
    assert not predicates.has_exception_predicate(None)
    assert predicates.exception_type_predicate(KeyError(), LookupError)
    assert not predicates.exception_type_predicate(KeyError(), ValueError)


def test_no_retry():
    strategy = AsyncRetryStrategy.no_restart()
    assert strategy is NO_RETRY_STRATEGY
    assert strategy.can_retry(1) is False
    assert strategy.get_backoff_time_millis(1) == -1
    assert strategy.get_retry_predicate().result_predicate() is None
    assert strategy.get_retry_predicate().exception_predicate() is None


def test_fixed_delay():
    strategy = AsyncRetryStrategy.fixed_delay(2, 100, predicates.empty_result_predicate, None)
    assert isinstance(strategy, FixedDelayRetryStrategy)
    assert [strategy.can_retry(n) for n in (1, 2, 3)] == [True, True, False]
    assert [strategy.get_backoff_time_millis(n) for n in (1, 2)] == [100, 100]
    predicate = strategy.get_retry_predicate()
    assert predicate.result_predicate() is predicates.empty_result_predicate
    assert predicate.exception_predicate() is None


def test_exponential_backoff():
    strategy = AsyncRetryStrategy.exponential_backoff(
        6, 100, 1000, 1.5, None, predicates.has_exception_predicate
    )
    assert isinstance(strategy, ExponentialBackoffDelayRetryStrategy)
    delays = [strategy.get_backoff_time_millis(n) for n in range(1, 9)]
    assert delays == [100, 150, 225, 337, 505, 757, 1000, 1000]
    assert [strategy.can_retry(n) for n in (6, 7)] == [True, False]
    predicate = strategy.get_retry_predicate()
    assert predicate.exception_predicate() is predicates.has_exception_predicate


def test_delays_of_elements_do_not_mix():
    strategy = AsyncRetryStrategy.exponential_backoff(6, 100, 1000, 2, None, None)
    assert [strategy.get_backoff_time_millis(n) for n in (1, 2, 3, 1, 3, 2)] == [
        100,
        200,
        400,
        100,
        400,
        200,
    ]


@pytest.mark.parametrize("numbers", [(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)])
def test_numbers_are_positive(numbers):
    with pytest.raises(AssertionError, match="should be greater than zero"):
        ExponentialBackoffDelayRetryStrategy(*numbers, None, None)


def test_fixed_delay_numbers_are_positive():
    with pytest.raises(AssertionError, match=r"max_attempts should be greater than zero\."):
        FixedDelayRetryStrategy(0, 1, None, None)
    with pytest.raises(AssertionError, match="backoff_time_millis should be"):
        FixedDelayRetryStrategy(1, 0, None, None)


def test_a_timeout_fails_the_job_by_default():
    with pytest.raises(TimeoutError, match="timed out for input: 5"):
        Echo().timeout(5)


@pytest.mark.parametrize(
    ("wait", "ordered"),
    [(AsyncDataStream.ordered_wait, True), (AsyncDataStream.unordered_wait, False)],
)
def test_the_stream_is_told(wait, ordered):
    operator, output_type = wait(Stream(), Echo(), Time.seconds(2))
    assert settings_of(operator) == (2000, 100, ordered)
    assert operator._retry_strategy is None
    assert output_type == Types.PICKLED_BYTE_ARRAY()
    operator, output_type = wait(Stream(), Echo(), Time.seconds(2), 7, Types.INT())
    assert settings_of(operator) == (2000, 7, ordered)
    assert output_type == Types.INT()
    with pytest.raises(ValueError, match="The capacity must be at least 1, not 0"):
        wait(Stream(), Echo(), Time.seconds(2), 0)


@pytest.mark.parametrize(
    ("wait", "ordered"),
    [
        (AsyncDataStream.ordered_wait_with_retry, True),
        (AsyncDataStream.unordered_wait_with_retry, False),
    ],
)
def test_retries_are_passed_on_and_need_a_timeout(wait, ordered):
    function, strategy = Echo(), FixedDelayRetryStrategy(1, 1, None, None)
    operator, _ = wait(Stream(), function, Time.seconds(2), strategy)
    assert settings_of(operator) == (2000, 100, ordered)
    assert operator._retry_strategy.load().get_backoff_time_millis(1) == 1
    with pytest.raises(Exception, match="Timeout should be configured when do async with retry"):
        wait(Stream(), function, Time.seconds(0), strategy)
    with pytest.raises(Exception, match="Async retry strategy should not be None"):
        wait(Stream(), function, Time.seconds(2), None)


def test_async_invoke_is_a_coroutine():
    with pytest.raises(Exception, match="should be declared as 'async def'"):
        AsyncDataStream.ordered_wait(Stream(), Blocking(), Time.seconds(2))
