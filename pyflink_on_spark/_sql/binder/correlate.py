"""LATERAL TABLE and UNNEST."""

from __future__ import annotations

from pyflink_on_spark._sql.binder.expressions import ExpressionBinder
from pyflink_on_spark._sql.binder.missing_functions import refuse_missing
from pyflink_on_spark._sql.binder.scope import unique_names
from pyflink_on_spark._sql.errors import Span, invalid, not_yet
from pyflink_on_spark._sql.plan.expressions import Typed
from pyflink_on_spark._sql.plan.nodes import Correlate, Node
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.plan.signatures import UNNEST, TableFunction
from pyflink_on_spark._sql.syntax import queries as syntax

Lateral = tuple[syntax.Relation, "str | None", tuple[str, ...]]
"""A relation that may use what stands before it, its name, and the names of its columns."""


def lateral_of(relation: syntax.Relation) -> Lateral | None:
    """Return a relation as one that may use what stands before it, if it is one."""
    name: str | None = None
    columns: tuple[str, ...] = ()
    if isinstance(relation, syntax.Aliased):
        name, columns, relation = relation.name, relation.columns, relation.relation
    if isinstance(relation, syntax.FunctionTable | syntax.Unnest):
        return relation, name, columns
    return None


def bind_correlate(
    node: Node,
    binder: ExpressionBinder,
    relation: syntax.Relation,
    columns: tuple[str, ...],
    left: bool,
) -> Correlate:
    """Return the rows of a node with those of a table function.

    Args:
        node: the node.
        binder: resolves the arguments.
        relation: the call.
        columns: the names of the function's columns; its own if not given.
        left: whether rows without partners are kept.

    Raises:
        ValidationError: there is no such function, or it does not take the arguments.
    """
    if isinstance(relation, syntax.Unnest):
        if relation.ordinality:
            not_yet("WITH ORDINALITY", relation.span, "Number the elements in a Python function.")
        operand = binder.bind(relation.operand)
        return correlate(node, UNNEST, (operand,), columns, left, relation.span)
    assert isinstance(relation, syntax.FunctionTable)
    call = relation.call
    function = binder.function(call)
    if not isinstance(function, TableFunction):
        if function is None:
            refuse_missing(call.name, call.span)
        raise invalid(
            f"No match found for function signature {call.name}(...): it is no table function",
            call.span,
        )
    args = tuple(binder.bind(arg) for arg in call.args)
    return correlate(node, function, args, columns, left, call.span)


def correlate(
    node: Node,
    function: TableFunction,
    args: tuple[Typed, ...],
    columns: tuple[str, ...],
    left: bool,
    span: Span | None = None,
) -> Correlate:
    """Return the rows of a node with those of a table function.

    Args:
        node: the node.
        function: the function.
        args: its arguments.
        columns: the names of the function's columns; its own if not given.
        left: whether rows without partners are kept.
        span: where the call is, for messages.

    Raises:
        ValidationError: the function does not take the arguments.
    """
    found = function.columns([arg.type for arg in args])
    if found is None:
        listed = ", ".join(f"<{arg.type}>" for arg in args)
        raise invalid(f"Cannot apply '{function.name}' to arguments of type {listed}", span)
    names, types = found
    if columns:
        if len(columns) != len(names):
            raise invalid(
                f"List of column aliases must have same degree as table; table has {len(names)} "
                f"columns, whereas alias list has {len(columns)} columns",
                span,
            )
        names = columns
    if left:
        types = tuple(kind.with_nullable(True) for kind in types)
    schema = Schema(
        unique_names((*node.schema.names, *names)),
        (*node.schema.types, *(kind.plain() for kind in types)),
    )
    return Correlate(schema, node, function, args, left)
