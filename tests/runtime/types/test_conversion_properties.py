"""Conversion does not depend on where chunks end, changes nothing twice, and shares nothing."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyflink_on_spark._runtime.types import converters
from pyflink_on_spark._runtime.types.converters import boundary_converter, collect_converter
from pyflink_on_spark.common.typeinfo import Types
from pyflink_on_spark.common.types import Row, RowKind

INT32 = st.one_of(st.integers(-(2**31), 2**31 - 1), st.booleans(), st.floats(-2e9, 2e9))
LEAVES = [
    (Types.INT(), INT32),
    (Types.LONG(), st.integers(-(2**63), 2**63 - 1)),
    (Types.BOOLEAN(), st.one_of(st.booleans(), st.integers(0, 255))),
    (Types.FLOAT(), st.one_of(st.floats(allow_nan=False), st.integers(-(10**9), 10**9))),
    (Types.DOUBLE(), st.one_of(st.floats(allow_nan=False), st.integers(-(10**9), 10**9))),
    (Types.STRING(), st.text(st.characters(codec="utf-8"), max_size=5)),
    (Types.BIG_DEC(), st.decimals(allow_nan=False, allow_infinity=False)),
    (Types.SQL_DATE(), st.dates()),
    (Types.SQL_TIME(), st.times()),
    (Types.SQL_TIMESTAMP(), st.datetimes()),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), st.binary(max_size=5)),
]


def nested(inner):
    (first, first_values), (second, second_values) = inner
    return st.sampled_from(
        [
            (Types.TUPLE([first, second]), st.tuples(first_values, second_values)),
            (
                Types.ROW_NAMED(["a", "b"], [first, second]),
                st.builds(
                    Row.of_kind,
                    st.sampled_from(RowKind),
                    st.none() | first_values,
                    st.none() | second_values,
                ),
            ),
            (Types.LIST(first), st.lists(first_values, max_size=3)),
            (Types.OBJECT_ARRAY(first), st.lists(st.none() | first_values, max_size=3)),
            (
                Types.MAP(Types.STRING(), first),
                st.dictionaries(st.text("ab"), first_values, max_size=3),
            ),
        ]
    )


def typed(depth):
    leaf = st.sampled_from(LEAVES)
    if depth == 0:
        return leaf
    return leaf | st.tuples(typed(depth - 1), typed(depth - 1)).flatmap(nested)


@st.composite
def typed_streams(draw):
    type_info, values = draw(typed(2))
    return type_info, draw(st.lists(values, max_size=12))


def exact(values):
    return [(repr(value), type(value)) for value in values]


@settings(deadline=None)
@given(typed_streams(), st.integers(1, 5))
def test_chunks_do_not_matter(typed_stream, size):
    type_info, values = typed_stream
    for make in (boundary_converter, collect_converter):
        at_once = exact(make(type_info)(iter(values)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(converters, "_CHUNK", size)
            assert exact(make(type_info)(iter(values))) == at_once
        assert exact(one for value in values for one in make(type_info)(iter([value]))) == at_once


@settings(deadline=None)
@given(typed_streams())
def test_a_second_conversion_changes_nothing(typed_stream):
    type_info, values = typed_stream
    convert = boundary_converter(type_info)
    once = list(convert(iter(values)))
    assert exact(convert(iter(once))) == exact(once)


@settings(deadline=None)
@given(st.lists(st.floats(), min_size=1))
def test_floats_are_rounded_to_32_bits(values):
    for original, rounded in zip(
        values, boundary_converter(Types.FLOAT())(iter(values)), strict=True
    ):
        if math.isnan(original):
            assert math.isnan(rounded)
        elif abs(original) < 3.4e38:
            assert abs(original - rounded) <= max(abs(original) * 2**-24, 2**-150)


@pytest.mark.parametrize(
    ("type_info", "values"),
    [
        (Types.TUPLE([Types.INT(), Types.STRING()]), [(1, "a"), (2, "b")]),
        (
            Types.TUPLE([Types.STRING(), Types.TUPLE([Types.LONG(), Types.SQL_DATE()])]),
            [("a", (1, dt.date.min))],
        ),
        (Types.STRING(), ["a", "b"]),
    ],
)
def test_values_that_fit_and_cannot_change_are_not_copied(type_info, values):
    converted = list(boundary_converter(type_info)(iter(values)))
    assert all(new is old for new, old in zip(converted, values, strict=True))


@pytest.mark.parametrize("field", [Types.INT(), Types.PICKLED_BYTE_ARRAY()])
def test_a_row_that_is_used_again_leaves_what_was_emitted(field):
    def emit_one_row_again_and_again():
        row = Row(0)
        for number in range(2500):
            row[0] = number
            yield row

    converted = boundary_converter(Types.ROW([field]))(emit_one_row_again_and_again())
    assert [row[0] for row in converted] == list(range(2500))


@pytest.mark.parametrize(
    "type_info",
    [
        Types.LIST(Types.INT()),
        Types.OBJECT_ARRAY(Types.INT()),
        Types.TUPLE([Types.LIST(Types.INT())]),
    ],
)
def test_a_list_that_is_used_again_leaves_what_was_emitted(type_info):
    def emit_one_list_again_and_again():
        numbers = []
        for number in range(5):
            numbers.append(number)
            yield (numbers,) if "Tuple" in str(type_info) else numbers

    converted = list(boundary_converter(type_info)(emit_one_list_again_and_again()))
    lengths = [len(value[0]) if isinstance(value, tuple) else len(value) for value in converted]
    assert lengths == [1, 2, 3, 4, 5]


def test_any_object_in_a_typed_value_is_copied():
    inner = {"a": [1]}
    ((copy, _),) = boundary_converter(Types.TUPLE([Types.PICKLED_BYTE_ARRAY(), Types.INT()]))(
        iter([(inner, 1)])
    )
    inner["a"].append(2)
    assert copy == {"a": [1]}


def test_rows_are_taken_one_at_a_time_where_what_is_in_them_can_change():
    taken = []

    def upstream():
        for number in range(3):
            taken.append(number)
            yield Row([number])

    converted = boundary_converter(Types.ROW([Types.LIST(Types.INT())]))(upstream())
    next(converted)
    assert taken == [0]


def test_none_among_values_that_need_no_conversion():
    row_type = Types.ROW([Types.INT(), Types.BIG_DEC()])
    rows = [Row(None, Decimal(1)), Row(True, None), Row(2.5, 3)]
    converted = list(boundary_converter(row_type)(iter(rows)))
    assert [list(row) for row in converted] == [[None, Decimal(1)], [1, None], [2, Decimal(3)]]
