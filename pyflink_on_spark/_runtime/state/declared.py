"""Coercion of values to the declared type of their state.

PyFlink writes a state through its type when a bundle ends, and reads the result back once its cache
has evicted the value. What has another type fails then; what only looks different from what comes
back stays as it is for as long as the cache has it, which depends on how many keys there are. Here
it always stays as it is, unless the cache is turned off, and it fails when it is put in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pyflink_on_spark._runtime.types.codec import ConversionError
from pyflink_on_spark._runtime.types.codecs import codec_of
from pyflink_on_spark._runtime.types.stream import one_by_one
from pyflink_on_spark.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
)
from pyflink_on_spark.common.types import Row

Coercion = Callable[[Any], Any]
"""Takes a value, returns what is kept of it; raises if it does not have the declared type."""

_Test = Callable[[Any], bool]
_EXACT = {
    BasicType.STRING: str,
    BasicType.BOOLEAN: bool,
    BasicType.FLOAT: float,
    BasicType.DOUBLE: float,
    BasicType.BIG_INT: int,
}
_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}


def coercion(
    name: str, type_info: Any, converted: bool, what: str = "was put into"
) -> Coercion | None:
    """Return the coercion for the values of a state, or None if there is none.

    Of lists and maps the last element is looked at only: those before were when they came.

    Args:
        name: the state's.
        type_info: the declared type of its values.
        converted: whether values are kept as they come back from PyFlink's state backend.
        what: how a value and the state are related, for the error.
    """
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return None
    # A state has no null, also where a stream of the type has.
    codec = replace(codec_of(type_info), nullable=False)
    convert = _explained(f"It {what} the state {name!r}.", one_by_one(codec))
    if converted:
        return convert
    if isinstance(type_info, BasicTypeInfo):
        return _basic_fit(type_info._basic_type, convert)
    fits = _test(type_info)

    def fit(value: Any) -> Any:
        if not fits(value):
            convert(value)
        return value

    return fit


def _basic_fit(basic_type: BasicType, convert: Coercion) -> Coercion:
    """Return the same as for any type, with one call less for each value."""
    exact, bits = _EXACT.get(basic_type), _BITS.get(basic_type)
    low, high = _range(bits or 1)

    def fit_number(value: Any) -> Any:
        if type(value) is not int or not low <= value <= high:
            convert(value)
        return value

    def fit_exact(value: Any) -> Any:
        if type(value) is not exact:
            convert(value)
        return value

    return fit_exact if bits is None else fit_number


def fitting_ints(type_info: Any) -> tuple[int, int]:
    """Return the least and the greatest int that a state surely keeps as it is.

    If the first is greater, it keeps no int so. This spares the most frequent values a call of what
    ``coercion`` returns.
    """
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return _range(64)
    return codec_of(type_info).ints


def _range(bits: int) -> tuple[int, int]:
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def element_coercion(name: str, type_info: Any, converted: bool) -> Coercion | None:
    """Return the same for the elements of a list state."""
    element = type_info.elem_type if isinstance(type_info, ListTypeInfo) else None
    return coercion(name, element, converted)


def entry_coercions(
    name: str, type_info: Any, converted: bool
) -> tuple[Coercion | None, Coercion | None]:
    """Return the same for the keys and for the values of a map state; a value may be None."""
    if not isinstance(type_info, MapTypeInfo):
        return None, None
    return (
        coercion(name, type_info._key_type_info, converted, "is a key of"),
        _or_none(coercion(name, type_info._value_type_info, converted)),
    )


def _or_none(fit: Coercion | None) -> Coercion | None:
    return None if fit is None else lambda value: None if value is None else fit(value)


def _explained(note: str, convert: Coercion) -> Coercion:
    def explained(value: Any) -> Any:
        try:
            return convert(value)
        except ConversionError as error:
            error.add_note(note)
            raise

    return explained


def _never(_: Any) -> bool:
    return False


def _test(type_info: Any) -> _Test:
    """Return a fast test for a type; False means that the test cannot be sure."""
    if isinstance(type_info, BasicTypeInfo):
        return _basic_test(type_info._basic_type)
    if isinstance(type_info, TupleTypeInfo):
        return _tuple_test(type_info.get_field_types())
    if isinstance(type_info, RowTypeInfo):
        fields = [_test(field) for field in type_info.get_field_types()]
        return _row_test(fields, list(type_info.get_field_names()))
    if isinstance(type_info, ListTypeInfo):
        element = _test(type_info.elem_type)
        return lambda value: type(value) is list and (not value or element(value[-1]))
    if isinstance(type_info, MapTypeInfo):
        return _map_test(_test(type_info._key_type_info), _test(type_info._value_type_info))
    if isinstance(type_info, PickledBytesTypeInfo):
        return lambda _: True
    return _never


def _basic_test(basic_type: BasicType) -> _Test:
    exact = _EXACT.get(basic_type)
    if exact is not None:
        return lambda value: type(value) is exact
    bits = _BITS.get(basic_type)
    if bits is None:
        return _never
    low, high = _range(bits)
    return lambda value: type(value) is int and low <= value <= high


def _tuple_test(fields: Sequence[Any]) -> _Test:
    kinds = tuple(_exact_type(field) for field in fields)
    if None not in kinds:
        return _flat_tuple_test(kinds, fields)
    tests = [_test(field) for field in fields]

    def fits(value: Any) -> bool:
        return type(value) is tuple and len(value) == len(tests) and all(map(_fits, tests, value))

    return fits


def _flat_tuple_test(kinds: tuple[Any, ...], fields: Sequence[Any]) -> _Test:
    """Return the test of a tuple whose fields are known by their Python types and ranges."""
    ranges = [
        (index, *_range(_BITS[field._basic_type]))
        for index, field in enumerate(fields)
        if field._basic_type in _BITS
    ]

    if len(kinds) == 2:
        return _pair_test(kinds, ranges)

    def fits(value: Any) -> bool:
        if type(value) is not tuple or tuple(map(type, value)) != kinds:
            return False
        for index, low, high in ranges:  # noqa: SIM110 - a generator takes twice as long
            if not low <= value[index] <= high:
                return False
        return True

    return fits


def _pair_test(kinds: tuple[Any, ...], ranges: list[tuple[int, int, int]]) -> _Test:
    """Return the same for two fields, which takes half the time."""
    first, second = kinds

    def fits(value: Any) -> bool:
        if type(value) is not tuple or len(value) != 2:
            return False
        if type(value[0]) is not first or type(value[1]) is not second:
            return False
        for index, low, high in ranges:  # noqa: SIM110 - a generator takes twice as long
            if not low <= value[index] <= high:
                return False
        return True

    return fits


def _exact_type(type_info: Any) -> type | None:
    if not isinstance(type_info, BasicTypeInfo):
        return None
    return int if type_info._basic_type in _BITS else _EXACT.get(type_info._basic_type)


def _row_test(fields: list[_Test], names: list[str]) -> _Test:
    def fits(value: Any) -> bool:
        return (
            type(value) is Row
            and (value._names is None or value._names == names)
            and len(value) == len(fields)
            and all(map(_fits, fields, value))
        )

    return fits


def _map_test(key: _Test, value: _Test) -> _Test:
    def fits(entries: Any) -> bool:
        if type(entries) is not dict:
            return False
        if not entries:
            return True
        last_key, last_value = next(reversed(entries.items()))
        return key(last_key) and (last_value is None or value(last_value))

    return fits


def _fits(test: _Test, value: Any) -> bool:
    return test(value)
