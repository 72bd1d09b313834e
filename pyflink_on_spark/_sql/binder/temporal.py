"""Joins with ``FOR SYSTEM_TIME AS OF``."""

from __future__ import annotations

from dataclasses import replace

from pyflink_on_spark._sql.binder.lookups import looked_up, lookup_join
from pyflink_on_spark._sql.binder.scope import unique_names
from pyflink_on_spark._sql.binder.unique_keys import unique_key
from pyflink_on_spark._sql.errors import Span, TableError, invalid
from pyflink_on_spark._sql.plan.expressions import (
    Conversion,
    InputRef,
    Invocation,
    Typed,
    conjuncts,
)
from pyflink_on_spark._sql.plan.joins import TemporalJoin
from pyflink_on_spark._sql.plan.nodes import Node
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.syntax import queries as syntax
from pyflink_on_spark._sql.syntax.expressions import Expression
from pyflink_on_spark._sql.syntax.queries import JoinKind
from pyflink_on_spark._sql.types.logical import Time


def system_time(relation: syntax.Relation) -> Expression | None:
    """Return the time that a relation is wanted as of, or None."""
    if isinstance(relation, syntax.Aliased):
        return system_time(relation.relation)
    return relation.system_time if isinstance(relation, syntax.TableReference) else None


def without_system_time(relation: syntax.Relation) -> syntax.Relation:
    """Return the same relation as it is now."""
    if isinstance(relation, syntax.Aliased):
        return replace(relation, relation=without_system_time(relation.relation))
    assert isinstance(relation, syntax.TableReference)
    return replace(relation, system_time=None)


def temporal_join(
    left: Node,
    right: Node,
    kind: JoinKind,
    condition: Typed | None,
    time: Typed,
    span: Span | None,
) -> Node:
    """Return the rows of a node with the versions that another one had at their times.

    Args:
        left: the rows.
        right: the versions.
        kind: INNER or LEFT.
        condition: over the columns of both.
        time: which time of a row.
        span: where the versions are, for messages.

    Raises:
        TableError: the versions have no key, or the rows no time.
    """
    if kind not in {JoinKind.INNER, JoinKind.LEFT}:
        raise TableError(
            f"Temporal table join currently only support INNER JOIN and LEFT JOIN, but was "
            f"{kind.value} JOIN."
        )
    if not isinstance(time, InputRef) or time.type.time is None:
        raise TableError("Temporal table join currently only supports 'FOR SYSTEM_TIME AS OF' "
                         "left table's time attribute field")  # fmt: skip
    if time.type.time is Time.PROCTIME and (found := looked_up(right)) is not None:
        return lookup_join(left, right, found, kind, condition)
    key = unique_key(right)
    if key is None:
        raise invalid(
            "Temporal Table Join requires primary key in versioned table, but no primary key can "
            "be found.",
            span,
        )
    if time.type.time is Time.PROCTIME:
        raise TableError("Processing-time temporal join is not supported yet.")
    width = len(left.schema)
    if not key <= _equal_columns(condition, width):
        raise TableError(
            "Temporal table's primary key [" + ", ".join(right.schema.names[i] for i in sorted(key))
            + "] must be included in the equivalence condition of temporal join"
        )  # fmt: skip
    versions = [index for index, each in enumerate(right.schema.types) if each.time is Time.ROWTIME]
    if not versions:
        raise TableError("Event-Time Temporal Table Join requires both primary key and row time "
                         "attribute in versioned table, but no row time attribute can be "
                         "found.")  # fmt: skip
    types = [each.plain() for each in right.schema.types]
    if kind is JoinKind.LEFT:
        types = [each.with_nullable(True) for each in types]
    schema = Schema(
        unique_names((*left.schema.names, *right.schema.names)), (*left.schema.types, *types)
    )
    return TemporalJoin(schema, left, right, time.index, versions[0], kind, condition)


def _equal_columns(condition: Typed | None, width: int) -> set[int]:
    """Return the columns of the versions that have to be equal to something of the rows."""
    found: set[int] = set()
    for part in conjuncts(condition):
        if isinstance(part, Invocation) and part.function.name == "=":
            for arg in part.args:
                while isinstance(arg, Conversion):
                    arg = arg.operand
                if isinstance(arg, InputRef) and arg.index >= width:
                    found.add(arg.index - width)
    return found
