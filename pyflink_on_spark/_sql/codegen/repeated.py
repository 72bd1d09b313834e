"""Finds the parts of a row's expressions that stand in them more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from pyflink_on_spark._sql.plan.expressions import (
    Constant,
    Conversion,
    FieldAccess,
    Heights,
    InputRef,
    Invocation,
    Typed,
    is_deterministic,
    walk,
)

PART_HEIGHT = 32
"""How high an expression of one function is. Python compiles no more than some 90 nested ones."""

Structure = Hashable
"""Equal for two expressions that always have the same value for the same row."""


def structure(expression: Typed) -> Structure:
    """Return what two expressions have in common if one can stand for the other."""
    kind = expression.type
    if isinstance(expression, Constant):
        # 0.0 equals -0.0, and 1 equals TRUE.
        return Constant, kind, repr(expression.value)
    parts = tuple(map(structure, expression.operands))
    if isinstance(expression, Invocation):
        return kind, expression.function, expression.overload, expression.symbols, parts
    if isinstance(expression, Conversion):
        return Conversion, kind, expression.lenient, parts
    if isinstance(expression, InputRef | FieldAccess):
        return type(expression), kind, expression.index, parts
    return type(expression), id(expression)


def repeated(expressions: Iterable[Typed]) -> frozenset[Structure]:
    """Return the structures of the calls that several expressions, or parts of them, have.

    A call inside one that is repeated is not, unless it stands elsewhere as well. Functions of the
    user are called as often as the query says. High expressions are left out: their parts are in
    several functions.
    """
    counts: Counter[Structure] = Counter()
    heights = Heights()
    for expression in expressions:
        if heights.of(expression) < PART_HEIGHT:
            _count(expression, counts)
    return frozenset(found for found, count in counts.items() if count > 1)


def _count(expression: Typed, counts: Counter[Structure]) -> None:
    if isinstance(expression, Invocation | Conversion) and _can_be_kept(expression):
        found = structure(expression)
        counts[found] += 1
        if counts[found] > 1:
            return
    for operand in expression.operands:
        _count(operand, counts)


def _can_be_kept(expression: Typed) -> bool:
    return is_deterministic(expression) and all(
        part.function.foldable for part in walk(expression) if isinstance(part, Invocation)
    )
