"""Neighbouring functions as one loop: it does what they do one after the other."""

from __future__ import annotations

import random
from itertools import chain
from operator import itemgetter

import pytest

from pyflink_on_spark._runtime.elements.bundle import Cursor
from pyflink_on_spark._runtime.elements.immutability import wrap_key
from pyflink_on_spark._runtime.operators.function_loop import processes
from pyflink_on_spark._runtime.operators.process import KeyedProcessOperator
from pyflink_on_spark._runtime.operators.rolling import (
    RollingAggregateOperator,
    RollingReduceOperator,
)
from pyflink_on_spark._runtime.operators.stateless import (
    ConvertOperator,
    CopyMutableOperator,
    FilterOperator,
    FlatMapOperator,
    IdentityOperator,
    MapOperator,
    ProjectOperator,
    SelectKeyOperator,
)
from pyflink_on_spark._runtime.types.converters import ConversionError
from pyflink_on_spark._runtime.user_code import PlainFunction, UserFunction
from pyflink_on_spark.common import Types
from tests.runtime.harness import Harness, keyed


def add(value):
    return value + 1


def is_no_multiple_of_three(value):
    return value % 3 != 0


def halves(value):
    return (value // 2, value - value // 2) if value % 2 else [value]


STEPS = {
    MapOperator: ("map", add, lambda elements: map(add, elements)),
    FilterOperator: (
        "filter",
        is_no_multiple_of_three,
        lambda elements: filter(is_no_multiple_of_three, elements),
    ),
    FlatMapOperator: (
        "flat_map",
        halves,
        lambda elements: chain.from_iterable(map(halves, elements)),
    ),
}


def opened(kind):
    method, function, _ = STEPS[kind]
    return Harness(kind(UserFunction.of(PlainFunction(method, function)))).operator


def run(operators, elements):
    found = iter(elements)
    for process in processes(operators):
        found = process(found)
    return list(found)


@pytest.mark.parametrize("seed", range(30))
def test_as_one_after_the_other(seed):
    kinds = random.Random(seed).choices(list(STEPS), k=seed % 8 + 1)
    expected = iter(range(40))
    for kind in kinds:
        expected = STEPS[kind][2](expected)
    assert run([opened(kind) for kind in kinds], range(40)) == list(expected)


def test_neighbours_are_one_loop_and_others_between_them_are_not():
    operators = [opened(MapOperator), opened(FilterOperator)]
    between = ProjectOperator((0,))
    assert len(processes(operators)) == 1
    assert len(processes([*operators, between, *operators])) == 3
    assert processes([]) == []


def test_key_selectors_and_copies_are_part_of_the_loop():
    reused = []

    def grow(number):
        reused.append(number)
        return reused

    mapped = Harness(MapOperator(UserFunction.of(PlainFunction("map", grow)))).operator
    selector = UserFunction.of(PlainFunction("get_key", len))
    keyed = Harness(SelectKeyOperator(selector, Types.DOUBLE())).operator
    operators = [mapped, keyed, CopyMutableOperator(pairs=True)]
    assert len(processes(operators)) == 1
    assert run(operators, [7, 8]) == [(wrap_key(1.0), [7]), (wrap_key(2.0), [7, 8])]
    assert run([mapped, CopyMutableOperator()], [9, 10]) == [[7, 8, 9], [7, 8, 9, 10]]


def test_more_flat_maps_than_loops_can_be_nested():
    operators = [opened(FlatMapOperator) for _ in range(45)]
    expected = [999]
    for _ in operators:
        expected = [half for value in expected for half in halves(value)]
    assert run(operators, [999]) == expected
    assert len(processes(operators)) == 5


def test_one_alone():
    assert list(opened(MapOperator).process(iter([1, 2]))) == [2, 3]


def test_elements_are_drawn_one_by_one():
    drawn = []

    def source():
        for number in range(3):
            drawn.append(number)
            yield number

    (process,) = processes([opened(MapOperator), opened(FlatMapOperator)])
    results = process(source())
    assert next(results) == 0
    assert drawn == [0]


@pytest.mark.parametrize("seed", range(40))
def test_typed_chains_do_what_their_operators_do_alone(seed):
    rng = random.Random(seed)
    pair = Types.TUPLE([Types.INT(), Types.LONG()])
    selector = UserFunction.of(PlainFunction("get_key", itemgetter(0)))
    reduce = UserFunction.of(PlainFunction("reduce", lambda a, b: (a[0], a[1] + b[1])))
    kinds = ["sum", "min", "max", "min_by", "max_by"]
    rolling = [
        RollingReduceOperator(reduce, pair),
        *(RollingAggregateOperator(kind, rng.choice([1, -1]), pair) for kind in kinds),
    ]
    operators = [
        ConvertOperator(pair),
        SelectKeyOperator(selector, rng.choice([None, Types.LONG()])),
        rng.choice([ConvertOperator(pair, pairs=True), CopyMutableOperator(pairs=True)]),
        rng.choice(rolling),
        ConvertOperator(pair),
    ]
    elements = [(rng.randrange(4), rng.randrange(-9, 9), "cut off")[:size] for size in [2, 3] * 30]
    if seed % 4 == 0:
        elements.append(rng.choice([(1, "x"), (1, 2**63), (2**31, 1), [1, 2], None, (1,)]))
    if seed % 8 == 0:
        elements.append((1, 2**63 - 1))  # too large with what came before

    def results(loops):
        found, seen = iter(elements), []
        for process in loops:
            found = process(found)
        try:
            seen.extend(found)
        except ConversionError as error:
            seen.append(type(error))
        return seen

    whole = processes([Harness(each).operator for each in operators])
    assert len(whole) == 1
    assert results(whole) == results([Harness(each).operator.process for each in operators])


def test_timestamps_go_into_the_cursor():
    cursor, seen = Cursor(), []
    mapped = Harness(MapOperator(UserFunction.of(PlainFunction("map", add)))).operator
    for operators in ([mapped], [IdentityOperator(), mapped], []):
        results = zip([1, 2], [10, None], strict=True)
        for process in processes(operators, cursor):
            results = process(results)
        seen.append([(result, cursor.timestamp) for result in results])
    assert seen == [[(2, 10), (3, None)], [(2, 10), (3, None)], [(1, 10), (2, None)]]


def test_what_follows_an_operator_that_emits_itself_is_another_loop():
    process = Harness(KeyedProcessOperator(UserFunction.of(Twice()), (1, 2))).operator
    mapped = Harness(MapOperator(UserFunction.of(PlainFunction("map", add)))).operator
    assert len(processes([process, mapped, mapped])) == 2
    assert run([process, mapped], keyed(("a", 1), ("b", 5))) == [2, 2, 6, 6]


class Twice:
    def process_element(self, value, ctx):
        yield value
        yield value

    def on_timer(self, timestamp, ctx):
        raise AssertionError
