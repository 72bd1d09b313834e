"""union: all elements of streams of one type."""

from __future__ import annotations

import pytest
from pyflink.common import Row, Types
from pyflink.datastream import CoMapFunction

from compat_tests.running import collect, collect_sorted


def test_union_of_several(env):
    one, two, three = (env.from_collection([i], Types.INT()) for i in (1, 2, 3))
    assert collect_sorted(one.union(two, three).map(lambda x: x * 10)) == [10, 20, 30]


def test_union_with_itself_gives_every_element_twice(env):
    stream = env.from_collection([1, 2], Types.INT())
    assert collect_sorted(stream.union(stream).map(lambda x: x)) == [1, 1, 2, 2]


def test_types_must_agree(env):
    ints = env.from_collection([1], Types.INT())
    with pytest.raises(Exception, match="Cannot union streams of different types"):
        ints.union(env.from_collection(["a"], Types.STRING()))
    with pytest.raises(Exception, match="Cannot union streams of different types"):
        ints.union(ints.map(lambda x: x))


def test_keeps_the_type(env):
    ints = env.from_collection([1], Types.INT())
    assert ints.union(env.from_collection([2], Types.INT())).get_type() == Types.INT()


def test_a_keyed_stream_gives_its_elements(env):
    stream = env.from_collection([1, 2], Types.INT())
    keyed = env.from_collection([3], Types.INT()).key_by(lambda x: x % 2)
    assert collect_sorted(stream.union(keyed)) == [1, 2, 3]


def test_a_branch_that_splits_and_comes_together(env):
    numbers = env.from_collection([1, 2, 3, 4]).map(lambda x: x, Types.INT())
    evens = numbers.filter(lambda x: x % 2 == 0).map(lambda x: x * 10, Types.INT())
    odds = numbers.filter(lambda x: x % 2 == 1)
    assert collect_sorted(evens.union(odds).map(lambda x: x)) == [1, 3, 20, 40]


def seen_by_the_next_function(env):
    """Return the FLOAT that a Python function receives: rounded, unless it is fused to the one
    before.
    """
    numbers = env.from_collection([0.1], Types.DOUBLE())
    return numbers.map(lambda v: v, Types.FLOAT()).map(repr, Types.STRING())


FUSED, APART = "0.1", "0.10000000149011612"


@pytest.mark.parametrize(
    "united",
    [
        lambda a, b: a.union(b),
        lambda a, b: a.union(),
        lambda a, b: a.union(b).union(a),
        lambda a, b: a.union(b).rebalance(),
    ],
    ids=["two", "one", "three", "rebalanced"],
)
def test_functions_before_a_collected_union_are_not_fused(env, united):
    first, second = seen_by_the_next_function(env), seen_by_the_next_function(env)
    assert set(collect(united(first, second))) == {APART}


@pytest.mark.parametrize("partitioned", [
    lambda stream: stream.rebalance(),
    lambda stream: stream.forward(),
    lambda stream: stream.key_by(len),
], ids=["rebalance", "forward", "key_by"])  # fmt: skip
def test_functions_before_a_collected_partitioning_are_not_fused(env, partitioned):
    (found,) = collect(partitioned(seen_by_the_next_function(env)))
    assert APART in (found, found[1])


def keyed_and_mapped(stream):
    return stream.key_by(len).map(lambda v: v, Types.STRING())


def spread_and_mapped(stream):
    return stream.rebalance().map(lambda v: v, Types.STRING())


@pytest.mark.parametrize("then", [keyed_and_mapped, spread_and_mapped])
def test_functions_before_another_task_of_a_collected_union_are_fused(env, then):
    first, second = seen_by_the_next_function(env), seen_by_the_next_function(env)
    assert set(collect(then(first).union(then(second)))) == {FUSED}


def test_functions_before_a_connection_in_a_collected_union_are_fused(env):
    class Both(CoMapFunction):
        def map1(self, value):
            return value

        def map2(self, value):
            return value

    first, second = seen_by_the_next_function(env), seen_by_the_next_function(env)
    both = first.connect(second).map(Both(), Types.STRING())
    assert set(collect(both.union(both))) == {FUSED}


@pytest.mark.parametrize(
    "following",
    [
        lambda union: union.map(lambda v: v, Types.STRING()),
        lambda union: union.key_by(len).reduce(lambda a, b: b),
    ],
    ids=["map", "reduce"],
)
def test_functions_before_a_union_that_something_reads_are_fused(env, following):
    union = seen_by_the_next_function(env).union(seen_by_the_next_function(env))
    assert collect(following(union)) == [FUSED, FUSED]


def test_functions_before_a_printed_union_are_fused(env, run_printed):
    seen_by_the_next_function(env).union(seen_by_the_next_function(env)).print()
    assert run_printed(env) == [FUSED, FUSED]


@pytest.mark.parametrize(
    ("united", "line"),
    [(lambda rows: rows, "+I[1,0.1]"), (lambda rows: rows.union(), f"+I[1,{APART}]")],
    ids=["direct", "union"],
)
def test_print_is_not_fused_across_a_union_of_one(env, run_printed, united, line):
    row_type = Types.ROW([Types.INT(), Types.FLOAT()])
    united(env.from_collection([1]).map(lambda v: Row(v, 0.1), row_type)).print()
    assert run_printed(env) == [line]
