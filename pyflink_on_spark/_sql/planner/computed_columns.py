"""Computes what groups are made of, and what is aggregated, once for each row."""

from __future__ import annotations

from dataclasses import replace

from pyflink_on_spark._sql.plan.expressions import Constant, InputRef, Typed, input_refs
from pyflink_on_spark._sql.plan.nodes import Aggregate, Project
from pyflink_on_spark._sql.plan.schema import Schema


def with_columns(node: Aggregate) -> Aggregate:
    """Return an aggregate whose keys and arguments are columns of its input.

    Without that a key would be computed for the exchange and again for the result, and an argument
    of several functions for each of them.
    """
    used = [*node.keys, *(arg for call in node.calls for arg in call.args)]
    if all(isinstance(each, InputRef | Constant) for each in used):
        return node
    kept: list[Typed] = [each for each in used if not isinstance(each, Constant)]
    for call in node.calls:
        if call.filter is not None:
            types = node.input.schema.types
            kept += [InputRef(types[index], index) for index in sorted(input_refs(call.filter))]
    columns = list(dict.fromkeys(kept))
    places = {column: index for index, column in enumerate(columns)}

    def column_of(expression: Typed) -> Typed:
        if isinstance(expression, Constant):
            return expression
        return InputRef(expression.type, places[expression])

    calls = tuple(
        replace(
            call,
            args=tuple(map(column_of, call.args)),
            filter=None if call.filter is None else _over(call.filter, places),
        )
        for call in node.calls
    )
    names = node.input.schema.names
    schema = Schema(
        tuple(
            names[column.index] if isinstance(column, InputRef) else f"$f{index}"
            for index, column in enumerate(columns)
        ),
        tuple(column.type for column in columns),
    )
    source = Project(schema, node.input, tuple(columns))
    return replace(node, input=source, keys=tuple(map(column_of, node.keys)), calls=calls)


def _over(condition: Typed, places: dict[Typed, int]) -> Typed:
    if isinstance(condition, InputRef):
        return InputRef(condition.type, places[condition])
    operands = tuple(_over(operand, places) for operand in condition.operands)
    return condition.with_operands(operands) if operands else condition
