"""Finds the queries that keep the first rows of each key."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pyflink_on_spark._sql.plan import nodes as logical
from pyflink_on_spark._sql.plan.expressions import (
    Constant,
    Conversion,
    InputRef,
    Invocation,
    Typed,
    conjuncts,
    input_refs,
    substitute,
)
from pyflink_on_spark._sql.plan.over import Over
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.plan.window_columns import windows_of
from pyflink_on_spark._sql.planner.calc import calc
from pyflink_on_spark._sql.planner.physical import PhysicalNode
from pyflink_on_spark._sql.planner.sorting import TopN, VariableEnd, WindowTopN
from pyflink_on_spark._sql.types.logical import INTEGERS

if TYPE_CHECKING:
    from pyflink_on_spark._sql.planner.implementation import Implementation

_NUMBER = "ROW_NUMBER"
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def top_n(node: logical.Project, plan: Implementation) -> PhysicalNode | None:
    """Return what keeps the first rows of each key, if a projection asks for that.

    The shape is a projection of a filter by the rank of a projection of a rank.
    """
    found = _rank_below(node.input)
    if found is None:
        return None
    condition, columns, rank = found
    width = len(rank.input.schema)
    batch = plan.settings.batch
    start, end, rest = _ranks(condition, width, variable=not batch)
    if end is None or any(width in input_refs(part) for part in rest):
        return None
    expressions = tuple(substitute(item, columns) for item in node.expressions)
    if start == end:
        of_row = [InputRef(kind, index) for index, kind in enumerate(rank.input.schema.types)]
        one_rank = (*of_row, Constant(rank.schema.types[width], start))
        expressions = tuple(substitute(item, one_rank) for item in expressions)
    ranked = any(width in input_refs(item) for item in expressions)
    source = plan.implement(rank.input)
    schema = rank.schema
    if not ranked:
        schema = Schema(schema.names[:-1], schema.types[:-1])
    first = TopN(
        schema, source, rank.partition, rank.keys, start - 1, end, ranked=ranked, batch=batch
    )
    top: PhysicalNode = first
    if not batch and not isinstance(end, VariableEnd):
        top = _of_windows(first, rank)
    for part in rest:
        top = calc(top.schema, top, part, None)
    return calc(node.schema, top, None, expressions)


def _ranks(
    condition: Typed, width: int, *, variable: bool
) -> tuple[int, int | VariableEnd | None, list[Typed]]:
    """Return the first and the last rank of a condition, and what else it asks for.

    Args:
        condition: over the columns of a row and its rank.
        width: how many columns a row has without its rank.
        variable: whether the row may say which rank is the last one.
    """
    start = 1
    rest: list[Typed] = []
    end: int | VariableEnd | None = None
    for part in conjuncts(condition):
        between = _between(part, width)
        if between is not None:
            start, end = between
            continue
        bound = _bound(part, width)
        said = _variable_end(part, width) if variable and bound is None else None
        if said is not None and end is None:
            end = said
            continue
        if bound is None or isinstance(end, VariableEnd):
            rest.append(part)
            continue
        operator, value = bound
        if operator == "=":
            start, end = value, value
        elif operator in {"<", "<="}:
            end = value - (operator == "<")
        else:
            start = value + (operator == ">")
    return start, end, rest


def _of_windows(top: TopN, rank: Over) -> TopN:
    """Return the same for windows, if rows of one window are counted together."""
    windows = windows_of(rank.input)
    parts = {
        windows[item.index][1]: item.index
        for item in rank.partition
        if isinstance(item, InputRef) and item.index in windows
    }
    if not {0, 1} <= parts.keys():
        return top
    window, _ = windows[parts[1]]
    return WindowTopN(top, window, parts[1])


def _rank_below(
    node: logical.Node,
) -> tuple[Typed, tuple[Typed, ...], Over] | None:
    """Return the condition and the columns over a rank's rows, and the rank."""
    if not isinstance(node, logical.Filter):
        return None
    condition, below = node.condition, node.input
    columns: tuple[Typed, ...] = tuple(
        InputRef(kind, index) for index, kind in enumerate(below.schema.types)
    )
    while isinstance(below, logical.Project):
        columns = tuple(substitute(item, below.expressions) for item in columns)
        below = below.input
    if not isinstance(below, Over) or [call.function.name for call in below.calls] != [_NUMBER]:
        return None
    return substitute(condition, columns), columns, below


def _bound(part: Typed, rank: int) -> tuple[str, int] | None:
    if not isinstance(part, Invocation) or part.function.name not in _FLIPPED:
        return None
    one, two = (_plain(arg) for arg in part.args)
    name = part.function.name
    if isinstance(one, Constant):
        one, two, name = two, one, _FLIPPED[name]
    if isinstance(one, InputRef) and one.index == rank and isinstance(two, Constant):
        with suppress(TypeError, ValueError):  # a text that is no number fails when the query runs
            return name, int(two.value)
    return None


def _between(part: Typed, rank: int) -> tuple[int, int] | None:
    """Return the first and the last rank that BETWEEN gives."""
    if not isinstance(part, Invocation) or part.function.name != "BETWEEN" or part.symbols:
        return None
    value, first, last = map(_plain, part.args)
    if not isinstance(value, InputRef) or value.index != rank:
        return None
    if not isinstance(first, Constant) or not isinstance(last, Constant):
        return None
    return int(first.value), int(last.value)


def _variable_end(part: Typed, rank: int) -> VariableEnd | None:
    """Return the end that a condition gives by an expression over the row."""
    if not isinstance(part, Invocation) or part.function.name not in _FLIPPED:
        return None
    one, two = (_plain(arg) for arg in part.args)
    name = part.function.name
    if isinstance(two, InputRef) and two.index == rank:
        one, two, name = two, one, _FLIPPED[name]
    if not isinstance(one, InputRef) or one.index != rank or name not in {"<", "<="}:
        return None
    if rank in input_refs(two) or not input_refs(two) or two.type.root not in INTEGERS:
        return None
    return VariableEnd(two, int(name == "<"))


def _plain(expression: Typed) -> Typed:
    while isinstance(expression, Conversion):
        expression = expression.operand
    return expression
