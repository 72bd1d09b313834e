"""Aggregate functions that make JSON. Their values are JSON already: the parser sees to that."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from pyflink_on_spark._sql.functions.parameters import any_type, characters
from pyflink_on_spark._sql.plan.signatures import (
    AggregateCode,
    AggregateFunction,
    AggregateOverload,
    Binder,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType

_RESULT = logical.varchar(2000).with_nullable(False)
Slots = Sequence[str]


class _Array(AggregateCode):
    initial = ("[]",)

    def __init__(self, keeps_null: bool) -> None:
        self.takes_null = keeps_null

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[0]}.append({args[0]} or 'null')"]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        item = f"({args[0]} or 'null')"
        return [f"if {item} in {slots[0]}: {slots[0]}.remove({item})"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [f"{slots[0]} += {others[0]}"]

    def value(self, slots: Slots) -> str:
        return f"('[' + ','.join({slots[0]}) + ']')"


class _Object(AggregateCode):
    initial = ("{}",)
    takes_null = True

    def __init__(self, keeps_null: bool, binder: Binder) -> None:
        self._keeps_null = keeps_null
        self._put = binder.bind(put, "put")
        self._put_all = binder.bind(put_all, "put_all")
        self._written = binder.bind(written, "written")

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        call = f"{self._put}({slots[0]}, {args[0]}, {args[1]} or 'null')"
        return [call if self._keeps_null else f"if {args[1]} is not None: {call}"]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[0]}.pop({args[0]}, None)"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [f"{self._put_all}({slots[0]}, {others[0]})"]

    def value(self, slots: Slots) -> str:
        return f"{self._written}({slots[0]})"


def put(found: dict[str, str], key: str | None, value: str) -> None:
    """Add a field to an object.

    Raises:
        ValueError: there is one of that name, or the name is NULL.
    """
    if key is None:
        raise ValueError("Key must not be NULL")
    if key in found:
        raise ValueError(
            f"Key '{key}' is already present. Duplicate keys are not allowed in JSON_OBJECTAGG. "
            "Please ensure that keys are unique."
        )
    found[key] = value


def put_all(found: dict[str, str], others: dict[str, str]) -> None:
    """Add the fields of another object."""
    for key, value in others.items():
        put(found, key, value)


def written(found: dict[str, str]) -> str:
    """Return an object as JSON, with its fields in the order of their names."""
    fields = (
        f"{json.dumps(key, ensure_ascii=False)}:{value}" for key, value in sorted(found.items())
    )
    return "{" + ",".join(fields) + "}"


def _array(keeps_null: bool) -> Callable[..., AggregateCode]:
    return lambda binder, types, result, retracting: _Array(keeps_null)


def _object(keeps_null: bool) -> Callable[..., AggregateCode]:
    return lambda binder, types, result, retracting: _Object(keeps_null, binder)


def _result(_types: Sequence[LogicalType]) -> LogicalType:
    return _RESULT


def _function(name: str, parameters: Any, code: Callable[..., AggregateCode]) -> AggregateFunction:
    overload = AggregateOverload(parameters, _result, code)
    shown = ", ".join("<CHARACTER>" if each is characters else "<ANY>" for each in parameters)
    return AggregateFunction(name, (overload,), forms=(f"'{name}({shown})'",))


FUNCTIONS = tuple(
    _function(f"{name}_{word}_ON_NULL", parameters, code(word == "NULL"))
    for name, parameters, code in (
        ("JSON_ARRAYAGG", (any_type,), _array),
        ("JSON_OBJECTAGG", (characters, any_type), _object),
    )
    for word in ("NULL", "ABSENT")
)
