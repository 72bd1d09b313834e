"""Finds nodes of a plan that do the same, so that it is done once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from typing import Any

from pyflink_on_spark._sql.plan import nodes as logical
from pyflink_on_spark._sql.plan.expressions import AggregateInvocation, Typed, is_deterministic
from pyflink_on_spark._sql.plan.nodes import Node, Schema, SortKey

_UNIQUE = (logical.Sink, logical.ExternalSink, logical.ExternalScan, logical.FlatAggregate)


class Digests:
    """Gives nodes numbers; those that do the same have the same number."""

    def __init__(self) -> None:
        self._numbers: dict[Node, int] = {}
        self._known: dict[Hashable, int] = {}

    def number(self, node: Node) -> int:
        """Return the number of a node."""
        found = self._numbers.get(node)
        if found is None:
            key: Hashable = (type(node), self._content(node))
            found = self._numbers[node] = self._known.setdefault(key, len(self._known))
        return found

    def _content(self, node: Node) -> Hashable:
        if isinstance(node, logical.TableScan):
            return node.path, id(node.table), node.hints, _shape(node.schema)
        values = [getattr(node, each.name) for each in fields(node)]
        if isinstance(node, _UNIQUE) or not all(map(_repeats, values)):
            return id(node)
        try:
            content = tuple(map(self._part, values))
            hash(content)
        except TypeError:
            return id(node)
        return content

    def _part(self, value: Any) -> Hashable:
        if isinstance(value, Node):
            return self.number(value)
        if isinstance(value, Schema):
            return _shape(value)
        if isinstance(value, tuple):
            return tuple(map(self._part, value))
        found: Hashable = value
        return found


def _shape(schema: Schema) -> Hashable:
    return schema.names, schema.types, tuple(kind.time for kind in schema.types)


def _repeats(value: Any) -> bool:
    """True for expressions that are deterministic."""
    if isinstance(value, Typed):
        return is_deterministic(value)
    if isinstance(value, AggregateInvocation):
        return all(map(_repeats, value.args)) and _repeats(value.filter)
    if isinstance(value, SortKey):
        return _repeats(value.value)
    return all(map(_repeats, value)) if isinstance(value, tuple) else True
