"""The text that print() writes, as observed in PyFlink 2.3."""

from __future__ import annotations

import datetime as dt

import pytest

from pyflink_on_spark._runtime.types.converters import java_text, print_text
from pyflink_on_spark.common.typeinfo import Types
from pyflink_on_spark.common.types import Row, RowKind


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (("a", 1), "('a', 1)"),
        (None, "None"),
        ("text", "text"),
        (1e16, "1e+16"),
        (Row(1, "x"), "<Row(1, 'x')>"),
        (Row(a=1, b="x"), "Row(a=1, b='x')"),
    ],
)
def test_untyped_values_are_written_by_python(value, text):
    assert print_text(None)(value) == text
    assert print_text(Types.PICKLED_BYTE_ARRAY())(value) == text


def test_untyped_bytes_cannot_be_printed():
    with pytest.raises(AttributeError, match="has no attribute 'encode'"):
        print_text(None)(b"x")


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (Row(1, "a", True), "+I[1,a,True]"),
        (Row(b=2.7, a="x"), "+I[2.7,x]"),
        (Row(None, dt.date(2024, 2, 29), ["a", "b"]), "+I[None,2024-02-29,['a', 'b']]"),
        (Row(Row(1.0), ("t", True)), "+I[<Row(1.0)>,('t', True)]"),
        (Row.of_kind(RowKind.UPDATE_BEFORE, 1), "-U[1]"),
        (Row.of_kind(RowKind.UPDATE_AFTER, 1), "+U[1]"),
        (Row.of_kind(RowKind.DELETE, 1), "-D[1]"),
    ],
)
def test_rows_are_written_by_python_as_the_function_returned_them(row, text):
    assert print_text(Types.ROW([Types.INT()]))(row) == text


def test_a_row_stream_prints_only_rows():
    with pytest.raises(AssertionError, match="can only print rows, got tuple"):
        print_text(Types.ROW([Types.INT()]))((1,))


@pytest.mark.parametrize(
    ("type_info", "value", "text"),
    [
        (
            Types.TUPLE([Types.INT(), Types.STRING(), Types.BOOLEAN(), Types.DOUBLE()]),
            (1, "a", True, 1.0),
            "(1,a,true,1.0)",
        ),
        (Types.TUPLE([Types.ROW([Types.INT(), Types.STRING()])]), (Row(1, "s"),), "(+I[1, s])"),
        (Types.LIST(Types.STRING()), ["a", "b"], "[a, b]"),
        (Types.MAP(Types.STRING(), Types.INT()), {"k": 1}, "{k=1}"),
        (Types.SQL_TIMESTAMP(), dt.datetime(1999, 1, 1), "1999-01-01 00:00:00.0"),
        (Types.DOUBLE(), 1e7, "1.0E7"),
    ],
)
def test_every_other_typed_value_is_written_by_java(type_info, value, text):
    assert print_text(type_info)(value) == text
    assert java_text(type_info)(value) == text
