"""Values that do not fit: the built-in error PyFlink raises, and where in the value it is."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._runtime.types.codec import NullValueError
from pyflink_on_spark._runtime.types.converters import boundary_converter, key_converter
from pyflink_on_spark.common.typeinfo import Types
from pyflink_on_spark.common.types import Row

PAIR = Types.TUPLE([Types.INT(), Types.STRING()])
NAMED = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])


class Named(NamedTuple):
    id: int
    name: str


def convert(type_info, value):
    return list(boundary_converter(type_info)(iter([value])))


@pytest.mark.parametrize(
    ("type_info", "value", "error"),
    [
        (Types.BYTE(), 128, OverflowError),
        (Types.INT(), 2**31, OverflowError),
        (Types.INT(), -(2**31) - 1, OverflowError),
        (Types.INT(), 1e10, OverflowError),
        (Types.INT(), float("inf"), OverflowError),
        (Types.INT(), float("nan"), ValueError),
        (Types.LONG(), 2**63, OverflowError),
        (Types.BOOLEAN(), -1, OverflowError),
        (Types.BOOLEAN(), 256, OverflowError),
        (Types.DOUBLE(), 10**400, OverflowError),
        (Types.INT(), "7", TypeError),
        (Types.INT(), b"7", TypeError),
        (Types.INT(), [7], TypeError),
        (Types.DOUBLE(), "1.5", TypeError),
        (Types.STRING(), 5, AttributeError),
        (Types.STRING(), b"x", AttributeError),
        (Types.SQL_DATE(), "2024-01-01", AttributeError),
        (Types.SQL_TIME(), 5, AttributeError),
        (Types.SQL_TIMESTAMP(), 5, AttributeError),
        (Types.INSTANT(), 5, AttributeError),
        (Types.BIG_DEC(), "x", ValueError),
        (Types.BIG_DEC(), float("nan"), ValueError),
        (Types.CHAR(), "ab", ValueError),
        (PAIR, [1, "a"], TypeError),
        (PAIR, Row(1, "a"), TypeError),
        (PAIR, Named(1, "a"), TypeError),
        (PAIR, {"a": 1}, TypeError),
        (PAIR, (1,), ValueError),
        (PAIR, ("x", "a"), TypeError),
        (PAIR, (1, 2), AttributeError),
        (PAIR, (2**31, "a"), OverflowError),
        (PAIR, (1, None), AttributeError),
        (NAMED, (7, "x"), AttributeError),
        (NAMED, {"id": 7, "name": "x"}, AttributeError),
        (NAMED, Row(7), ValueError),
        (NAMED, Row("7", "x"), TypeError),
        (NAMED, Row(7, 5), AttributeError),
        (Types.LIST(Types.INT()), (1,), TypeError),
        (Types.LIST(Types.INT()), {1}, TypeError),
        (Types.PRIMITIVE_ARRAY(Types.INT()), [2**31], OverflowError),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), [1], TypeError),
        (Types.MAP(Types.STRING(), Types.INT()), [("a", 1)], AttributeError),
        (Types.MAP(Types.STRING(), Types.INT()), {1: 1}, AttributeError),
        (Types.MAP(Types.STRING(), Types.INT()), {"a": "x"}, TypeError),
    ],
)
def test_the_built_in_is_pyflinks(type_info, value, error):
    with pytest.raises(error) as caught:
        convert(type_info, value)
    assert isinstance(caught.value, PyFlinkOnSparkError)


@pytest.mark.parametrize(
    ("type_info", "value"),
    [
        (Types.INT(), None),
        (Types.BOOLEAN(), None),
        (Types.DOUBLE(), None),
        (PAIR, None),
        (NAMED, None),
        (Types.LIST(Types.INT()), None),
        (Types.MAP(Types.STRING(), Types.INT()), None),
        (PAIR, (None, "a")),
        (Types.TUPLE([Types.BIG_DEC()]), (None,)),
        (Types.LIST(Types.INT()), [1, None]),
    ],
)
def test_none_where_flink_has_no_null(type_info, value):
    with pytest.raises(NullValueError, match="None is allowed in the fields of a ROW"):
        convert(type_info, value)


def test_names_that_a_row_does_not_have():
    with pytest.raises(Exception, match=r"Field names \['name'\] not exist in \['id', 'other'\]"):
        convert(NAMED, Row(id=7, other=2))


def test_the_message_names_type_value_and_path():
    inner = Types.ROW_NAMED(["scores"], [Types.LIST(Types.INT())])
    type_info = Types.TUPLE([Types.STRING(), Types.MAP(Types.STRING(), inner)])
    with pytest.raises(TypeError) as caught:
        convert(type_info, ("a", {"k": Row([1, "x"])}))
    assert str(caught.value) == (
        "expected Integer at [1]['k']['scores'][1], got str 'x': an integer is required; "
        "the declared type is TupleTypeInfo(String, MapTypeInfo<String, "
        "RowTypeInfo(scores: ListTypeInfo<Integer>)>), the value ('a', {'k': <Row([1, 'x'])>})"
    )


def test_the_message_for_a_plain_value():
    with pytest.raises(OverflowError) as caught:
        convert(Types.INT(), 3_000_000_000)
    assert str(caught.value) == (
        "expected Integer, got int 3000000000: it has to lie between -2147483648 and 2147483647"
    )


def test_a_long_value_is_cut_in_the_message():
    with pytest.raises(AttributeError) as caught:
        convert(Types.STRING(), list(range(10_000)))
    assert len(str(caught.value)) < 300


def test_a_broken_repr_does_not_hide_the_error():
    class Broken:
        def __repr__(self):
            raise RuntimeError("no repr")

    with pytest.raises(TypeError, match="Broken, whose repr fails: no repr"):
        convert(Types.INT(), Broken())


@pytest.mark.parametrize("field", [Types.INT(), Types.LIST(Types.INT())])
def test_what_comes_before_a_bad_value_is_emitted(field):
    good = 1 if field == Types.INT() else [1]
    converted = boundary_converter(field)(iter([good] * 1500 + ["bad"] + [good] * 10))
    emitted = []
    with pytest.raises(TypeError):
        emitted.extend(converted)
    assert emitted == [good] * 1500


@pytest.mark.parametrize("type_info", [Types.STRING(), PAIR, NAMED, Types.LIST(Types.INT())])
def test_what_comes_before_a_failure_upstream_is_emitted(type_info):
    good = {
        "String": "a",
        str(PAIR): (1, "a"),
        str(NAMED): Row(id=1, name="a"),
        "ListTypeInfo<Integer>": [1],
    }[str(type_info)]

    def upstream():
        yield good
        yield good
        raise KeyError("upstream")

    emitted = []
    with pytest.raises(KeyError, match="upstream"):
        emitted.extend(boundary_converter(type_info)(upstream()))
    assert emitted == [good, good]


def test_a_declared_key_type_converts_keys():
    convert_key = key_converter(Types.INT())
    assert [convert_key(key) for key in (True, 1, 1.9, None)] == [1, 1, 1, None]
    assert type(convert_key(True)) is int
    with pytest.raises(TypeError, match="expected Integer, got str 'a'"):
        convert_key("a")
    assert key_converter(None) is None


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (
            lambda: Types.PRIMITIVE_ARRAY(Types.STRING()),
            TypeError,
            "Invalid element type for a primitive",
        ),
        (lambda: Types.BASIC_ARRAY(Types.ROW([Types.INT()])), TypeError, "Invalid element type"),
        (
            lambda: Types.ROW_NAMED(["a", "a"], [Types.INT(), Types.INT()]),
            ValueError,
            "are not unique",
        ),
        (
            lambda: Types.ROW_NAMED(["a"], [Types.INT(), Types.INT()]),
            ValueError,
            "types and names is different",
        ),
        (lambda: Types.TUPLE([Types.INT()] * 26), ValueError, r"arity must be in \[0, 25\]"),
        (lambda: Types.TUPLE(["x"]), TypeError, "Unsupported type_info 'x'"),
        (lambda: Types.LIST(int), TypeError, "Unsupported type_info"),
    ],
)
def test_types_that_cannot_be(build, error, message):
    with pytest.raises(error, match=message):
        boundary_converter(build())
