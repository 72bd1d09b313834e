"""Emitted elements do not change any more."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.elements.immutability import (
    ImmutabilityGuard,
    are_flat,
    deserialize,
    is_immutable,
    serialize,
)
from pyflink_on_spark._runtime.operators.stateless import CopyMutableOperator
from pyflink_on_spark.common.types import Row, RowKind


def isolated(elements, pairs=False):
    return CopyMutableOperator(pairs).process(iter(elements))


class Text(str):
    """A str with attributes is not immutable."""

    __slots__ = ("__dict__",)


@pytest.mark.parametrize(
    "value",
    [
        1,
        "a",
        b"a",
        None,
        1.5,
        True,
        1j,
        (),
        (1, "a"),
        (1, "a", b""),
        (1, ("a", None)),
        (1, 2, 3, 4),
    ],
)
def test_immutable(value):
    assert is_immutable(value)
    assert next(isolated([value])) is value
    assert next(isolated([("key", value)], pairs=True))[1] is value
    assert ImmutabilityGuard().collect(iter([value])) == [value]


@pytest.mark.parametrize(
    "value",
    [
        [], [1, "a"], [(1, 2)], [[1]], {}, {"a": 1}, {1: [2]}, {("a", 1): None},
        Row(1, "a"), Row(x=1, y=None), Row([1]), Row.of_kind(RowKind.DELETE, 1),
        bytearray(b"a"), ([],), (1, []), ([], 1), (1, 2, []), ([], 2, 3), (1, [], 3),
        (1, 2, 3, []), (1, (2, {3})), Text("a"), (Text("a"), 1), (1, 2, Text("a")),
    ],
)  # fmt: skip
def test_mutable(value):
    assert not is_immutable(value)
    (copy,) = isolated([value])
    assert copy == value
    assert copy is not value
    ((key, copy),) = isolated([("key", value)], pairs=True)
    assert (key, copy) == ("key", value)
    assert copy is not value
    if type(value) is Row:
        assert copy.get_row_kind() is value.get_row_kind()
        assert copy._names == value._names
        assert copy._values is not value._values
    guard = ImmutabilityGuard()
    assert [deserialize(each) for each in guard.collect(iter([value]))] == [value]
    assert guard.sealed


def growing():
    """Emits one list again and again, and changes it after each time."""
    value = []
    for number in range(3):
        value.append(number)
        yield value


def test_isolated_elements_are_as_they_were():
    assert list(isolated(growing())) == [[0], [0, 1], [0, 1, 2]]


def test_a_freezer_keeps_immutable_elements_as_they_are():
    freezer = ImmutabilityGuard()
    elements = [1, ("a", 2), None]
    assert freezer.collect(iter(elements)) == elements
    assert not freezer.sealed


def test_a_freezer_seals_from_the_first_mutable_element_on_for_good():
    freezer = ImmutabilityGuard()
    values = freezer.collect(iter([1, (2,), [3], 4]))
    assert freezer.sealed
    assert [deserialize(value) for value in values] == [1, (2,), [3], 4]
    assert freezer.collect(iter([5])) == [serialize(5)]


def test_a_freezer_takes_elements_as_they_are_when_they_come():
    freezer = ImmutabilityGuard()
    values = freezer.collect(growing())
    assert [deserialize(value) for value in values] == [[0], [0, 1], [0, 1, 2]]
    values = freezer.collect(growing())
    assert [deserialize(value) for value in values] == [[0], [0, 1], [0, 1, 2]]


def test_isolated_pairs_keep_their_keys():
    assert list(isolated(zip("abc", growing()), pairs=True)) == [
        ("a", [0]), ("b", [0, 1]), ("c", [0, 1, 2]),
    ]  # fmt: skip


@pytest.mark.parametrize("values", [[], [1, "a", None], [(1, "a"), (), (2.5, b"")]])
def test_flat_values_cannot_change(values):
    assert are_flat(values)


@pytest.mark.parametrize("values", [[1, []], [(1,), ([],)], [((1,),)], [1, (1,)], [{}]])
def test_what_is_not_obviously_flat(values):
    assert not are_flat(values)
