"""Conditions: several as one, and where in a plan they are checked."""

from __future__ import annotations

from collections.abc import Iterable

from pyflink_on_spark._sql.binder.joins import join
from pyflink_on_spark._sql.binder.overloads import invoke
from pyflink_on_spark._sql.functions.library import builtin_functions
from pyflink_on_spark._sql.plan.expressions import Typed, conjuncts, input_refs, shifted
from pyflink_on_spark._sql.plan.nodes import Filter, Join, Node
from pyflink_on_spark._sql.syntax.queries import JoinKind


def all_of(parts: Iterable[Typed]) -> Typed | None:
    """Return the condition that all of some conditions are TRUE, or None if there are none."""
    together: Typed | None = None
    for part in parts:
        if together is None:
            together = part
        else:
            together = invoke(builtin_functions().functions["AND"], [together, part])
    return together


def filtered(node: Node, condition: Typed) -> Node:
    """Return the rows of a node for which a condition is TRUE.

    The condition becomes part of an inner join, and what is about one side of a join is checked
    before the join.
    """
    if not isinstance(node, Join) or node.kind in {JoinKind.RIGHT, JoinKind.FULL}:
        return Filter(node.schema, node, condition)
    inner = node.kind is not JoinKind.LEFT
    width = len(node.left.schema)
    left, right, both = [], [], []
    for part in conjuncts(condition):
        refs = input_refs(part)
        if refs and max(refs) < width:
            left.append(part)
        elif refs and min(refs) >= width and inner:
            right.append(shifted(part, -width))
        else:
            both.append(part)
    one, two = _kept(node.left, left), _kept(node.right, right)
    if not inner:
        made: Node = join(one, two, node.kind, node.condition)
        rest = all_of(both)
        return made if rest is None else Filter(made.schema, made, rest)
    return join(one, two, JoinKind.INNER, all_of([*conjuncts(node.condition), *both]))


def _kept(node: Node, parts: list[Typed]) -> Node:
    condition = all_of(parts)
    return node if condition is None else filtered(node, condition)
