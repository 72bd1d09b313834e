"""Neighbouring functions as one loop: it does what they do one after the other."""

from __future__ import annotations

import random
from itertools import chain

import pytest

from pyflink_on_spark._runtime.elements.keys import wrap_key
from pyflink_on_spark._runtime.operators.boundary import CopyMutableOperator
from pyflink_on_spark._runtime.operators.function_loop import processes
from pyflink_on_spark._runtime.operators.stateless import (
    FilterOperator,
    FlatMapOperator,
    MapOperator,
    ProjectOperator,
    SelectKeyOperator,
)
from pyflink_on_spark._runtime.user_code.user_function import PlainFunction, UserFunction
from pyflink_on_spark.common import Types
from tests.runtime.harness import Harness


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
