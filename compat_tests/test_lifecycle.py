"""open and close of functions, and what the RuntimeContext tells."""

from __future__ import annotations

from collections import Counter

import pytest
from pyflink.common import Types
from pyflink.datastream import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    ProcessFunction,
    ReduceFunction,
)

from compat_tests.running import Journal, collect


class Logged:
    """Writes when it is opened and closed, and by which subtask."""

    def __init__(self, journal, name):
        self.journal = journal
        self.name = name

    def open(self, runtime_context):
        self.journal.write(f"open {self.name}")

    def close(self):
        self.journal.write(f"close {self.name}")


class LoggedMap(Logged, MapFunction):
    def map(self, value):
        self.journal.write(f"{self.name} {value}")
        return value


class LoggedFlatMap(Logged, FlatMapFunction):
    def flat_map(self, value):
        return [value]


class LoggedFilter(Logged, FilterFunction):
    def filter(self, value):
        return True


class LoggedProcess(Logged, ProcessFunction):
    def process_element(self, value, ctx):
        yield value


class LoggedKeyedProcess(Logged, KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


class LoggedReduce(Logged, ReduceFunction):
    def reduce(self, value1, value2):
        return value1


class LoggedSelector(Logged, KeySelector):
    def get_key(self, value):
        return 0


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "journal")


@pytest.mark.one_attempt("counts openings")
def test_all_kinds_of_functions_once_each(env, journal):
    stream = (
        env.from_collection([1, 2, 3])
        .map(LoggedMap(journal, "map"))
        .flat_map(LoggedFlatMap(journal, "flat_map"))
        .filter(LoggedFilter(journal, "filter"))
        .process(LoggedProcess(journal, "process"))
        .key_by(LoggedSelector(journal, "selector"))
        .process(LoggedKeyedProcess(journal, "keyed"))
        .key_by(lambda v: 0)
        .reduce(LoggedReduce(journal, "reduce"))
    )
    collect(stream)
    names = ["map", "flat_map", "filter", "process", "selector", "keyed", "reduce"]
    counts = Counter(journal.lines())
    assert {name: counts[f"open {name}"] for name in names} == dict.fromkeys(names, 1)
    assert {name: counts[f"close {name}"] for name in names} == dict.fromkeys(names, 1)


@pytest.mark.one_attempt("counts openings")
def test_order_in_a_chain(env, journal):
    chain = env.from_collection([1, 2]).map(LoggedMap(journal, "a")).map(LoggedMap(journal, "b"))
    collect(chain)
    lines = journal.lines()
    assert set(lines[:2]) == {"open a", "open b"}
    assert lines[2:6] == ["a 1", "b 1", "a 2", "b 2"]
    assert set(lines[6:]) == {"close a", "close b"}


@pytest.mark.parametrize("parallelism", [2])
@pytest.mark.one_attempt("counts openings")
def test_once_per_subtask(env, journal):
    collect(env.from_collection([1, 2, 3, 4]).rebalance().map(LoggedMap(journal, "m")))
    counts = Counter(journal.lines())
    assert counts["open m"] == counts["close m"] == 2


@pytest.mark.one_attempt("counts openings")
def test_opened_without_any_element(env, journal):
    stream = env.from_collection([1]).filter(lambda v: False).map(LoggedMap(journal, "m"))
    assert collect(stream) == []
    assert journal.lines() == ["open m", "close m"]


def test_failing_open_fails_the_job(env):
    class Broken(MapFunction):
        def open(self, runtime_context):
            raise OSError("no model found")

        def map(self, value):
            return value

    with pytest.raises(Exception, match="OSError: no model found"):
        collect(env.from_collection([1]).map(Broken()))


class Describes(MapFunction):
    def open(self, runtime_context):
        self.context = runtime_context

    def map(self, value):
        context = self.context
        return (
            context.get_number_of_parallel_subtasks(),
            context.get_max_number_of_parallel_subtasks(),
            context.get_index_of_this_subtask(),
            context.get_attempt_number(),
        )


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.one_attempt("the first subtask is the next one again after a restart")
def test_runtime_context_numbers(env, parallelism):
    stream = env.from_collection([1, 2, 3, 4]).rebalance().map(Describes())
    assert set(collect(stream)) == {(parallelism, 128, i, 0) for i in range(parallelism)}


@pytest.mark.parametrize(("build", "found"), [
    (lambda stream: stream.map(Describes()), 1),
    (lambda stream: stream.map(str).map(lambda v: v, Types.STRING()).map(Describes()), 1),
    (lambda stream: stream.union(stream).map(Describes()), 40),
    (lambda stream: stream.map(str).set_max_parallelism(7).rebalance().map(Describes()), 40),
    (lambda stream: stream.rebalance().map(str).set_max_parallelism(7).map(Describes()), 7),
    (lambda stream: stream.rebalance().map(Describes()).force_non_parallel(), 1),
    (lambda stream: stream.key_by(str).map(Describes()), 40),
], ids=["chained", "chained further", "after a union", "after another task", "chained to another",
        "not parallel", "keyed"])  # fmt: skip
def test_the_first_operator_of_a_task_gives_its_maximum_parallelism(env, build, found):
    env.set_parallelism(1)
    env.set_max_parallelism(40)
    described = collect(build(env.from_collection([1, 2])))
    assert {maximum for _, maximum, _, _ in described} == {found}


def test_a_maximum_parallelism_of_its_own_leaves_an_operator_in_its_chain(env):
    class Name(MapFunction):
        def open(self, runtime_context):
            self.name = runtime_context.get_task_name()

        def map(self, value):
            return self.name

    stream = env.from_collection([1]).map(Name(), Types.STRING())
    (name,) = collect(stream.map(lambda v: v, Types.STRING()).set_max_parallelism(64).map(str))
    assert name.startswith("Source: Collection Source -> Map -> Map -> Map")


def test_runtime_context_names(env):
    class Names(MapFunction):
        def open(self, runtime_context):
            self.name = runtime_context.get_task_name()
            self.full = runtime_context.get_task_name_with_subtasks()

        def map(self, value):
            return self.name, self.full

    stream = env.from_collection([1]).rebalance().map(Names(), Types.PICKLED_BYTE_ARRAY())
    ((name, full),) = collect(stream.name("my map"))
    assert "my map" in name
    assert full.endswith(" (1/1)#0")
    assert full.startswith(name)


def test_job_parameters(env):
    class Parameter(MapFunction):
        def open(self, runtime_context):
            self.prefix = runtime_context.get_job_parameter("prefix", "none")
            self.missing = runtime_context.get_job_parameter("missing", "default")

        def map(self, value):
            return f"{self.prefix}-{self.missing}-{value}"

    env.get_config().set_global_job_parameters({"prefix": "p"})
    assert collect(env.from_collection([1]).map(Parameter())) == ["p-default-1"]
