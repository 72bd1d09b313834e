"""Values that do not fit: the built-in error PyFlink raises, and where in the value it is."""

from __future__ import annotations

from collections import namedtuple

import pytest

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._runtime.types import boundary_converter, key_converter
from pyflink_on_spark._runtime.types.errors import NullValueError
from pyflink_on_spark.common.typeinfo import Types as T
from pyflink_on_spark.common.types import Row

PAIR = T.TUPLE([T.INT(), T.STRING()])
NAMED = T.ROW_NAMED(["id", "name"], [T.INT(), T.STRING()])
Named = namedtuple("Named", "id name")


def convert(type_info, value):
    return list(boundary_converter(type_info)(iter([value])))


@pytest.mark.parametrize(
    ("type_info", "value", "error"),
    [
        (T.BYTE(), 128, OverflowError),
        (T.INT(), 2**31, OverflowError),
        (T.INT(), -(2**31) - 1, OverflowError),
        (T.INT(), 1e10, OverflowError),
        (T.INT(), float("inf"), OverflowError),
        (T.INT(), float("nan"), ValueError),
        (T.LONG(), 2**63, OverflowError),
        (T.BOOLEAN(), -1, OverflowError),
        (T.BOOLEAN(), 256, OverflowError),
        (T.DOUBLE(), 10**400, OverflowError),
        (T.INT(), "7", TypeError),
        (T.INT(), b"7", TypeError),
        (T.INT(), [7], TypeError),
        (T.DOUBLE(), "1.5", TypeError),
        (T.STRING(), 5, AttributeError),
        (T.STRING(), b"x", AttributeError),
        (T.SQL_DATE(), "2024-01-01", AttributeError),
        (T.SQL_TIME(), 5, AttributeError),
        (T.SQL_TIMESTAMP(), 5, AttributeError),
        (T.INSTANT(), 5, AttributeError),
        (T.BIG_DEC(), "x", ValueError),
        (T.BIG_DEC(), float("nan"), ValueError),
        (T.CHAR(), "ab", ValueError),
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
        (T.LIST(T.INT()), (1,), TypeError),
        (T.LIST(T.INT()), {1}, TypeError),
        (T.PRIMITIVE_ARRAY(T.INT()), [2**31], OverflowError),
        (T.PRIMITIVE_ARRAY(T.BYTE()), [1], TypeError),
        (T.MAP(T.STRING(), T.INT()), [("a", 1)], AttributeError),
        (T.MAP(T.STRING(), T.INT()), {1: 1}, AttributeError),
        (T.MAP(T.STRING(), T.INT()), {"a": "x"}, TypeError),
    ],
)
def test_the_built_in_is_pyflinks(type_info, value, error):
    with pytest.raises(error) as caught:
        convert(type_info, value)
    assert isinstance(caught.value, PyFlinkOnSparkError)


@pytest.mark.parametrize(
    ("type_info", "value"),
    [
        (T.INT(), None),
        (T.BOOLEAN(), None),
        (T.DOUBLE(), None),
        (PAIR, None),
        (NAMED, None),
        (T.LIST(T.INT()), None),
        (T.MAP(T.STRING(), T.INT()), None),
        (PAIR, (None, "a")),
        (T.TUPLE([T.BIG_DEC()]), (None,)),
        (T.LIST(T.INT()), [1, None]),
    ],
)
def test_none_where_flink_has_no_null(type_info, value):
    with pytest.raises(NullValueError, match="None is allowed in the fields of a ROW"):
        convert(type_info, value)


def test_names_that_a_row_does_not_have():
    with pytest.raises(Exception, match=r"Field names \['name'\] not exist in \['id', 'other'\]"):
        convert(NAMED, Row(id=7, other=2))


def test_the_message_names_type_value_and_path():
    inner = T.ROW_NAMED(["scores"], [T.LIST(T.INT())])
    type_info = T.TUPLE([T.STRING(), T.MAP(T.STRING(), inner)])
    with pytest.raises(TypeError) as caught:
        convert(type_info, ("a", {"k": Row([1, "x"])}))
    assert str(caught.value) == (
        "expected Integer at [1]['k']['scores'][1], got str 'x': an integer is required; "
        "the declared type is TupleTypeInfo(String, MapTypeInfo<String, "
        "RowTypeInfo(scores: ListTypeInfo<Integer>)>), the value ('a', {'k': <Row([1, 'x'])>})"
    )


def test_the_message_for_a_plain_value():
    with pytest.raises(OverflowError) as caught:
        convert(T.INT(), 3_000_000_000)
    assert str(caught.value) == (
        "expected Integer, got int 3000000000: it has to lie between -2147483648 and 2147483647"
    )


def test_a_long_value_is_cut_in_the_message():
    with pytest.raises(AttributeError) as caught:
        convert(T.STRING(), list(range(10_000)))
    assert len(str(caught.value)) < 300


def test_a_broken_repr_does_not_hide_the_error():
    class Broken:
        def __repr__(self):
            raise RuntimeError("no repr")

    with pytest.raises(TypeError, match="Broken, whose repr fails: no repr"):
        convert(T.INT(), Broken())


@pytest.mark.parametrize("field", [T.INT(), T.LIST(T.INT())])
def test_what_comes_before_a_bad_value_is_emitted(field):
    good = 1 if field == T.INT() else [1]
    converted = boundary_converter(field)(iter([good] * 1500 + ["bad"] + [good] * 10))
    emitted = []
    with pytest.raises(TypeError):
        emitted.extend(converted)
    assert emitted == [good] * 1500


@pytest.mark.parametrize("type_info", [T.STRING(), PAIR, NAMED, T.LIST(T.INT())])
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
    convert_key = key_converter(T.INT())
    assert [convert_key(key) for key in (True, 1, 1.9, None)] == [1, 1, 1, None]
    assert type(convert_key(True)) is int
    with pytest.raises(TypeError, match="expected Integer, got str 'a'"):
        convert_key("a")
    assert key_converter(None) is None


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: T.PRIMITIVE_ARRAY(T.STRING()), TypeError, "Invalid element type for a primitive"),
        (lambda: T.BASIC_ARRAY(T.ROW([T.INT()])), TypeError, "Invalid element type"),
        (lambda: T.ROW_NAMED(["a", "a"], [T.INT(), T.INT()]), ValueError, "are not unique"),
        (
            lambda: T.ROW_NAMED(["a"], [T.INT(), T.INT()]),
            ValueError,
            "types and names is different",
        ),
        (lambda: T.TUPLE([T.INT()] * 26), ValueError, r"arity must be in \[0, 25\]"),
        (lambda: T.TUPLE(["x"]), TypeError, "Unsupported type_info 'x'"),
        (lambda: T.LIST(int), TypeError, "Unsupported type_info"),
    ],
)
def test_types_that_cannot_be(build, error, message):
    with pytest.raises(error, match=message):
        boundary_converter(build())
