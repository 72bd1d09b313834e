"""Joins with a table as it was at the time of each row, and lookups in a connector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pyflink_on_spark._sql.binder.expressions import (
    all_of,
    unique_names,
)
from pyflink_on_spark._sql.binder.tables import unique_key
from pyflink_on_spark._sql.errors import (
    Span,
    TableError,
    invalid,
)
from pyflink_on_spark._sql.plan.expressions import (
    Conversion,
    InputRef,
    Invocation,
    Typed,
    conjuncts,
    convert,
    input_refs,
    substitute,
)
from pyflink_on_spark._sql.plan.nodes import (
    AssignWatermarks,
    Correlate,
    Node,
    Project,
    Schema,
    TableScan,
    TemporalJoin,
)
from pyflink_on_spark._sql.runtime.joins import lookup_function
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


def looked_up(node: Node) -> TableScan | None:
    """Return the table that a node reads if rows of it can be looked up, or None."""
    while isinstance(node, Project | AssignWatermarks):
        node = node.input
    if not isinstance(node, TableScan) or node.source.lookup((0,)) is None:
        return None
    return node


def lookup_join(
    left: Node, right: Node, scan: TableScan, kind: JoinKind, condition: Typed | None
) -> Node:
    """Return the rows of a node with the rows that a table has for them at that moment.

    Args:
        left: the rows.
        right: the columns of the table.
        scan: what ``looked_up`` returned for the right node.
        kind: INNER or LEFT.
        condition: over the columns of both.

    Raises:
        TableError: no column of the table has to be equal to something.
    """
    width = len(left.schema)
    columns = _stored_columns(right)
    keys: dict[int, Typed] = {}
    rest = []
    for part in conjuncts(condition):
        key = next(_keys(part, width, columns), None)
        if key is None or key[0] in keys:
            rest.append(part)
        else:
            keys[key[0]] = key[1]
    if not keys:
        raise TableError(
            f"Temporal table join requires an equality condition on fields of table [{scan.path}]."
        )
    places = tuple(keys)
    lookup = scan.source.lookup(places)
    assert lookup is not None
    outer = kind is JoinKind.LEFT
    types = [each.plain() for each in right.schema.types]
    if outer:
        types = [each.with_nullable(True) for each in types]
    schema = Schema(
        unique_names((*left.schema.names, *right.schema.names)), (*left.schema.types, *types)
    )
    args = tuple(convert(keys[place], scan.schema.types[place]) for place in places)
    function = lookup_function(
        scan.path.name,
        lookup,
        columns,
        right.schema,
        len(scan.schema),
        _key_among(scan, places, columns),
    )
    return Correlate(schema, left, function, args, outer, all_of(rest))


def _key_among(
    scan: TableScan, places: Sequence[int], columns: Sequence[Typed]
) -> frozenset[int] | None:
    """Return where columns have the primary key of a table, if it is among some stored ones."""
    names = scan.schema.names
    key = {names.index(name) for name in scan.table.schema.primary_key or () if name in names}
    found = {item.index: at for at, item in enumerate(columns) if isinstance(item, InputRef)}
    if not key or not key <= set(places) or not key <= found.keys():
        return None
    return frozenset(found[index] for index in key)


def _stored_columns(node: Node) -> list[Typed]:
    """Return the columns of a node, over those that are stored."""
    if isinstance(node, Project):
        inner = tuple(_stored_columns(node.input))
        return [substitute(column, inner) for column in node.expressions]
    if isinstance(node, AssignWatermarks):
        return _stored_columns(node.input)
    return [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]


def _keys(part: Typed, width: int, columns: list[Typed]) -> Iterator[tuple[int, Typed]]:
    """Yield a stored column and what it has to be equal to, if a condition says so."""
    if not isinstance(part, Invocation) or part.function.name != "=":
        return
    for one, two in (part.args, part.args[::-1]):
        if isinstance(two, InputRef) and two.index >= width:
            stored = columns[two.index - width]
            if isinstance(stored, InputRef) and all(index < width for index in input_refs(one)):
                yield stored.index, one
