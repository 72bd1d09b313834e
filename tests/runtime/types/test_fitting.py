"""Tests in line never keep a value that the whole conversion would change or refuse."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.operators.function_loop import processes
from pyflink_on_spark._runtime.operators.stateless import ConvertOperator
from pyflink_on_spark._runtime.types.converters import (
    ConversionError,
    boundary_converter,
    codec_of,
    one_by_one,
)
from pyflink_on_spark._runtime.types.fitting import named_in, stored_test, unchanged_test
from pyflink_on_spark.common import Row, Types
from tests.runtime.harness import Harness

BASIC = [
    Types.BYTE(), Types.SHORT(), Types.INT(), Types.LONG(), Types.BIG_INT(),
    Types.STRING(), Types.BOOLEAN(), Types.FLOAT(), Types.DOUBLE(), Types.BIG_DEC(),
]  # fmt: skip
TYPES = st.recursive(
    st.sampled_from([*BASIC, Types.PICKLED_BYTE_ARRAY(), Types.SQL_DATE()]),
    lambda types: st.lists(types, min_size=1, max_size=3).map(Types.TUPLE),
    max_leaves=4,
)
STORED = st.recursive(
    TYPES,
    lambda types: (
        st.lists(types, min_size=1, max_size=3).map(Types.ROW)
        | types.map(Types.LIST)
        | st.tuples(types, types).map(lambda pair: Types.MAP(*pair))
    ),
    max_leaves=3,
)
ATOMS = st.one_of(
    st.sampled_from([0, 1, 127, 128, -129, 2**15, 2**31, -(2**31), 2**63, -(2**63), True, None]),
    st.floats(allow_nan=False),
    st.text(max_size=2),
    st.binary(max_size=2),
)
VALUES = st.recursive(
    ATOMS,
    lambda values: (
        st.lists(values, max_size=3)
        | st.lists(values, max_size=3).map(tuple)
        | st.lists(values, max_size=3).map(lambda items: Row(*items))
        | st.dictionaries(ATOMS, values, max_size=2)
    ),
    max_leaves=5,
)


def holds(test, value, names):
    return test is not None and eval(test, names | {"value": value})


def alike(one, other):
    return type(one) is type(other) and (
        all(map(alike, one, other)) if isinstance(one, (tuple, list)) else one == other
    )


@given(TYPES, VALUES)
def test_what_is_unchanged_is_what_the_conversion_returns(type_info, value):
    if holds(unchanged_test(type_info, "value"), value, {}):
        assert alike(one_by_one(codec_of(type_info))(value), value)


@given(STORED, VALUES)
@example(Types.LIST(Types.BYTE()), [])
def test_what_is_stored_as_it_is_can_be_converted(type_info, value):
    names = {}
    test = stored_test(type_info, "value", named_in(names))
    if isinstance(value, (list, dict)) and value:  # the elements before were tested when they came
        value = [value[-1]] if isinstance(value, list) else dict([list(value.items())[-1]])
    if holds(test, value, names):
        one_by_one(codec_of(type_info))(value)


def converted(convert, values):
    found = []
    try:
        found.extend(convert(iter(values)))
    except ConversionError as error:
        found.append(type(error))
    return [(type(each), each, getattr(each, "_names", None)) for each in found]


@given(
    st.lists(TYPES, min_size=1, max_size=3),
    st.lists(st.lists(ATOMS, max_size=3).map(lambda items: Row(*items)) | ATOMS, max_size=4),
    st.booleans(),
)
def test_rows_in_a_loop_are_converted_as_whole_columns_are(kinds, values, named):
    names = ["a", "b", "c"][: len(kinds)]
    type_info = Types.ROW_NAMED(names, kinds) if named else Types.ROW(kinds)
    for value in values:
        if named and isinstance(value, Row) and len(value) == len(names):
            value.set_field_names(names[::-1])
    (loop,) = processes([Harness(ConvertOperator(type_info)).operator])
    whole = converted(boundary_converter(type_info), values)
    assert converted(loop, values) == whole
    assert not any(each[1] is value for each in whole for value in values if type(value) is Row)


@pytest.mark.parametrize(
    ("type_info", "value"),
    [
        (Types.LONG(), -(2**63)),
        (Types.STRING(), "a"),
        (Types.DOUBLE(), 0.1),
        (Types.BOOLEAN(), False),
        (Types.TUPLE([Types.STRING(), Types.TUPLE([Types.INT()])]), ("a", (1,))),
    ],
)
def test_what_functions_mostly_emit_needs_no_conversion(type_info, value):
    assert holds(unchanged_test(type_info, "value"), value, {})
    assert holds(stored_test(type_info, "value", named_in({})), value, {})
