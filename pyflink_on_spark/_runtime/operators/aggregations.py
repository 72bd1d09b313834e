"""sum, min, max, min_by, max_by: what makes one element of two."""

from __future__ import annotations

import operator
from collections.abc import Callable
from copy import copy
from typing import Any

from pyflink_on_spark.common.types import Row

Combine = Callable[[Any, Any], Any]


_COMBINED: dict[str, Combine] = {
    "sum": operator.add,
    "min": min,
    "max": max,
    "min_by": min,
    "max_by": max,
}


def aggregation(kind: str, position: int | str, example: Any) -> Combine:
    """Return what combines two elements.

    Args:
        kind: ``sum``, ``min``, ``max``, ``min_by`` or ``max_by``.
        position: of the field: an int, or a field's name.
        example: an element; all are of its sort: a tuple, list or row, or something else.

    Raises:
        TypeError: such elements have no such field.
    """
    if not isinstance(example, (tuple, list, Row)):
        return _of_whole_elements(kind, position)
    if kind == "min_by":
        return lambda first, second: second if second[position] < first[position] else first
    if kind == "max_by":
        return lambda first, second: second if second[position] > first[position] else first
    return _of_field(type(example), _COMBINED[kind], position)


def _of_whole_elements(kind: str, position: Any) -> Combine:
    if position != 0 and kind in ("sum", "min", "max"):
        raise TypeError(
            f"The {position} field selected on a basic type. A field expression on a basic type "
            "can only select the 0th field (which means selecting the entire basic type)."
        )
    return _COMBINED[kind]


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
