"""Arrays, maps and rows."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.functions.parameters import (
    always,
    any_type,
    calling,
    characters,
    inline,
    integers,
    of,
)
from pyflink_on_spark._sql.plan.signatures import (
    CallSite,
    Nulls,
    Overload,
    Parameter,
    Result,
    ScalarFunction,
)
from pyflink_on_spark._sql.types import logical, variants
from pyflink_on_spark._sql.types.coercion import common_type
from pyflink_on_spark._sql.types.logical import LogicalType, Root


def _array_type(types: Sequence[LogicalType]) -> LogicalType:
    element = common_type(types)
    assert element is not None
    return logical.array(element).with_nullable(False)


def _row_type(types: Sequence[LogicalType]) -> LogicalType:
    names = tuple(f"EXPR${index}" for index in range(len(types)))
    return logical.row(names, tuple(kind.plain() for kind in types)).with_nullable(False)


def _map_type(types: Sequence[LogicalType]) -> LogicalType:
    key, value = common_type(types[::2]), common_type(types[1::2])
    assert key is not None
    assert value is not None
    return logical.mapping(key, value).with_nullable(False)


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


FUNCTIONS = (
    ScalarFunction(
        "ARRAY",
        (
            Overload(
                (any_type,),
                _array_type,
                _made_tuple,
                Nulls.CALLED,
                variadic=True,
                unified=common_type,
            ),
        ),
    ),
    ScalarFunction(
        "ROW",
        (Overload((any_type,), _row_type, _made_tuple, Nulls.CALLED, variadic=True),),
    ),
    ScalarFunction(
        "MAP",
        (Overload((any_type, any_type), _map_type, _made_map, Nulls.CALLED, variadic=True),),
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
                    inline("{0}.get({1})"),
                    Nulls.STRICT_NULLABLE,
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
