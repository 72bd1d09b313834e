"""reduce, sum, min, max, min_by, max_by on a keyed stream."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark._runtime.operators.rolling import (
    RollingAggregateOperator,
    RollingReduceOperator,
)
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.user_code import PlainFunction, UserFunction
from pyflink_on_spark.common.types import Row
from tests.runtime.harness import FakeClock, Harness, keyed
from tests.runtime.state_changes import taken_changes


def reducing(function, **settings):
    operator = RollingReduceOperator(UserFunction.of(PlainFunction("reduce", function)))
    return Harness(operator, **settings)


def aggregated(kind, position, *values):
    harness = Harness(RollingAggregateOperator(kind, position))
    return harness.feed(*[("k", value) for value in values])


def test_first_element_comes_out_untouched():
    harness = reducing(lambda a, b: (a[0], a[1] + b[1]))
    elements = keyed(("a", ("a", 1, "extra")), ("b", ("b", 1)), ("a", ("x", 2)))
    assert harness.feed(*elements) == [("a", 1, "extra"), ("b", 1), ("a", 3)]
    assert harness.feed(*keyed(("b", ("b", 5)))) == [("b", 6)]
    assert harness.end() == []


def test_result_of_none_begins_anew():
    harness = reducing(lambda a, b: None if b == 0 else a + b)
    assert harness.feed(*[("k", value) for value in (1, 2, 0, 5, 1)]) == [1, 3, None, 5, 6]


def test_batch_emits_the_last_value_of_each_key():
    harness = reducing(lambda a, b: a + b, batch=True)
    assert harness.feed(*keyed(("a", 1), ("b", 2)), at=[7, 8]) == []
    assert harness.feed(*keyed(("a", 3))) == []
    assert harness.watermark(10) == []
    assert harness.end() == [4, 2]
    assert harness.watermark(MAX_WATERMARK) == []


def test_state_survives():
    original = reducing(lambda a, b: a + b)
    original.feed(("a", 1), ("a", 2))
    backend = KeyedStateBackend(FakeClock(), track_changes=True)
    backend.restore(original.backend.snapshot().values())
    copy = reducing(lambda a, b: a + b, backend=backend)
    assert copy.feed(("a", 4), ("b", 1)) == [7, 1]
    told = {(key, value) for _, _, key, value in taken_changes(backend).entries}
    assert told == {("a", 7), ("b", 1)}


@pytest.mark.parametrize(
    ("kind", "position", "values", "expected"),
    [
        ("sum", 0, [1, 2, 3], [1, 3, 6]),
        ("sum", 0, ["a", "b"], ["a", "ab"]),
        ("sum", 1, [("a", 1), ("b", 2)], [("a", 1), ("a", 3)]),
        ("sum", -1, [("a", 1), ("b", 2)], [("a", 1), ("a", 3)]),
        ("sum", 1, [["a", [1]], ["b", [2]]], [["a", [1]], ["a", [1, 2]]]),
        ("min", 1, [("a", 3), ("b", 1), ("c", 2)], [("a", 3), ("a", 1), ("a", 1)]),
        ("max", 1, [("a", 1), ("b", 3), ("c", 2)], [("a", 1), ("a", 3), ("a", 3)]),
        ("min_by", 1, [("a", 3), ("b", 1), ("c", 1)], [("a", 3), ("b", 1), ("b", 1)]),
        ("max_by", 1, [("a", 1), ("b", 3), ("c", 3)], [("a", 1), ("b", 3), ("b", 3)]),
        ("min", 0, [3, 1, 2], [3, 1, 1]),
        ("max_by", 0, [1, 3, 2], [1, 3, 3]),
        ("sum", "n", [Row(k="a", n=1), Row(k="b", n=2)], [Row(k="a", n=1), Row(k="a", n=3)]),
        ("max", "n", [Row(k="a", n=1), Row(k="b", n=2)], [Row(k="a", n=1), Row(k="a", n=2)]),
        ("min_by", "n", [Row(k="a", n=2), Row(k="b", n=1)], [Row(k="a", n=2), Row(k="b", n=1)]),
    ],
)
def test_aggregations(kind, position, values, expected):
    assert aggregated(kind, position, *values) == expected


@pytest.mark.parametrize("kind", ["sum", "min", "max"])
def test_whole_elements_have_only_position_0(kind):
    with pytest.raises(TypeError, match="can only select the 0th field"):
        aggregated(kind, 1, 1, 2)


def test_first_elements_do_not_show_the_mistake():
    assert aggregated("sum", 1, 1) == [1]


def test_earlier_results_do_not_change():
    first, second = aggregated("sum", 1, ["a", 1], ["b", 2])
    assert (first, second) == (["a", 1], ["a", 3])
