"""Functions that make and take arrays, maps and rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.functions.definitions import calling, function_of, inline
from pyflink_on_spark._sql.plan.signatures import (
    CallSite,
    Nulls,
    Overload,
    Parameter,
    Result,
    ScalarFunction,
    always,
    any_type,
    as_int,
    booleans,
    characters,
    integers,
    like,
    of,
)
from pyflink_on_spark._sql.types import logical, variants
from pyflink_on_spark._sql.types.coercion import can_insert, common_type, least_restrictive
from pyflink_on_spark._sql.types.logical import LogicalType, Root


def _array_type(types: Sequence[LogicalType]) -> LogicalType:
    element = least_restrictive(types)
    assert element is not None
    return logical.array(element).with_nullable(False)


def _row_type(types: Sequence[LogicalType]) -> LogicalType:
    names = tuple(f"EXPR${index}" for index in range(len(types)))
    return logical.row(names, tuple(kind.plain() for kind in types)).with_nullable(False)


def _type_of_map(types: Sequence[LogicalType]) -> LogicalType:
    pairs = _pairs(types)
    assert pairs is not None
    return logical.mapping(*pairs[:2]).with_nullable(False)


def _pairs(types: Sequence[LogicalType]) -> Sequence[LogicalType] | None:
    """Return the types of keys and values by turns."""
    key, value = least_restrictive(types[::2]), least_restrictive(types[1::2])
    if key is None or value is None:
        return None
    return [key, value] * (len(types) // 2)


def _made_tuple(site: CallSite) -> str:
    return f"({', '.join(site.sources())},)"


def _made_map(site: CallSite) -> str:
    sources = site.sources()
    return "{" + ", ".join(f"{k}: {v}" for k, v in zip(sources[::2], sources[1::2])) + "}"


_NO_KEY = {Root.NULL, Root.SYMBOL}
_KINDS_OF_KEYS = (
    logical.NUMERIC,
    logical.CHARACTERS,
    tuple({*Root} - {*logical.NUMERIC, *logical.CHARACTERS} - _NO_KEY),
)
"""The kinds of a map's keys; a key of another kind is not looked up."""


def _map_with(keys: tuple[Root, ...]) -> Parameter:
    def parameter(kind: LogicalType) -> LogicalType | None:
        return kind if kind.root is Root.MAP and kind.children[0].root in keys else None

    return parameter


def _map_and_key(types: Sequence[LogicalType]) -> Sequence[LogicalType] | None:
    """Return the types as they are; DECIMAL is looked up among DECIMAL only, as in Flink."""
    roots = {kind.root for kind in (*types[0].children[:1], types[1])}
    mixed = Root.DECIMAL in roots and not roots <= {Root.DECIMAL, Root.NULL}
    return None if mixed else types


def _looked_up(site: CallSite) -> str:
    """Return code that looks a key up; the unscaled numbers of two DECIMAL types differ."""
    found, key = site.sources()
    scales = site.types[0].children[0].scale or 0, site.types[1].scale or 0
    if Root.DECIMAL is not site.types[1].root or scales[0] == scales[1]:
        return f"{found}.get({key})"
    if scales[0] > scales[1]:
        return f"{found}.get({key} * {10 ** (scales[0] - scales[1])})"
    divide = site.bind(exact_quotient, "exact_quotient")
    return f"{found}.get({divide}({key}, {10 ** (scales[1] - scales[0])}))"


def exact_quotient(dividend: int, divisor: int) -> int | None:
    """Return a quotient, or None if the division leaves a rest."""
    quotient, rest = divmod(dividend, divisor)
    return None if rest else quotient


def _index(kind: LogicalType) -> LogicalType | None:
    if kind.root in logical.INTEGERS and kind.root is not Root.INT:
        raise ValidationError("Integer expression type expected.")
    return kind if kind.root is Root.INT else None


def _array_item(array: tuple[object, ...], index: int) -> object:
    """Return an element, counted from 1, or None if there is none."""
    return array[index - 1] if 0 < index <= len(array) else None


def _item(site: CallSite) -> str:
    get = site.bind(_array_item, "array_item")
    return f"{get}({', '.join(site.sources())})"


def _nullable_child(index: int) -> Result:
    return lambda types: types[0].children[index].with_nullable(True)


_COLLECTIONS = (
    ScalarFunction(
        "ARRAY",
        (
            Overload(
                (any_type,),
                _array_type,
                _made_tuple,
                Nulls.CALLED,
                variadic=True,
                unified=least_restrictive,
            ),
        ),
    ),
    ScalarFunction(
        "ROW",
        (Overload((any_type,), _row_type, _made_tuple, Nulls.CALLED, variadic=True),),
    ),
    ScalarFunction(
        "MAP",
        (
            Overload(
                (any_type, any_type),
                _type_of_map,
                _made_map,
                Nulls.CALLED,
                variadic=True,
                unified=_pairs,
            ),
        ),
    ),
    ScalarFunction(
        "ITEM",
        (
            Overload(
                (of(Root.ARRAY), _index),
                _nullable_child(0),
                _item,
                Nulls.STRICT_NULLABLE,
            ),
            *(
                Overload(
                    (_map_with(keys), of(*keys)),
                    _nullable_child(1),
                    _looked_up,
                    Nulls.STRICT_NULLABLE,
                    unified=_map_and_key,
                )
                for keys in _KINDS_OF_KEYS
            ),
            Overload(
                (of(Root.VARIANT), characters),
                always(logical.VARIANT),
                calling(variants.field_of),
                Nulls.STRICT_NULLABLE,
            ),
            Overload(
                (of(Root.VARIANT), integers),
                always(logical.VARIANT),
                calling(variants.item_of),
                Nulls.STRICT_NULLABLE,
            ),
        ),
        tuple(
            f"<{of_what}>[{key}]"
            for of_what, key in (
                ("ARRAY", "<INTEGER>"),
                ("MAP", "<ANY>"),
                ("ROW", "<CHARACTER>|<INTEGER>"),
                ("VARIANT", "<CHARACTER>|<INTEGER>"),
            )
        ),
    ),
)


_arrays = of(Root.ARRAY)
_maps = of(Root.MAP)
Array = tuple[Any, ...]


def _element(types: Sequence[LogicalType]) -> LogicalType:
    return types[0].children[0].with_nullable(True)


def _with_element(types: Sequence[LogicalType]) -> LogicalType:
    """Return an array that has the second argument as an element, too."""
    element = types[0].children[0]
    return logical.array(element.with_nullable(element.nullable or types[1].nullable))


def _as_element(types: Sequence[LogicalType]) -> Sequence[LogicalType] | None:
    """Return the types of an array and of a value that is compared with its elements."""
    array, value = types
    if array.root is not Root.ARRAY:
        return None
    element = array.children[0]
    shortened = element.root is Root.DECIMAL and value.root in logical.APPROXIMATE
    if not shortened and not can_insert(value, element):
        return None
    return [array, array.children[0]]


def _child(index: int) -> Result:
    return lambda types: logical.array(types[0].children[index])


def contains(array: Array, value: object) -> bool:
    """True if an array contains an element."""
    return value in array


def distinct(array: Array) -> Array:
    """Return an array without doubles."""
    return tuple(dict.fromkeys(array))


def position(array: Array | None, value: object) -> int | None:
    """Return where an element is, counted from 1; 0 if nowhere."""
    if array is None or value is None:
        return None
    return array.index(value) + 1 if value in array else 0


def removed(array: Array | None, value: object) -> Array | None:
    """Return an array without all elements of a value."""
    return None if array is None else tuple([item for item in array if item != value])


def reversed_(array: Array) -> Array:
    """Return an array from its end to its beginning."""
    return array[::-1]


def sliced(array: Array, start: int, end: int | None = None) -> Array:
    """Return a part of an array; positions count from 1, or from the end if they are negative."""
    size = len(array)
    if not size:
        return ()
    last = size if end is None else (end if end >= 0 else size + end + 1)
    first = start if start > 0 else 1 if start == 0 else size + start + 1
    if end == 0:
        last = 1
    if first > size or first > last or last < 1:
        return ()
    return array[max(first, 1) - 1 : last]


def union(one: Array, two: Array) -> Array:
    """Return the elements of both arrays without doubles."""
    return tuple(dict.fromkeys(one + two))


def concatenated(*arrays: Array) -> Array:
    """Return arrays one after the other."""
    return sum(arrays, ())


def largest(array: Array) -> object:
    """Return the largest element."""
    return max((item for item in array if item is not None), default=None)


def smallest(array: Array) -> object:
    """Return the smallest element."""
    return min((item for item in array if item is not None), default=None)


def joined(array: Array, separator: str, null: str | None = None) -> str:
    """Return the elements as one text."""
    items = [null if item is None else item for item in array]
    return separator.join([item for item in items if item is not None])


def ordered(array: Array, ascending: bool = True, nulls_first: bool | None = None) -> Array:
    """Return an array in order; NULL comes first if the smallest does."""
    known = sorted([item for item in array if item is not None], reverse=not ascending)
    nulls = [None] * (len(array) - len(known))
    first = ascending if nulls_first is None else nulls_first
    return tuple([*nulls, *known] if first else [*known, *nulls])


def appended(array: Array | None, value: object) -> Array | None:
    """Return an array with an element at its end."""
    return None if array is None else (*array, value)


def prepended(array: Array | None, value: object) -> Array | None:
    """Return an array with an element at its beginning."""
    return None if array is None else (value, *array)


def excluding(one: Array, two: Array) -> Array:
    """Return the elements that the other array has not, without doubles."""
    return tuple(dict.fromkeys([item for item in one if item not in two]))


def in_both(one: Array, two: Array) -> Array:
    """Return the elements of both arrays, without doubles."""
    return tuple(dict.fromkeys([item for item in one if item in two]))


def entries(found: dict[object, object]) -> Array:
    """Return the keys and values of a map as rows."""
    return tuple(found.items())


def mapped(keys: Array, values: Array) -> dict[object, object]:
    """Return a map of two arrays."""
    if len(keys) != len(values):
        raise ValueError(
            "Invalid function MAP_FROM_ARRAYS call: The length of the keys array "
            f"{len(keys)} is not equal to the length of the values array {len(values)}"
        )
    return dict(zip(keys, values))


def united(*maps: dict[object, object]) -> dict[object, object]:
    """Return the pairs of all maps; later ones count."""
    found: dict[Any, Any] = {}
    for each in maps:
        found.update(each)
    return found


def only(array: Array) -> object:
    """Return the only element of an array, or None if it has none.

    Raises:
        ValueError: it has more.
    """
    if len(array) > 1:
        raise ValueError("Array has more than one element.")
    return array[0] if array else None


def _entry_type(types: Sequence[LogicalType]) -> LogicalType:
    return logical.array(logical.row(("key", "value"), types[0].children))


def _map_type(types: Sequence[LogicalType]) -> LogicalType:
    return logical.mapping(types[0].children[0], types[1].children[0])


_CALLED = Nulls.CALLED


def _with_null(name: str, result: Result, function: Any) -> ScalarFunction:
    """Return a function of an array and any element, NULL too."""
    return ScalarFunction(
        name,
        (
            Overload(
                (_arrays, any_type),
                lambda types: result(types).with_nullable(types[0].nullable),
                calling(function),
                _CALLED,
                unified=_as_element,
            ),
        ),
    )


_TWO = (_arrays, _arrays)

_LISTS = (
    ScalarFunction(
        "CARDINALITY",
        (
            Overload((_arrays,), always(logical.INT), inline("len({0})")),
            Overload((of(Root.MAP, Root.MULTISET),), always(logical.INT), inline("len({0})")),
        ),
    ),
    function_of("ELEMENT", (_arrays,), lambda types: types[0].children[0], only),
    ScalarFunction(
        "ARRAY_CONTAINS",
        (
            Overload(
                (_arrays, any_type),
                lambda types: logical.BOOLEAN.with_nullable(types[0].nullable),
                inline("None if {0} is None else {1} in {0}"),
                _CALLED,
                unified=_as_element,
            ),
        ),
    ),
    function_of("ARRAY_DISTINCT", (_arrays,), like(), distinct),
    ScalarFunction(
        "ARRAY_POSITION",
        (
            Overload(
                (_arrays, any_type),
                lambda types: logical.INT.with_nullable(any(kind.nullable for kind in types)),
                calling(position),
                _CALLED,
                unified=_as_element,
            ),
        ),
    ),
    _with_null("ARRAY_REMOVE", like(), removed),
    _with_null("ARRAY_APPEND", _with_element, appended),
    _with_null("ARRAY_PREPEND", _with_element, prepended),
    function_of("ARRAY_REVERSE", (_arrays,), like(), reversed_),
    function_of("ARRAY_SLICE", (_arrays, as_int, as_int), like(), sliced, optional=1),
    function_of("ARRAY_UNION", _TWO, like(), union, unified=common_type),
    function_of(
        "ARRAY_CONCAT", (_arrays,), like(), concatenated, variadic=True, unified=common_type
    ),
    function_of("ARRAY_EXCEPT", _TWO, like(), excluding, unified=common_type),
    function_of("ARRAY_INTERSECT", _TWO, like(), in_both, unified=common_type),
    function_of("ARRAY_MAX", (_arrays,), _element, largest, nullable=True),
    function_of("ARRAY_MIN", (_arrays,), _element, smallest, nullable=True),
    function_of(
        "ARRAY_JOIN", (_arrays, characters, characters), logical.STRING, joined, optional=1
    ),
    function_of("ARRAY_SORT", (_arrays, booleans, booleans), like(), ordered, optional=2),
    ScalarFunction("MAP_KEYS", (Overload((_maps,), _child(0), inline("tuple({0})")),)),
    ScalarFunction("MAP_VALUES", (Overload((_maps,), _child(1), inline("tuple({0}.values())")),)),
    function_of("MAP_ENTRIES", (_maps,), _entry_type, entries),
    function_of("MAP_FROM_ARRAYS", _TWO, _map_type, mapped),
    function_of("MAP_UNION", (_maps,), like(), united, variadic=True, unified=common_type),
)


FUNCTIONS = (*_COLLECTIONS, *_LISTS)
