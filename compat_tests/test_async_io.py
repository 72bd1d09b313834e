"""AsyncDataStream: order, capacity, timeouts, retries."""

from __future__ import annotations

import asyncio

import pytest
from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, AsyncRetryStrategy
from pyflink.datastream.async_retry_predicates import (
    empty_result_predicate,
    has_exception_predicate,
)

from compat_tests.running import Journal, collect

SECONDS = Time.seconds


class Delayed(AsyncFunction):
    """Takes as many tenths of a second as the value says."""

    async def async_invoke(self, value):
        await asyncio.sleep(value / 10)
        return [value, value * 100]


def test_ordered(env):
    stream = env.from_collection([3, 1, 2])
    results = AsyncDataStream.ordered_wait(stream, Delayed(), SECONDS(20), 10, Types.INT())
    assert collect(results) == [3, 300, 1, 100, 2, 200]


@pytest.mark.one_attempt("a checkpoint waits for the calls before it")
def test_unordered_gives_what_is_ready(env):
    stream = env.from_collection([10, 1])
    results = AsyncDataStream.unordered_wait(stream, Delayed(), SECONDS(20), 10, Types.INT())
    assert collect(results) == [1, 100, 10, 1000]


@pytest.mark.whole("wants more elements at a time than a piece has")
def test_they_run_at_the_same_time_up_to_the_capacity(env, tmp_path):
    class Watched(AsyncFunction):
        def open(self, runtime_context):
            self.running = 0

        async def async_invoke(self, value):
            self.running += 1
            running = self.running
            await asyncio.sleep(0.05)
            self.running -= 1
            return [running]

    stream = env.from_collection(list(range(12)))
    peaks = collect(AsyncDataStream.ordered_wait(stream, Watched(), SECONDS(20), 3))
    assert max(peaks) == 3


@pytest.mark.one_attempt("counts openings")
def test_opened_and_closed(env, tmp_path):
    journal = Journal(tmp_path / "journal")

    class Logged(AsyncFunction):
        def open(self, runtime_context):
            journal.write("open")

        def close(self):
            journal.write("close")

        async def async_invoke(self, value):
            return [value]

    collect(AsyncDataStream.ordered_wait(env.from_collection([1, 2]), Logged(), SECONDS(5)))
    assert journal.lines() == ["open", "close"]


def test_empty_result(env):
    class Odd(AsyncFunction):
        async def async_invoke(self, value):
            return [value] if value % 2 else []

    stream = env.from_collection([1, 2, 3])
    assert collect(AsyncDataStream.ordered_wait(stream, Odd(), SECONDS(5))) == [1, 3]


class Stuck(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(60 if value == "stuck" else 0)
        return [value]


def test_timeout_fails_the_job(env):
    stream = env.from_collection(["fine", "stuck"])
    with pytest.raises(Exception, match="timed out"):
        collect(AsyncDataStream.ordered_wait(stream, Stuck(), Time.milliseconds(300)))


def test_own_timeout_gives_the_result(env):
    class Rescued(Stuck):
        def timeout(self, value):
            return [f"no {value}"]

    stream = env.from_collection(["fine", "stuck"])
    results = AsyncDataStream.ordered_wait(stream, Rescued(), Time.milliseconds(300))
    assert collect(results) == ["fine", "no stuck"]


def test_exception_fails_the_job(env):
    class Broken(AsyncFunction):
        async def async_invoke(self, value):
            raise ConnectionError("server gone")

    with pytest.raises(Exception, match=r"ConnectionError\W+server gone"):
        collect(AsyncDataStream.ordered_wait(env.from_collection([1]), Broken(), SECONDS(5)))


def test_none_as_result_fails_the_job(env):
    class Nothing(AsyncFunction):
        async def async_invoke(self, value):
            return None

    with pytest.raises(Exception, match=r"\S"):
        collect(AsyncDataStream.ordered_wait(env.from_collection([1]), Nothing(), SECONDS(5)))


class Flaky(AsyncFunction):
    """Fails some times for each value, then gives the number of calls."""

    def __init__(self, failures, by_exception):
        self.failures = failures
        self.by_exception = by_exception
        self.calls = {}

    async def async_invoke(self, value):
        self.calls[value] = self.calls.get(value, 0) + 1
        if self.calls[value] > self.failures:
            return [(value, self.calls[value])]
        if self.by_exception:
            raise ConnectionError("not yet")
        return []


def retry(attempts):
    return AsyncRetryStrategy.fixed_delay(
        attempts, 10, empty_result_predicate, has_exception_predicate
    )


@pytest.mark.parametrize("by_exception", [True, False])
def test_retry_until_it_works(env, by_exception):
    stream = env.from_collection(["a", "b"])
    results = AsyncDataStream.ordered_wait_with_retry(
        stream, Flaky(2, by_exception), SECONDS(20), retry(2)
    )
    assert collect(results) == [("a", 3), ("b", 3)]


def test_unordered_with_exponential_backoff(env):
    strategy = AsyncRetryStrategy.exponential_backoff(
        5, 1, 20, 2.0, empty_result_predicate, has_exception_predicate
    )
    results = AsyncDataStream.unordered_wait_with_retry(
        env.from_collection(["a"]), Flaky(3, True), SECONDS(20), strategy
    )
    assert collect(results) == [("a", 4)]


def test_retries_used_up_by_exceptions_fail_the_job(env):
    results = AsyncDataStream.ordered_wait_with_retry(
        env.from_collection(["a"]), Flaky(9, True), SECONDS(20), retry(2)
    )
    with pytest.raises(Exception, match=r"ConnectionError\W+not yet"):
        collect(results)


def test_retries_used_up_by_empty_results_give_nothing(env):
    results = AsyncDataStream.ordered_wait_with_retry(
        env.from_collection(["a"]), Flaky(9, False), SECONDS(20), retry(2)
    )
    assert collect(results) == []


class NotAsync(AsyncFunction):
    def async_invoke(self, value):
        return [value]


def test_the_function_must_be_async(env):
    with pytest.raises(Exception, match="should be declared as 'async def'"):
        AsyncDataStream.ordered_wait(env.from_collection([1]), NotAsync(), SECONDS(5))


def test_retries_want_a_timeout(env):
    with pytest.raises(Exception, match="Timeout should be configured"):
        AsyncDataStream.ordered_wait_with_retry(
            env.from_collection([1]), Delayed(), Time.milliseconds(0), retry(1)
        )


def test_a_strategy_is_needed(env):
    with pytest.raises(Exception, match="Async retry strategy should not be None"):
        AsyncDataStream.ordered_wait_with_retry(
            env.from_collection([1]), Delayed(), SECONDS(5), None
        )
