"""execute_and_collect: its result, and what it does to the environment."""

from __future__ import annotations

import pytest
from pyflink.common import Row, Types
from pyflink.datastream import OutputTag, ProcessFunction

from compat_tests.running import collect


@pytest.fixture
def numbers(env):
    return env.from_collection(list(range(10)), Types.INT()).map(lambda v: v * v, Types.INT())


def test_iterate(numbers):
    assert [value for value in numbers.execute_and_collect()][:4] == [0, 1, 4, 9]  # noqa: C416


def test_next_and_stop(env):
    results = env.from_collection([1]).map(lambda v: v).execute_and_collect()
    assert next(results) == 1
    with pytest.raises(StopIteration):
        next(results)
    results.close()


def test_next_method(env):
    with env.from_collection([1, 2]).map(lambda v: v).execute_and_collect() as results:
        assert results.next() == 1
        assert results.next() == 2


@pytest.mark.parametrize(("limit", "count"), [(3, 3), (100, 10)])
def test_limit_gives_a_list(numbers, limit, count):
    results = numbers.execute_and_collect(limit=limit)
    assert type(results) is list
    assert results == [i * i for i in range(count)]


def test_job_name(numbers):
    assert numbers.execute_and_collect("squares", 2) == [0, 1]


def test_the_same_stream_runs_again(numbers):
    assert collect(numbers) == collect(numbers)


def test_closing_early(env):
    numbers = env.from_collection(list(range(5000)), Types.INT())
    with numbers.map(lambda v: v).execute_and_collect() as found:
        assert next(found) == 0
    assert collect(env.from_collection([1]).map(lambda v: v)) == [1]


def test_only_what_leads_to_the_stream_runs(env, run_printed):
    source = env.from_collection([1], Types.INT())
    source.print("never")
    assert collect(source.map(lambda v: v)) == [1]
    with pytest.raises(Exception, match="No operators defined in streaming topology"):
        env.execute()
    source.print("printed")
    assert run_printed(env) == ["printed> 1"]


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("read_beside", [True, False])
def test_a_type_counts_if_a_branch_that_does_not_run_reads_it(env, read_beside):
    large = env.from_collection([300]).map(lambda v: v, output_type=Types.BYTE())
    if read_beside:
        large.map(str)
    read = large.map(str)
    if read_beside:
        with pytest.raises(Exception, match="OverflowError"):
            collect(read)
    else:
        assert collect(read) == ["300"]


def test_a_type_counts_if_a_side_output_is_asked_for(env):
    tag = OutputTag("side", Types.INT())

    class ToBoth(ProcessFunction):
        def process_element(self, value, ctx):
            yield tag, value
            yield value

    large = env.from_collection([300]).process(ToBoth(), output_type=Types.BYTE())
    large.get_side_output(tag)
    with pytest.raises(Exception, match="OverflowError"):
        collect(large.map(str))


def test_a_keyed_stream_gives_rows_of_key_and_element(env):
    numbers = env.from_collection([3, 1, 2, 1], Types.INT())
    rows = collect(numbers.key_by(lambda v: v % 2, Types.INT()))
    assert rows == [Row(f0=1, f1=3), Row(f0=1, f1=1), Row(f0=0, f1=2), Row(f0=1, f1=1)]


def test_the_row_of_a_key_has_declared_types(env):
    pairs = env.from_collection([("a", 0.1)], Types.TUPLE([Types.STRING(), Types.FLOAT()]))
    assert collect(pairs.key_by(lambda v: v[1], Types.FLOAT())) == [Row(f0=0.1, f1=("a", 0.1))]


def test_a_limit_on_a_keyed_stream(env):
    keyed = env.from_collection([3, 1], Types.INT()).key_by(lambda v: v, Types.INT())
    assert keyed.execute_and_collect(limit=1) == [Row(f0=3, f1=3)]


@pytest.mark.pyflink_bug("an untyped key or element is delivered as its pickle")
def test_an_untyped_keyed_stream_gives_rows(env):
    keyed = env.from_collection([("a", 1)]).key_by(lambda v: v[0])
    assert collect(keyed) == [Row(f0="a", f1=("a", 1))]


def test_failure_reaches_the_iterator(env):
    def broken(value):
        raise KeyError("the culprit")

    with pytest.raises(Exception, match="KeyError: 'the culprit'"):
        collect(env.from_collection([1]).map(broken))


@pytest.mark.pyflink_bug("None in a STRING-typed stream ends the iteration")
def test_none_in_a_string_stream(env):
    stream = env.from_collection(["a", "b"]).map(lambda v: None if v == "a" else v, Types.STRING())
    assert collect(stream) == [None, "b"]
