"""Expressions in Python that test, without a call, if a value is as its declared type says.

Code that this package compiles for a job contains them. A test is quick and may be wrong in one
direction: where it is false, the whole conversion decides.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from pyflink_on_spark._runtime.types.certainty import Facts
from pyflink_on_spark.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    Types,
)
from pyflink_on_spark.common.types import Row

Bind = Callable[[str, Any], str]
"""Gives an object a name that compiled code can use; the argument is what the name begins with."""

_EXACT = {
    BasicType.STRING: "str",
    BasicType.BOOLEAN: "bool",
    BasicType.DOUBLE: "float",
    BasicType.BIG_INT: "int",
}
_NOTHING: Facts = {}
_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}


def unchanged_test(
    type_info: Any, value: str, parts: Sequence[str] = (), facts: Facts = _NOTHING
) -> str | None:
    """Write a test that is true only for immutable values which their type's conversion keeps.

    Args:
        type_info: the declared type.
        value: the expression of the value.
        parts: the variables with its items, if it is a tuple for sure.
        facts: what is known without a test.

    Returns:
        The test, or None for a type of which no value is known to be such.
    """
    if isinstance(type_info, BasicTypeInfo):
        return _basic_test(type_info._basic_type, value, facts)
    if isinstance(type_info, TupleTypeInfo):
        fields = type_info.get_field_types()
        items = parts if len(parts) == len(fields) else _items(value, len(fields))
        tests = [unchanged_test(*each, facts=facts) for each in zip(fields, items, strict=True)]
        return _tuple_test(value, tests, items is parts)
    return None


def unchanged_fields_test(type_info: Any, fields: Sequence[str]) -> str | None:
    """Write a test that is true only if the fields of a row are values that their types keep.

    Args:
        type_info: the declared type of the rows.
        fields: the expressions of the fields; each may be None.

    Returns:
        The test, or None for a type that is no such row.
    """
    tests = [
        (field, unchanged_test(kind, field))
        for kind, field in zip(type_info.get_field_types(), fields, strict=True)
    ]
    if not tests or any(test is None for _, test in tests):
        return None
    return " and ".join(f"({field} is None or {test})" for field, test in tests)


def plain_key_test(type_info: Any, key: str, facts: Facts = _NOTHING) -> str | None:
    """Write a test that is true only for texts and whole numbers which their type keeps.

    Args:
        type_info: the declared type of the keys.
        key: the expression of the key.
        facts: what is known without a test.

    Returns:
        The test, or None for other types.
    """
    if not isinstance(type_info, BasicTypeInfo):
        return None
    plain = type_info._basic_type in _BITS or _EXACT.get(type_info._basic_type) in ("str", "int")
    return _basic_test(type_info._basic_type, key, facts) if plain else None


def stored_test(
    type_info: Any,
    value: str,
    bind: Bind,
    parts: Sequence[str] = (),
    kept: Sequence[str] = (),
    facts: Facts = _NOTHING,
) -> str | None:
    """Write a test that is true only for values that a state of a declared type keeps as they are.

    The test looks at the last element of a list or a map only: those before were tested when they
    came.

    Args:
        type_info: the declared type.
        value: the expression of the value.
        bind: names what the test uses.
        parts: the variables with its items, if it is a tuple for sure.
        kept: those of them that the state has had; what cannot change is not tested again.
        facts: what is known without a test.

    Returns:
        The test, or None for a type of which no value is known to be such.
    """
    if isinstance(type_info, PickledBytesTypeInfo):
        return "True"
    if isinstance(type_info, BasicTypeInfo):
        if value in kept:
            return "True"
        if type_info._basic_type is BasicType.FLOAT:
            return f"type({value}) is float"
        return _basic_test(type_info._basic_type, value, facts)
    if isinstance(type_info, TupleTypeInfo):
        fields = type_info.get_field_types()
        items = parts if len(parts) == len(fields) else _items(value, len(fields))
        return _tuple_test(value, _stored_items(fields, items, bind, kept, facts), items is parts)
    if isinstance(type_info, RowTypeInfo):
        return _row_test(type_info, value, bind)
    if isinstance(type_info, ListTypeInfo):
        if type_info.elem_type == Types.BYTE():  # such a list is an object of type bytes
            return f"type({value}) is bytes"
        element = stored_test(type_info.elem_type, f"{value}[-1]", bind)
        of_elements = f"not {value}" if element is None else f"(not {value} or {element})"
        return f"type({value}) is list and {of_elements}"
    if isinstance(type_info, MapTypeInfo):
        return f"{bind('map_fits', _map_test(type_info))}({value})"
    return None


def _items(values: str, count: int) -> list[str]:
    return [f"{values}[{index}]" for index in range(count)]


def _stored_items(
    types: Sequence[Any],
    items: Sequence[str],
    bind: Bind,
    kept: Sequence[str] = (),
    facts: Facts = _NOTHING,
) -> list[str | None]:
    return [
        stored_test(*each, bind, kept=kept, facts=facts) for each in zip(types, items, strict=True)
    ]


def is_literal(expression: str) -> bool:
    """True for the expression of a number, a text, bytes, a truth value or None."""
    return isinstance(ast.parse(expression, mode="eval").body, ast.Constant)


def _basic_test(basic_type: BasicType, value: str, facts: Facts) -> str | None:
    test = _test_of_variable(basic_type, value, facts)
    return str(eval(test)) if test and is_literal(value) else test  # noqa: S307 - of this module


def _test_of_variable(basic_type: BasicType, value: str, facts: Facts) -> str | None:
    known = facts.get(value)
    if basic_type in _BITS:
        limit = 1 << (_BITS[basic_type] - 1)
        if known is None or known.kind is not int:
            # Python compares twice in less time than it compares in a chain.
            return f"type({value}) is int and {value} <= {limit - 1} and {value} >= {-limit}"
        upper = [f"{value} <= {limit - 1}"] if known.high >= limit else []
        lower = [f"{value} >= {-limit}"] if known.low < -limit else []
        return " and ".join(upper + lower) or "True"
    exact = _EXACT.get(basic_type)
    if known is not None and known.kind.__name__ == exact:
        return "True"
    return None if exact is None else f"type({value}) is {exact}"


def _tuple_test(value: str, items: list[str | None], is_such: bool) -> str | None:
    """Write the test of a tuple of the tests of its items, which may be one of as many for sure."""
    known = [item for item in items if item is not None and item != "True"]
    if None in items:
        return None
    kind = [] if is_such else [f"type({value}) is tuple", f"len({value}) == {len(items)}"]
    return " and ".join([*kind, *known]) or "True"


def _row_test(type_info: RowTypeInfo, value: str, bind: Bind) -> str | None:
    fields = type_info.get_field_types()
    items = _stored_items(fields, _items(f"{value}._values", len(fields)), bind)
    if None in items:
        return None
    names = bind("names", list(type_info.get_field_names()))
    return " and ".join([
        f"type({value}) is {bind('Row', Row)}",
        f"({value}._names is None or {value}._names == {names})",
        f"len({value}._values) == {len(items)}",
        *(item for item in items if item is not None and item != "True"),
    ])  # fmt: skip


def _map_test(type_info: MapTypeInfo) -> Callable[[Any], bool]:
    names: dict[str, Any] = {}
    key, value = (
        stored_test(part, name, named_in(names)) or "False"
        for part, name in ((type_info._key_type_info, "key"), (type_info._value_type_info, "value"))
    )
    last_fits: Callable[[Any, Any], bool] = eval(  # noqa: S307 - the text is of this module
        f"lambda key, value: {key} and (value is None or {value})", names
    )

    def fits(entries: Any) -> bool:
        return type(entries) is dict and (
            not entries or last_fits(*next(reversed(entries.items())))
        )

    return fits


def named_in(names: dict[str, Any]) -> Bind:
    """Make the function that names objects in a namespace of compiled code."""

    def bind(name: str, thing: Any) -> str:
        name = f"{name}{len(names)}"
        names[name] = thing
        return name

    return bind
