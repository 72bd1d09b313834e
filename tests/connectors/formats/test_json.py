"""Rows of JSON and JSON of rows: what is expected is what PyFlink 2.3 was seen to do."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark.common import Instant, Row, Types
from pyflink_on_spark.datastream.formats.json import (
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)

BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
INTS = Types.PRIMITIVE_ARRAY(Types.INT())
NESTED = Types.ROW_NAMED(
    ["a", "r", "l", "m"],
    [
        Types.INT(),
        Types.ROW_NAMED(["x"], [Types.INT()]),
        Types.BASIC_ARRAY(Types.INT()),
        Types.MAP(Types.STRING(), Types.INT()),
    ],
)


def reader(row_type, *, strict=False, lenient=False):
    builder = JsonRowDeserializationSchema.builder().type_info(row_type)
    if strict:
        builder.fail_on_missing_field()
    if lenient:
        builder.ignore_parse_errors()
    return builder.build()._deserializer()


def read_field(declared, text):
    row = reader(Types.ROW_NAMED(["a"], [declared]))(f'{{"a":{text}}}'.encode())
    return row["a"]


def write(row_type, row):
    schema = JsonRowSerializationSchema.builder().with_type_info(row_type).build()
    return schema._serializer()(row).decode()


def write_field(declared, value):
    text = write(Types.ROW_NAMED(["a"], [declared]), Row(value))
    assert text[:5] + text[-1:] == '{"a":}'
    return text[5:-1]


@pytest.mark.parametrize(
    ("declared", "text", "value"),
    [
        (Types.STRING(), "null", None),
        (Types.STRING(), "1e3", "1000.0"),
        (Types.STRING(), "1.10", "1.1"),
        (Types.STRING(), "12345678.9", "1.23456789E7"),
        (Types.STRING(), "1e400", "Infinity"),
        (Types.STRING(), "true", "true"),
        (Types.STRING(), '{"x": [1, null, "\\u001f"]}', '{"x":[1,null,"\\u001F"]}'),
        (Types.STRING(), '"\\u00e9\\ud83d\\ude00"', "\xe9\U0001f600"),
        (Types.BOOLEAN(), "true", True),
        (Types.BOOLEAN(), '"TRUE"', True),
        (Types.BOOLEAN(), "1", False),
        (Types.BOOLEAN(), "{}", False),
        (Types.BYTE(), '" 12 "', 12),
        (Types.SHORT(), "300", 300),
        (Types.INT(), "-1.5", -1),
        (Types.INT(), '"+5"', 5),
        (Types.LONG(), "99999999999", 99999999999),
        (Types.LONG(), "12345678.9", 12345678),
        (Types.FLOAT(), "1.1", 1.100000023841858),
        (Types.FLOAT(), "1e400", float("inf")),
        (Types.DOUBLE(), "1", 1.0),
        (Types.DOUBLE(), '"-Infinity"', float("-inf")),
        (Types.DOUBLE(), '"1.5f"', 1.5),
        (Types.BIG_INT(), "123456789012345678901234567890", 123456789012345678901234567890),
        (Types.BIG_DEC(), "1.10", Decimal("1.1")),
        (
            Types.BIG_DEC(),
            "1.23456789012345678901234567890",
            Decimal("1.2345678901234567890123456789"),
        ),
        (Types.CHAR(), '"x"', "x"),
        (Types.CHAR(), '""', None),
        (Types.SQL_DATE(), '"2020-01-02"', datetime.date(2020, 1, 2)),
        (Types.SQL_TIME(), '"12:34:56Z"', datetime.time(12, 34, 56)),
        (Types.SQL_TIME(), '"24:00:00Z"', datetime.time(0)),
        (
            Types.SQL_TIMESTAMP(),
            '"2020-01-02T12:34:56Z"',
            datetime.datetime(2020, 1, 2, 12, 34, 56),
        ),
        (
            Types.SQL_TIMESTAMP(),
            '"2020-01-02T12:34:56.123456789Z"',
            datetime.datetime(2020, 1, 2, 12, 34, 56, 123000),
        ),
        (Types.INSTANT(), '"1970-01-01T02:00:05.1+02:00"', Instant(5, 100_000_000)),
        (Types.INSTANT(), "5", Instant(5, 0)),
        (BYTES, '"YWJj\\n"', b"abc"),
        (BYTES, "[97]", None),
        (INTS, "[1, null]", [1, 0]),
        (INTS, '["3", 1.7]', [3, 1]),
        (Types.BASIC_ARRAY(Types.STRING()), '["a",null,1]', ["a", None, "1"]),
        (Types.LIST(Types.INT()), "[1,2]", [1, 2]),
        (Types.MAP(Types.INT(), Types.INT()), '{"1":2,"3":null}', {1: 2, 3: None}),
        (Types.MAP(Types.STRING(), Types.INT()), "5", {}),
        (Types.TUPLE([Types.INT(), Types.STRING()]), '{"f0":1,"f1":"b"}', (1, "b")),
    ],
)
def test_reads(declared, text, value):
    assert read_field(declared, text) == value


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (Types.STRING(), "NaN"),
        (Types.STRING(), "00"),
        (Types.STRING(), '"a\nb"'),
        (Types.BYTE(), "300"),
        (Types.BYTE(), "1.0"),
        (Types.INT(), "99999999999"),
        (Types.INT(), "1e400"),
        (Types.INT(), '"1.5"'),
        (Types.INT(), '"1_000"'),
        (Types.INT(), "true"),
        (Types.DOUBLE(), '"nan"'),
        (Types.DOUBLE(), '""'),
        (Types.DOUBLE(), "[]"),
        (Types.BIG_INT(), "1.10"),
        (Types.BIG_DEC(), '"NaN"'),
        (Types.CHAR(), '"ab"'),
        (Types.SQL_DATE(), '"2020-1-2"'),
        (Types.SQL_DATE(), '"2020-02-30"'),
        (Types.SQL_DATE(), '"20200102"'),
        (Types.SQL_TIME(), '"12:34:56"'),
        (Types.SQL_TIME(), '"12:34Z"'),
        (Types.SQL_TIME(), '"12:34:56.789Z"'),
        (Types.SQL_TIMESTAMP(), '"2020-01-02 12:34:56Z"'),
        (Types.SQL_TIMESTAMP(), '"2020-01-02T12:34:56"'),
        (Types.SQL_TIMESTAMP(), '"2020-01-02T12:34:56+02:00"'),
        (Types.INSTANT(), '"2020-01-02T12:34:56"'),
        (BYTES, '"YW Jj"'),
        (BYTES, '"YWI"'),
        (INTS, "5"),
        (Types.BASIC_ARRAY(Types.STRING()), '"abc"'),
        (Types.MAP(Types.STRING(), Types.INT()), '{"k":"z"}'),
        (Types.ROW([Types.INT()]), "[1]"),
    ],
)
def test_refuses(declared, text):
    with pytest.raises(ValueError, match=r"^Failed to deserialize JSON '\{\"a\":"):
        read_field(declared, text)


@pytest.mark.parametrize(
    "message", [b"[]", b"5", b'"s"', b"", b" ", b"{", b"{'a':1}", b'{"a":1,}', b"\xff"]
)
def test_a_message_that_is_no_object(message):
    with pytest.raises(ValueError, match="Failed to deserialize JSON"):
        reader(NESTED)(message)
    assert reader(NESTED, lenient=True)(message) is None


def test_null_is_left_out():
    assert reader(NESTED)(b"null") is None
    assert reader(NESTED, strict=True)(b"null") is None


@pytest.mark.parametrize(
    "message",
    [
        b'{"a":1} x',
        b'{"a":1} {"a":2}',
        b' {"a":2,"a":1,"z":3}',
        b'\xef\xbb\xbf{"a":1}',
        '{"a":1}'.encode("utf-16"),
        '{"a":1}'.encode("utf-16-le"),
    ],
)
def test_the_first_object_is_read(message):
    assert reader(NESTED)(message) == Row(a=1, r=None, l=None, m=None)


def test_missing_fields():
    assert reader(NESTED)(b'{"r":{}}') == Row(a=None, r=Row(x=None), l=None, m=None)
    strict = reader(NESTED, strict=True)
    with pytest.raises(ValueError, match="Could not find field with name 'r'"):
        strict(b'{"a":1}')
    with pytest.raises(ValueError, match="field 'r': Could not find field with name 'x'"):
        strict(b'{"a":null,"r":{},"l":[],"m":{}}')
    assert strict(b'{"a":null,"r":null,"l":null,"m":null}')["a"] is None


def test_ignored_errors_become_null_where_they_are():
    read = reader(NESTED, lenient=True)
    message = b'{"a":"x","r":{"x":"y"},"l":["z",1],"m":{"k":"z"}}'
    assert read(message) == Row(a=None, r=Row(x=None), l=[None, 1], m={"k": None})
    assert read(b'{"a":1,"r":5,"l":5,"m":5}') == Row(a=1, r=None, l=None, m={})


def test_nesting_without_end_is_an_error_of_the_message():
    with pytest.raises(ValueError, match="Failed to deserialize JSON"):
        reader(NESTED)(b'{"a":' + b"[" * 100_000)


@pytest.mark.parametrize(
    ("declared", "value", "text"),
    [
        (Types.STRING(), 'a"b\\/\n\t\x01\x1f\x7f\xe9\U0001f600\u2028<', None),
        (Types.STRING(), None, "null"),
        (Types.BOOLEAN(), True, "true"),
        (Types.LONG(), 2**60, "1152921504606846976"),
        (Types.FLOAT(), 1.100000023841858, "1.1"),
        (Types.DOUBLE(), 1e10, "1.0E10"),
        (Types.DOUBLE(), float("nan"), '"NaN"'),
        (Types.DOUBLE(), float("-inf"), '"-Infinity"'),
        (Types.DOUBLE(), -0.0, "-0.0"),
        (Types.BIG_DEC(), Decimal("1.10"), "1.10"),
        (Types.BIG_DEC(), Decimal("1E+3"), "1E+3"),
        (Types.SQL_DATE(), datetime.date(2020, 1, 2), '"2020-01-02"'),
        (Types.SQL_TIME(), datetime.time(12, 34, 0, 789000), '"12:34:00Z"'),
        (
            Types.SQL_TIMESTAMP(),
            datetime.datetime(2020, 1, 2, 12, 34, 56, 780000),
            '"2020-01-02T12:34:56.78Z"',
        ),
        (Types.SQL_TIMESTAMP(), datetime.datetime(2020, 1, 2, 12), '"2020-01-02T12:00:00Z"'),
        (Types.INSTANT(), Instant(5, 123456789), '"1970-01-01T00:00:05.123Z"'),
        (BYTES, b"abc", '"YWJj"'),
        (INTS, [1, 2], "[1,2]"),
        (Types.BASIC_ARRAY(Types.STRING()), ["a", None], '["a",null]'),
        (Types.MAP(Types.INT(), Types.INT()), {1: 1, 2: None}, '{"1":1,"2":null}'),
        (
            Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()]),
            Row(1, None),
            '{"x":1,"y":null}',
        ),
        (Types.TUPLE([Types.INT(), Types.STRING()]), (1, "a"), '{"f0":1,"f1":"a","arity":2}'),
    ],
)
def test_writes(declared, value, text):
    if text is None:
        text = r'"a\"b\\/\n\t\u0001\u001F' + "\x7f\xe9" + r"\uD83D\uDE00" + '\u2028<"'
    assert write_field(declared, value) == text


def test_fields_are_written_by_position():
    row_type = Types.ROW_NAMED(["b", "a"], [Types.INT(), Types.STRING()])
    assert write(row_type, Row(a=1, b="x")) == '{"b":1,"a":"x"}'


@pytest.mark.parametrize("row", [Row(1), Row(1, "x", 2), Row("x", 1), Row(1, 2)])
def test_a_row_that_does_not_fit(row):
    row_type = Types.ROW_NAMED(["b", "a"], [Types.INT(), Types.STRING()])
    with pytest.raises(ValueError, match="Make sure that the schema matches the input"):
        write(row_type, row)


def test_only_rows_are_written():
    with pytest.raises(TypeError, match="not of tuple"):
        write(NESTED, (1, None, None, None))


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT, st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.binary())
def test_what_is_written_is_read(text, number, fraction, data):
    row_type = Types.ROW_NAMED(
        ["s", "l", "d", "b"], [Types.STRING(), Types.LONG(), Types.DOUBLE(), BYTES]
    )
    row = Row(s=text, l=number, d=fraction, b=data)
    assert reader(row_type)(write(row_type, row).encode()) == row
