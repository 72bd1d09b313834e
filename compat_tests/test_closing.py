"""An error in close() fails no job: all results are there."""

from __future__ import annotations

from typing import Any

import pytest
from pyflink.common import Time
from pyflink.datastream import (
    AsyncDataStream,
    AsyncFunction,
    CoMapFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
)

from compat_tests.running import Journal, collect


class FailsToClose:
    """Writes down that it was closed, then raises an error."""

    def __init__(self, journal, error=ValueError):
        self.journal, self.error = journal, error

    def close(self):
        self.journal.write("close")
        raise self.error("on purpose")


class Map(FailsToClose, MapFunction):
    def map(self, value):
        return value


class FlatMap(FailsToClose, FlatMapFunction):
    def flat_map(self, value):
        yield value


class Filter(FailsToClose, FilterFunction):
    def filter(self, value):
        return True


class Process(FailsToClose, ProcessFunction):
    def process_element(self, value, ctx):
        yield value


class KeyedProcess(FailsToClose, KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Selector(FailsToClose, KeySelector):
    def get_key(self, value):
        return value


class Reduce(FailsToClose, ReduceFunction):
    def reduce(self, value1, value2):
        return value2


class Window(FailsToClose, ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key


class CoMap(FailsToClose, CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return None


class Async(FailsToClose, AsyncFunction):
    async def async_invoke(self, value):
        return [value]


class Chooses(FailsToClose, Partitioner):
    def partition(self, key, num_partitions):
        return 0


def numbers(env: Any) -> Any:
    return env.from_collection([1, 2])


def keyed(env: Any) -> Any:
    return numbers(env).key_by(lambda v: v)


def same(value: Any) -> Any:
    return value


KINDS = {
    "map": lambda env, j: numbers(env).map(Map(j)),
    "map and map": lambda env, j: numbers(env).map(Map(j)).map(same),
    "flat_map": lambda env, j: numbers(env).flat_map(FlatMap(j)),
    "filter": lambda env, j: numbers(env).filter(Filter(j)),
    "process": lambda env, j: numbers(env).process(Process(j)),
    "keyed map": lambda env, j: keyed(env).map(Map(j)),
    "keyed process": lambda env, j: keyed(env).process(KeyedProcess(j)),
    "key selector": lambda env, j: numbers(env).key_by(Selector(j)).map(same),
    "reduce": lambda env, j: keyed(env).reduce(Reduce(j)),
    "window": lambda env, j: keyed(env).count_window(1).process(Window(j)),
    "connected": lambda env, j: numbers(env).connect(numbers(env)).map(CoMap(j)),
    "async": lambda env, j: AsyncDataStream.ordered_wait(
        numbers(env), Async(j), Time.seconds(20), 10
    ),
}


@pytest.mark.one_attempt("counts closings")
@pytest.mark.parametrize("kind", KINDS)
def test_a_function_that_fails_to_close(env, tmp_path, kind):
    journal = Journal(tmp_path / "journal")
    assert collect(KINDS[kind](env, journal)) == [1, 2]
    assert journal.lines() == ["close"]


@pytest.mark.one_attempt("counts closings")
@pytest.mark.parametrize("error", [StopIteration, GeneratorExit, SystemExit])
def test_errors_of_other_sorts(env, tmp_path, error):
    journal = Journal(tmp_path / "journal")
    assert collect(numbers(env).map(Map(journal, error))) == [1, 2]
    assert journal.lines() == ["close"]


def test_in_batch(batch_env, tmp_path):
    journal = Journal(tmp_path / "journal")
    assert collect(keyed(batch_env).process(KeyedProcess(journal))) == [1, 2]
    assert journal.lines() == ["close"]


@pytest.mark.one_attempt("counts closings")
def test_a_partitioner_is_opened_and_closed(env, tmp_path, run_printed):
    class Opens(Chooses):
        def open(self, runtime_context):
            self.journal.write("open")

    class OpensSelector(Selector):
        def open(self, runtime_context):
            self.journal.write("open selector")

        def close(self):
            self.journal.write("close selector")

    journal = Journal(tmp_path / "journal")
    stream = numbers(env).partition_custom(Opens(journal), lambda v: v)
    stream.map(str).print()
    assert run_printed(env) == ["1", "2"]
    assert journal.lines() == ["open", "close"]
    stream = numbers(env).partition_custom(lambda key, count: 0, OpensSelector(journal))
    stream.map(str).print()
    assert run_printed(env) == ["1", "2"]
    assert journal.lines()[2:] == ["open selector", "close selector"]


def test_an_error_of_an_element_fails_the_job_anyhow(env, tmp_path):
    class Fails(Map):
        def map(self, value):
            raise KeyError("of the element")

    with pytest.raises(Exception, match="KeyError: 'of the element'"):
        collect(numbers(env).map(Fails(Journal(tmp_path / "journal"))))
