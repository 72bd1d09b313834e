"""The effect of a declared type on values, and the places where it has one."""

# ruff: noqa: DTZ001 - local times are what is tested

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
from pyflink.common import Row, Types

from compat_tests.running import collect


def through(env, value, type_info):
    """A value that leaves one function with a type and reaches another after a boundary."""
    typed = env.from_collection([0]).map(lambda _: value, type_info)
    (text,) = collect(typed.rebalance().map(repr))
    return text


@pytest.mark.parametrize(
    ("value", "type_info", "expected"),
    [
        (0.1, Types.FLOAT(), "0.10000000149011612"),
        (7, Types.DOUBLE(), "7.0"),
        (True, Types.INT(), "1"),
        (-2.9, Types.INT(), "-2"),
        (2.9, Types.LONG(), "2"),
        (1, Types.BOOLEAN(), "True"),
        ("x", Types.STRING(), "'x'"),
        ((1, 2, 3), Types.TUPLE([Types.INT(), Types.INT()]), "(1, 2)"),
        ([1.5, 2], Types.LIST(Types.INT()), "[1, 2]"),
        ([1, 2], Types.BASIC_ARRAY(Types.INT()), "[1, 2]"),
        ([1, 2], Types.PRIMITIVE_ARRAY(Types.INT()), "[1, 2]"),
        ({"k": 1}, Types.MAP(Types.STRING(), Types.DOUBLE()), "{'k': 1.0}"),
        (b"ab", Types.PRIMITIVE_ARRAY(Types.BYTE()), "b'ab'"),
        (Decimal("1.50"), Types.BIG_DEC(), "Decimal('1.50')"),
        pytest.param(
            12,
            Types.BIG_INT(),
            "12",
            marks=pytest.mark.pyflink_bug("a small BIG_INT comes out as None"),
        ),
        (datetime.date(2024, 2, 29), Types.SQL_DATE(), "datetime.date(2024, 2, 29)"),
        (
            datetime.datetime(2024, 2, 29, 7, 5, 9, 123456),
            Types.SQL_TIMESTAMP(),
            "datetime.datetime(2024, 2, 29, 7, 5, 9, 123000)",
        ),
    ],
    ids=str,
)
def test_conversion_at_a_boundary(env, value, type_info, expected):
    assert through(env, value, type_info) == expected


@pytest.mark.parametrize(
    ("value", "type_info", "error"),
    [
        (2**40, Types.INT(), "OverflowError"),
        (1, Types.STRING(), "AttributeError"),
        ("1", Types.INT(), "TypeError"),
        ([1], Types.TUPLE([Types.INT()]), "TypeError"),
        (Row(1), Types.TUPLE([Types.INT()]), "TypeError"),
        ((1,), Types.ROW([Types.INT()]), "AttributeError"),
        ({"f0": 1}, Types.ROW([Types.INT()]), "AttributeError"),
    ],
    ids=str,
)
def test_wrong_values_fail_the_job(env, value, type_info, error):
    with pytest.raises(Exception, match=error):
        through(env, value, type_info)


def test_not_between_python_functions_in_a_row(env):
    stream = env.from_collection([0.1, 2**40]).map(lambda v: v, Types.FLOAT()).map(repr)
    assert collect(stream) == ["0.1", "1099511627776"]


def test_not_when_chaining_is_off_either(env):
    env.disable_operator_chaining()
    assert collect(env.from_collection([0.1]).map(lambda v: v, Types.FLOAT()).map(repr)) == ["0.1"]


def test_when_python_chaining_is_off(env):
    from pyflink.common import Configuration

    configuration = Configuration()
    configuration.set_string("python.operator-chaining.enabled", "false")
    env.configure(configuration)
    stream = env.from_collection([0.1]).map(lambda v: v, Types.FLOAT()).map(repr)
    assert collect(stream) == ["0.10000000149011612"]


def test_collected_floats_have_the_shortest_text(env):
    stream = env.from_collection([0.1, 16777217.0]).map(lambda v: v, Types.FLOAT())
    assert collect(stream) == [0.1, 16777216.0]


def test_nested_types(env):
    inner = Types.TUPLE([Types.FLOAT(), Types.LIST(Types.INT())])
    assert through(env, ((0.1, [1.9]), "x"), Types.TUPLE([inner, Types.STRING()])) == (
        "((0.10000000149011612, [1]), 'x')"
    )


def test_collected_values(env):
    type_info = Types.TUPLE([Types.INT(), Types.STRING(), Types.LIST(Types.DOUBLE())])
    stream = env.from_collection([0]).map(lambda _: (1.5, "a", [1]), type_info)
    assert collect(stream) == [(1, "a", [1.0])]


def test_key_type_converts_the_key_only(env):
    stream = env.from_collection([1, True, 1.9]).key_by(lambda v: v, Types.INT())
    assert collect(stream.reduce(lambda a, b: a + b)) == [1, 2, 3.9]


@pytest.mark.parametrize("type_info", [Types.INT(), Types.TUPLE([Types.INT(), Types.INT()])])
def test_none_is_no_primitive(env, type_info):
    value = None if type_info == Types.INT() else (None, 1)
    with pytest.raises(Exception, match=r"\S"):
        through(env, value, type_info)


def test_output_type_as_a_list_is_a_row(env):
    stream = env.from_collection([1]).map(
        lambda v: Row(v, "a"), Types.ROW([Types.INT(), Types.STRING()])
    )
    assert str(stream.get_type()) == "RowTypeInfo(f0: Integer, f1: String)"


def test_types_of_streams(env):
    untyped = env.from_collection([1])
    assert str(untyped.get_type()) == "PickledByteArrayTypeInfo"
    assert str(untyped.map(str).get_type()) == "PickledByteArrayTypeInfo"
    assert str(untyped.map(str, Types.STRING()).get_type()) == "String"
    assert str(untyped.map(str, Types.STRING()).flat_map(list).get_type()) == (
        "PickledByteArrayTypeInfo"
    )
