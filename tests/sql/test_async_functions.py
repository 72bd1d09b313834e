"""Coroutine functions in queries: how many calls are in flight, and what fails."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from pyflink_on_spark.errors import PyFlinkOnSparkError
from pyflink_on_spark.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink_on_spark.table.udf import AsyncScalarFunction, udf
from pyflink_on_spark.testing import local_engine

NUMBERS = "(VALUES (1), (2), (3), (4), (5)) AS t(i)"
OPTIONS = "table.exec.async-scalar."


@pytest.fixture
def t_env():
    with local_engine():
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        env.get_config().set("parallelism.default", "1")
        yield env


def query(t_env, text):
    with t_env.execute_sql(text).collect() as found:
        return [(str(row.get_row_kind()), *row) for row in found]


def rows(t_env, text):
    return [row[1:] for row in query(t_env, text)]


class Together(AsyncScalarFunction):
    """Gives how many calls were in flight; waits until there are as many as there can be."""

    def __init__(self, expected):
        self._expected = expected

    def open(self, function_context):
        self._running, self._most, self._full = 0, 0, asyncio.Event()

    async def eval(self, number):
        self._running += 1
        self._most = max(self._most, self._running)
        if self._running == self._expected:
            self._full.set()
        await self._full.wait()
        self._running -= 1
        return self._most


@pytest.mark.parametrize("capacity", [1, 2, 5])
@pytest.mark.parametrize("key", ["max-concurrent-operations", "buffer-capacity"])
def test_so_many_calls_are_in_flight(t_env, capacity, key):
    t_env.get_config().set(OPTIONS + key, str(capacity))
    together = udf(Together(capacity), result_type=DataTypes.INT())
    t_env.create_temporary_function("together", together)
    found = rows(t_env, f"SELECT together(i) FROM {NUMBERS}")
    assert max(found) == (capacity,)


def test_results_come_in_the_order_of_rows(t_env):
    @udf(result_type=DataTypes.INT())
    async def late(number):
        await asyncio.sleep(0.02 * (5 - number))
        return number * 10

    t_env.create_temporary_function("late", late)
    expected = [(10 * n, n) for n in range(1, 6)]
    assert rows(t_env, f"SELECT late(i), i FROM {NUMBERS}") == expected


def test_changes_keep_their_kinds(t_env):
    t_env.create_temporary_function("plus_one", plus_one)
    found = query(t_env, f"SELECT plus_one(CAST(COUNT(*) AS INT)) FROM {NUMBERS} WHERE i < 3")
    assert found == [("+I", 2), ("-U", 2), ("+U", 3)]


def test_a_call_is_made_for_the_rows_that_other_conditions_keep(t_env):
    @udf(result_type=DataTypes.BOOLEAN())
    async def small(number):
        if number > 3:
            raise ValueError(number)
        return number < 3

    t_env.create_temporary_function("small", small)
    assert rows(t_env, f"SELECT i FROM {NUMBERS} WHERE small(i) AND i <= 3") == [(1,), (2,)]


def test_conditions_of_joins_and_orders(t_env):
    t_env.create_temporary_function("plus_one", plus_one)
    join = (
        f"FROM {NUMBERS} {{}} JOIN {NUMBERS.replace('t(i)', 'u(j)')} ON i = j AND plus_one(i+j) < 6"
    )
    assert sorted(rows(t_env, "SELECT i, j " + join.format(""))) == [(1, 1), (2, 2)]
    with pytest.raises(PyFlinkOnSparkError, match="not supported for non inner join condition"):
        rows(t_env, "SELECT i, j " + join.format("LEFT"))
    found = query(t_env, f"SELECT i FROM {NUMBERS} ORDER BY plus_one(-i) LIMIT 2")
    kept = Counter(i for kind, i in found if kind == "+I")
    kept.subtract(i for kind, i in found if kind == "-D")
    assert +kept == {4: 1, 5: 1}
    text = f"SELECT i, x FROM {NUMBERS}, UNNEST(ARRAY[plus_one(i)]) AS u(x) WHERE i > 3"
    assert rows(t_env, text) == [(4, 5), (5, 6)]


class Failing(AsyncScalarFunction):
    """Fails for the first attempts of each number."""

    def __init__(self, times):
        self._times = times

    def open(self, function_context):
        self._attempts = {}

    async def eval(self, number):
        self._attempts[number] = self._attempts.get(number, 0) + 1
        if self._attempts[number] <= self._times:
            raise ValueError(f"attempt {self._attempts[number]}")
        return self._attempts[number]


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_call_that_fails_is_made_again(t_env, attempts):
    config = t_env.get_config()
    config.set(OPTIONS + "retry-delay", "1 ms").set(OPTIONS + "max-attempts", str(attempts))
    for times in (attempts, attempts + 1):
        failing = udf(Failing(times), result_type=DataTypes.INT())
        t_env.create_temporary_function(f"failing_{times}", failing)
    text = f"SELECT failing_{{}}(i) FROM {NUMBERS}"
    assert rows(t_env, text.format(attempts)) == [(attempts + 1,)] * 5
    with pytest.raises(PyFlinkOnSparkError, match=f"attempt {attempts + 1}"):
        rows(t_env, text.format(attempts + 1))


def test_no_further_attempts(t_env):
    t_env.get_config().set(OPTIONS + "retry-strategy", "NO_RETRY")
    t_env.create_temporary_function("failing", udf(Failing(1), result_type=DataTypes.INT()))
    with pytest.raises(PyFlinkOnSparkError, match="attempt 1"):
        rows(t_env, f"SELECT failing(i) FROM {NUMBERS}")


def test_a_call_that_takes_too_long(t_env):
    @udf(result_type=DataTypes.INT())
    async def never(number):
        await asyncio.Event().wait()

    t_env.get_config().set(OPTIONS + "timeout", "50 ms")
    t_env.create_temporary_function("never", never)
    with pytest.raises(PyFlinkOnSparkError, match=r"timed out for input: \[1\]"):
        rows(t_env, f"SELECT never(i) FROM {NUMBERS}")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("max-concurrent-operations", "0", "at least has to be in flight"),
        ("retry-strategy", "sometimes", "NO_RETRY, FIXED_DELAY"),
    ],
)
def test_wrong_options(t_env, key, value, message):
    t_env.create_temporary_function("plus_one", plus_one)

    def run():
        t_env.get_config().set(OPTIONS + key, value)
        rows(t_env, f"SELECT plus_one(i) FROM {NUMBERS}")

    with pytest.raises(ValueError, match=message):
        run()


@udf(result_type=DataTypes.INT())
async def plus_one(number):
    return number + 1
