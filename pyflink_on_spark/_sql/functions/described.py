"""Flink's functions and those of users, as SHOW FUNCTIONS and DESCRIBE FUNCTION show them."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from pyflink_on_spark._sql.errors import UnsupportedOperationError
from pyflink_on_spark._sql.functions.python.functions import AsyncFunction
from pyflink_on_spark._sql.plan.signatures import (
    AggregateFunction,
    Described,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
)

Rows = list[tuple[str, str]]

_KINDS: tuple[tuple[type[Described], str], ...] = (
    (AsyncFunction, "ASYNC_SCALAR"),
    (ScalarFunction, "SCALAR"),
    (TableFunction, "TABLE"),
    (AggregateFunction, "AGGREGATE"),
    (TableAggregateFunction, "TABLE_AGGREGATE"),
)


class FlinksFunction(NamedTuple):
    """A function of Flink's.

    Args:
        kind: as Flink names it.
        deterministic: whether it always has the same result for the same arguments.
        arguments: the texts of its forms, without its name.
    """

    kind: str
    deterministic: bool
    arguments: list[str]


@lru_cache(maxsize=1)
def flinks_functions() -> dict[str, FlinksFunction]:
    """Return the functions that Flink lists, by name.

    ``compat_tests.record_functions`` has recorded them.
    """
    text = files(__package__).joinpath("described.json").read_text(encoding="utf-8")
    return {name: FlinksFunction(*each) for name, each in json.loads(text).items()}


@lru_cache(maxsize=1)
def _by_lower_name() -> dict[str, FlinksFunction]:
    return {name.lower(): each for name, each in flinks_functions().items()}


def described_builtin(name: str, *, extended: bool) -> Rows | None:
    """Return the rows of a function of Flink's, or None.

    Args:
        name: in any case.
        extended: whether kind and forms belong to the rows.
    """
    found = _by_lower_name().get(name.lower())
    if found is None:
        return None
    rows = _place(system=True, temporary=False)
    return rows + _extension(name, *found) if extended else rows


def described_user_function(
    name: str, function: object, *, system: bool, temporary: bool, source: Rows, extended: bool
) -> Rows:
    """Return the rows of a user's function.

    Args:
        name: as the statement writes it, with its database unless it is a system function.
        function: it.
        system: whether it is in no database.
        temporary: whether the session forgets it.
        source: rows that say where it comes from; none for a function that the program registered.
        extended: whether kind and signature belong to the rows.

    Raises:
        UnsupportedOperationError: the program registered it in a database.
    """
    if not system and not source:
        raise UnsupportedOperationError(
            "This CatalogFunction is a InlineCatalogFunction. This method should not be called."
        )
    rows = _place(system=system, temporary=temporary) + source
    if not extended:
        return rows
    assert isinstance(function, Described)
    assert function.declaration is not None
    types = function.declaration.input_types
    shown = "*" if types is None else ", ".join(
        f"arg{index} => {kind.text()}" for index, kind in enumerate(types)
    )  # fmt: skip
    kind = next(kind for each, kind in _KINDS if isinstance(function, each))
    return rows + _extension(name, kind, function.declaration.deterministic, [f"({shown})"])


def _place(*, system: bool, temporary: bool) -> Rows:
    return [("is system function", _java(system)), ("is temporary", _java(temporary))]


def _extension(name: str, kind: str, deterministic: bool, arguments: list[str]) -> Rows:
    return [
        ("kind", kind),
        ("requirements", "[]"),
        ("is deterministic", _java(deterministic)),
        ("supports constant folding", "true"),
        ("signature", "\n".join(name + each for each in arguments)),
    ]


def _java(value: bool) -> str:
    return "true" if value else "false"
