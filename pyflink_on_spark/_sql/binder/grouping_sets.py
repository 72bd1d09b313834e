"""GROUPING SETS, ROLLUP and CUBE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from pyflink_on_spark._sql.binder.overloads import invoke
from pyflink_on_spark._sql.errors import invalid
from pyflink_on_spark._sql.functions.builtin.conditional import CASE
from pyflink_on_spark._sql.functions.library import builtin_functions
from pyflink_on_spark._sql.plan.expand import Expand
from pyflink_on_spark._sql.plan.expressions import Constant, InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import Node
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.syntax.expressions import Call, Expression
from pyflink_on_spark._sql.syntax.queries import Grouping, GroupItem
from pyflink_on_spark._sql.types import logical

_NUMBER = logical.BIGINT.with_nullable(False)
_FUNCTIONS = frozenset({"GROUPING", "GROUPING_ID", "GROUP_ID"})


def sets_of(items: Sequence[GroupItem]) -> list[tuple[Expression, ...]]:
    """Return the keys of each set that GROUP BY asks for; one set if it has plain items only."""
    choices = [_sets(item) for item in items]
    return [tuple(key for part in parts for key in part) for parts in product(*choices)]


def _sets(item: GroupItem) -> list[tuple[Expression, ...]]:
    units = item.sets
    if item.kind is Grouping.ROLLUP:
        chosen: list[Sequence[tuple[Expression, ...]]] = [
            units[:count] for count in range(len(units), -1, -1)
        ]
    elif item.kind is Grouping.CUBE:
        chosen = [each for n in range(len(units), -1, -1) for each in combinations(units, n)]
    else:
        return list(units)
    return [tuple(key for unit in each for key in unit) for each in chosen]


@dataclass(frozen=True)
class GroupingSets:
    """Groups by several sets of keys.

    Args:
        node: the rows, once for each set.
        keys: all keys, over the columns of the rows.
        grouped_by: what groups are made of: the keys where a set has them, and the set's number.
        sets: the positions of the keys of each set.
    """

    node: Node
    keys: tuple[Typed, ...]
    grouped_by: tuple[Typed, ...]
    sets: tuple[frozenset[int], ...]

    def value(self, node: Call, keys: Sequence[Typed]) -> Typed:
        """Return what ``GROUPING(...)`` or the like stands for.

        Args:
            node: the call.
            keys: its arguments.

        Raises:
            ValidationError: an argument is no key.
        """
        places = []
        for key in keys:
            if key not in self.keys:
                raise invalid(
                    f"Argument to operator '{node.name}' must be a grouped expression", node.span
                )
            places.append(self.keys.index(key))
        number = InputRef(_NUMBER, len(self.grouped_by) - 1)
        equal = builtin_functions().functions["="]
        parts: list[Typed] = []
        for index, each in enumerate(self.sets):
            bits = 0
            for place in places:
                bits = bits * 2 + (place not in each)
            parts += [invoke(equal, [number, Constant(_NUMBER, index)]), Constant(_NUMBER, bits)]
        return invoke(CASE, [*parts, Constant(_NUMBER, 0)])


def is_grouping(node: Any) -> bool:
    """Tell whether an expression is ``GROUPING(...)`` or the like."""
    return isinstance(node, Call) and node.name.upper() in _FUNCTIONS


def grouping_sets(node: Node, sets: Sequence[Sequence[Typed]]) -> GroupingSets:
    """Return what groups a node by several sets of keys.

    Args:
        node: the rows.
        sets: the keys of each set.
    """
    keys: list[Typed] = []
    for each in sets:
        keys += [key for key in each if key not in keys]
    positions = tuple(frozenset(keys.index(key) for key in each) for each in sets)
    width = len(node.schema)
    types = [key.type.plain().with_nullable(True) for key in keys]
    names = (*(f"$k{index}" for index in range(len(keys))), "$e")
    schema = Schema((*node.schema.names, *names), (*node.schema.types, *types, _NUMBER))
    grouped_by = [
        key if all(index in each for each in positions) else InputRef(kind, width + index)
        for index, (key, kind) in enumerate(zip(keys, types))
    ]
    number = InputRef(_NUMBER, width + len(keys))
    return GroupingSets(
        Expand(schema, node, tuple(keys), positions),
        tuple(keys),
        (*grouped_by, number),
        positions,
    )
