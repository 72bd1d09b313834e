"""Which keys are one."""

from __future__ import annotations

import pickle
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.elements.immutability import unwrap_key, wrap_key
from pyflink_on_spark.common.types import Row, RowKind

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner), max_leaves=8
)


@pytest.mark.parametrize("value", ["a", 1, b"a", None])
def test_plain_keys_stand_for_themselves(value):
    assert wrap_key(value) is value
    assert unwrap_key(value) is value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (True, 1.0),
        (0.0, -0.0),
        ((1,), (True,)),
        ((1,), [1]),
        ([1, [2]], [1, [2.0]]),
        ("1", b"1"),
        (Row(1), Row(a=1)),
        (Row(1), Row(2)),
        (Row(1), (1,)),
    ],
)
def test_different_keys(one, other):
    assert wrap_key(one) != wrap_key(other)


def test_rows_of_another_kind_are_other_keys():
    deleted = Row(1)
    deleted.set_row_kind(RowKind.DELETE)
    assert wrap_key(Row(1)) != wrap_key(deleted)


@given(values)
def test_a_copy_is_the_same_key(value):
    key, copy = wrap_key(value), wrap_key(pickle.loads(pickle.dumps(value)))
    assert key == copy
    assert hash(key) == hash(copy)


@given(values)
def test_a_key_travels(value):
    key = wrap_key(value)
    copy = pickle.loads(pickle.dumps(key))
    assert copy == key
    assert hash(copy) == hash(key)
    assert unwrap_key(copy) == value


def test_equal_tuples_are_one_key_whatever_objects_they_hold():
    text = b"ab".decode()
    assert wrap_key((text, text)) == wrap_key((text, b"ab".decode()))


class Point(NamedTuple):
    x: str
    y: str


def test_equal_objects_are_one_key_whatever_objects_they_hold():
    text = b"ab".decode()
    assert wrap_key(Point(text, text)) == wrap_key(Point(text, b"ab".decode()))
    assert wrap_key(Point("a", "b")) != wrap_key(("a", "b"))


def test_an_object_that_contains_itself():
    ring = {"a": 1}
    ring["self"] = ring
    other = {"a": 1}
    other["self"] = other
    assert wrap_key(ring) == wrap_key(other)


def test_a_key_does_not_equal_its_value():
    assert wrap_key((1,)) != (1,)
    assert repr(wrap_key((1,))) == "Key((1,))"
