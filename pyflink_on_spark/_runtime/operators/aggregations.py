"""sum, min, max, min_by, max_by: what makes one element of two."""

from __future__ import annotations

import operator
from collections.abc import Callable
from copy import copy
from typing import Any

from pyflink_on_spark.common.typeinfo import ListTypeInfo, RowTypeInfo, TupleTypeInfo
from pyflink_on_spark.common.types import Row

Combine = Callable[[Any, Any], Any]


_COMBINED: dict[str, Combine] = {
    "sum": operator.add,
    "min": min,
    "max": max,
    "min_by": min,
    "max_by": max,
}


def aggregation(
    kind: str, position: int | str, example: Any, fit: Callable[[Any], Any] | None = None
) -> Combine:
    """Return what combines two elements.

    Args:
        kind: ``sum``, ``min``, ``max``, ``min_by`` or ``max_by``.
        position: of the field: an int, or a field's name.
        example: an element; all are of its sort: a tuple, list or row, or something else.
        fit: takes a sum, and returns what is kept of it.

    Raises:
        TypeError: such elements have no such field.
    """
    combined = _COMBINED[kind] if fit is None else _fitting(_COMBINED[kind], fit)
    if not isinstance(example, (tuple, list, Row)):
        _check_whole(kind, position)
        return combined
    if kind == "min_by":
        return lambda first, second: second if second[position] < first[position] else first
    if kind == "max_by":
        return lambda first, second: second if second[position] > first[position] else first
    return _of_field(type(example), combined, position)


def field_type(type_info: Any, position: int | str) -> Any:
    """Return the type of what an aggregation combines; None if that is not declared.

    Args:
        type_info: the type of the elements, or None.
        position: of the field.
    """
    if isinstance(type_info, ListTypeInfo):
        return type_info.elem_type
    if not isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        return type_info
    fields = type_info.get_field_types()
    if isinstance(position, str):
        names = list(type_info.get_field_names()) if isinstance(type_info, RowTypeInfo) else []
        return fields[names.index(position)] if position in names else None
    return fields[position] if -len(fields) <= position < len(fields) else None


def _fitting(combined: Combine, fit: Callable[[Any], Any]) -> Combine:
    return lambda first, second: fit(combined(first, second))


def _check_whole(kind: str, position: Any) -> None:
    if position != 0 and kind in ("sum", "min", "max"):
        raise TypeError(
            f"The {position} field selected on a basic type. A field expression on a basic type "
            "can only select the 0th field (which means selecting the entire basic type)."
        )


def _of_field(kind_of_element: type, combined: Combine, position: Any) -> Combine:
    if issubclass(kind_of_element, tuple):

        def of_tuples(first: Any, second: Any) -> Any:
            fields = list(first)
            fields[position] = combined(first[position], second[position])
            return tuple(fields)

        return of_tuples

    def of_others(first: Any, second: Any) -> Any:
        result = copy(first)
        result[position] = combined(first[position], second[position])
        return result

    return of_others
