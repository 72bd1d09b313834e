"""sum, min, max, min_by and max_by on keyed streams."""

from __future__ import annotations

import pytest
from pyflink.common import Row, Types

from compat_tests.running import collect

TRIPLE = Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()])
ROW = Types.ROW_NAMED(["k", "n", "s"], [Types.STRING(), Types.INT(), Types.STRING()])
VALUES = [("a", 3, "x"), ("a", 1, "y"), ("a", 5, "z"), ("a", 1, "w"), ("a", 5, "v")]


def keyed(env, values=VALUES, type_info=TRIPLE):
    return env.from_collection(values, type_info).key_by(lambda v: v[0], Types.STRING())


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("sum", [(3, "x"), (4, "x"), (9, "x"), (10, "x"), (15, "x")]),
        ("min", [(3, "x"), (1, "x"), (1, "x"), (1, "x"), (1, "x")]),
        ("max", [(3, "x"), (3, "x"), (5, "x"), (5, "x"), (5, "x")]),
        ("min_by", [(3, "x"), (1, "y"), (1, "y"), (1, "y"), (1, "y")]),
        ("max_by", [(3, "x"), (3, "x"), (5, "z"), (5, "z"), (5, "z")]),
    ],
)
@pytest.mark.parametrize("position", [1, -2])
def test_by_position(env, method, expected, position):
    results = collect(getattr(keyed(env), method)(position))
    assert results == [("a", *rest) for rest in expected]


@pytest.mark.parametrize(
    ("method", "last"),
    [
        ("sum", ("a", 15, "x")),
        ("min", ("a", 1, "x")),
        ("max", ("a", 5, "x")),
        ("min_by", ("a", 1, "y")),
        ("max_by", ("a", 5, "z")),
    ],
)
def test_by_name(env, method, last):
    rows = [Row(*value) for value in VALUES]
    results = collect(getattr(keyed(env, rows, ROW), method)("n"))
    assert len(results) == len(VALUES)
    assert results[-1].as_dict() == dict(zip("kns", last))


def test_default_is_the_first_field(env):
    stream = env.from_collection([(1, "a"), (2, "b")]).key_by(lambda v: 0)
    assert collect(stream.sum()) == [(1, "a"), (3, "a")]


def test_sum_joins_strings_and_lists(env):
    stream = env.from_collection([("a", "x", [1]), ("a", "y", [2])]).key_by(lambda v: v[0])
    assert collect(stream.sum(1))[-1] == ("a", "xy", [1])
    assert collect(stream.sum(2))[-1] == ("a", "x", [1, 2])


def test_basic_type(env):
    numbers = env.from_collection([3, 1, 2], Types.INT()).key_by(lambda v: 0, Types.INT())
    assert collect(numbers.sum()) == [3, 4, 6]
    assert collect(numbers.min()) == [3, 1, 1]
    assert collect(numbers.max_by()) == [3, 3, 3]


def test_basic_type_has_only_one_field(env):
    numbers = env.from_collection([3, 1], Types.INT()).key_by(lambda v: 0, Types.INT())
    with pytest.raises(Exception, match="can only select the 0th field"):
        collect(numbers.sum(1))


def test_lists_stay_lists(env):
    stream = env.from_collection([["a", 1], ["a", 2]]).key_by(lambda v: v[0])
    assert collect(stream.sum(1)) == [["a", 1], ["a", 3]]


def test_each_key_by_itself(env):
    values = [("a", 1, ""), ("b", 10, ""), ("a", 2, ""), ("b", 20, "")]
    results = collect(keyed(env, values).sum(1))
    assert [v[:2] for v in results] == [("a", 1), ("b", 10), ("a", 3), ("b", 30)]


def test_position_out_of_range_fails(env):
    with pytest.raises(Exception, match=r"IndexError|out of range|out of bounds"):
        collect(keyed(env).sum(3))


@pytest.mark.parametrize("position", [1.5, None, [1]])
def test_position_is_an_int_or_a_name(env, position):
    with pytest.raises(TypeError):
        keyed(env).sum(position)


def test_sum_of_what_cannot_be_added(env):
    stream = env.from_collection([("a", None), ("a", 1)]).key_by(lambda v: v[0])
    with pytest.raises(Exception, match="TypeError"):
        collect(stream.sum(1))
