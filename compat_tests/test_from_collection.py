"""from_collection: what a declared type accepts."""

# ruff: noqa: DTZ001 - local times are what is tested

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
from pyflink.common import Row, Types

from compat_tests.running import collect

ROW = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
TUPLE = Types.TUPLE([Types.INT(), Types.STRING()])


class Thing:
    def __init__(self, a, b):
        self.a = a
        self.b = b


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Row(1, "x"), "Row(a=1, b='x')"),
        ((1, "x"), "Row(a=1, b='x')"),
        ([1, "x"], "Row(a=1, b='x')"),
        ({"b": "x", "a": 1}, "Row(a=1, b='x')"),
        ({"a": 1}, "Row(a=1, b=None)"),
        (Thing(1, "x"), "Row(a=1, b='x')"),
    ],
    ids=["row", "tuple", "list", "dict", "missing field", "object"],
)
def test_rows_from_many_things(env, value, expected):
    assert collect(env.from_collection([value], ROW).map(repr)) == [expected]


@pytest.mark.parametrize("value", [(1, "x"), [1, "x"], Row(1, "x")], ids=repr)
def test_tuples(env, value):
    assert collect(env.from_collection([value], TUPLE).map(repr)) == ["(1, 'x')"]


@pytest.mark.parametrize(
    ("value", "type_info", "error"),
    [
        (5, ROW, ValueError),
        ("ab", TUPLE, ValueError),
        (5, Types.SQL_DATE(), AttributeError),
        (datetime.date(2024, 2, 29), Types.SQL_TIME(), AttributeError),
        (datetime.time(7, 5), Types.SQL_TIMESTAMP(), AttributeError),
        ("now", Types.INSTANT(), AttributeError),
    ],
    ids=str,
)
def test_wrong_values_raise_at_once(env, value, type_info, error):
    with pytest.raises(error) as raised:
        env.from_collection([value], type_info)
    assert type(raised.value) is error


@pytest.mark.parametrize(
    ("value", "type_info", "seen"),
    [
        (0.1, Types.FLOAT(), "0.10000000149011612"),
        (0.1, Types.DOUBLE(), "0.1"),
        (2**40, Types.LONG(), "1099511627776"),
        (True, Types.BOOLEAN(), "True"),
        ("ä\u20ac\n", Types.STRING(), repr("ä\u20ac\n")),
        (datetime.date(2024, 2, 29), Types.SQL_DATE(), "datetime.date(2024, 2, 29)"),
        (
            datetime.datetime(2024, 2, 29, 7, 5, 9, 123000),
            Types.SQL_TIMESTAMP(),
            "datetime.datetime(2024, 2, 29, 7, 5, 9, 123000)",
        ),
        (Decimal("1.50"), Types.BIG_DEC(), "Decimal('1.50')"),
        ({"k": 1}, Types.MAP(Types.STRING(), Types.INT()), "{'k': 1}"),
        ([1, 2], Types.BASIC_ARRAY(Types.INT()), "[1, 2]"),
    ],
    ids=str,
)
def test_values(env, value, type_info, seen):
    assert collect(env.from_collection([value], type_info).map(repr)) == [seen]


@pytest.mark.parametrize("value", ["a", 1, b"x", (1, 2), None])
def test_pickled_elements_are_refused(env, value):
    with pytest.raises(Exception, match=r"\[B|PICKLED_BYTE_ARRAY|NullPointer"):
        env.from_collection([value], Types.PICKLED_BYTE_ARRAY())


def test_collected_without_any_function(env):
    assert collect(env.from_collection([1, 2], Types.INT())) == [1, 2]
    assert collect(env.from_collection([("a", 1), {"k": None}, None, [1]])) == [
        ("a", 1), {"k": None}, None, [1],
    ]  # fmt: skip


def test_order_is_kept(env):
    values = list(range(500))
    assert collect(env.from_collection(values, Types.INT()).map(lambda v: v)) == values


def test_empty(env):
    assert collect(env.from_collection([], Types.INT()).map(lambda v: v)) == []


def test_generator(env):
    assert collect(env.from_collection(i for i in range(3))) == [0, 1, 2]
