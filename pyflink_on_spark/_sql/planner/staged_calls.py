"""Puts functions that have an operator of their own before the expressions that use them."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.binder.conditions import all_of
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.functions.python.staged import AsyncFunction, StagedFunction
from pyflink_on_spark._sql.plan.expressions import (
    InputRef,
    Invocation,
    Typed,
    conjuncts,
    rewrite,
    walk,
)
from pyflink_on_spark._sql.plan.nodes import Node, Project
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.planner.async_calls import PythonAsync
from pyflink_on_spark._sql.planner.physical import PhysicalNode
from pyflink_on_spark._sql.planner.vectorized import PythonVectorized


def is_staged(expression: Typed) -> bool:
    """Tell whether an expression contains a function that has an operator of its own."""
    return any(map(_is_call, walk(expression)))


def split_condition(condition: Typed) -> tuple[Typed | None, Typed | None]:
    """Return the part of a condition without such functions, and the part with them.

    Functions are called for the rows only for which the first part is TRUE, as in Flink.
    """
    parts = conjuncts(condition)
    staged = [part for part in parts if is_staged(part)]
    if not staged:
        return condition, None
    return all_of(part for part in parts if part not in staged), all_of(staged)


def outer_join_refused(condition: Typed) -> TableError:
    """Return the error for such functions in the condition of an outer join."""
    for part in walk(condition):
        if isinstance(part, Invocation) and isinstance(part.function, AsyncFunction):
            return TableError("AsyncScalarFunction not supported for non inner join condition")
    return TableError(
        "Only inner join condition with equality predicates supports the Python UDF taking the "
        "inputs from the left table and the right table at the same time, e.g., "
        "ON T1.id = T2.id && pythonUdf(T1.a, T2.b)"
    )


def with_staged_calls(
    source: PhysicalNode, expressions: Sequence[Typed]
) -> tuple[PhysicalNode, tuple[Typed, ...]]:
    """Return a node with the results of such functions, and expressions that use them.

    Args:
        source: the node.
        expressions: over its columns.
    """
    expressions = tuple(expressions)
    while calls := _innermost(expressions):
        width = len(source.schema)
        source, calls = _stage(source, calls)
        places: dict[Typed, Typed] = {
            call: InputRef(call.type, width + n) for n, call in enumerate(calls)
        }
        expressions = tuple(rewrite(expression, places.get) for expression in expressions)
    return source, expressions


def with_staged_columns(
    node: Node, expressions: Sequence[Typed]
) -> tuple[Node, tuple[Typed, ...]] | None:
    """Return a node with columns for such functions, and expressions that use them.

    Args:
        node: the node.
        expressions: over its columns.

    Returns:
        None if there are no such functions.
    """
    width, schema = len(node.schema), node.schema
    calls: dict[Typed, int] = {}

    def placed(part: Typed) -> Typed | None:
        if not _is_call(part):
            return None
        return InputRef(part.type, width + calls.setdefault(part, len(calls)))

    rewritten = tuple(rewrite(each, placed) for each in expressions)
    if not calls:
        return None
    own = [InputRef(kind, index) for index, kind in enumerate(schema.types)]
    names = (*schema.names, *(f"$f{width + n}" for n in calls.values()))
    types = (*schema.types, *(call.type for call in calls))
    return Project(Schema(names, types), node, (*own, *calls)), rewritten


def _innermost(expressions: Sequence[Typed]) -> list[Invocation]:
    """Return the calls, each once, whose arguments contain none."""
    calls: dict[Invocation, None] = {}
    for expression in expressions:
        for part in walk(expression):
            if _is_call(part) and not any(map(is_staged, part.operands)):
                assert isinstance(part, Invocation)
                calls[part] = None
    return list(calls)


def _stage(source: PhysicalNode, calls: list[Invocation]) -> tuple[PhysicalNode, list[Invocation]]:
    """Return a node with the results of some of the calls, and these calls."""
    waiting = [call for call in calls if isinstance(call.function, AsyncFunction)]
    if waiting:
        return PythonAsync(source, waiting[0]), waiting[:1]
    return PythonVectorized(source, calls), calls


def _is_call(part: Typed) -> bool:
    return isinstance(part, Invocation) and isinstance(part.function, StagedFunction)
