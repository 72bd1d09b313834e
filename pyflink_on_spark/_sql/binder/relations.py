"""Relations in FROM: joins, LATERAL TABLE and UNNEST."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyflink_on_spark._sql.binder.changelogs import CHANGELOG_FUNCTIONS, bind_changelog_function
from pyflink_on_spark._sql.binder.expressions import (
    ExpressionBinder,
    Functions,
    Scope,
    all_of,
    invoke,
    unique_names,
)
from pyflink_on_spark._sql.binder.match_recognize import bind_match
from pyflink_on_spark._sql.binder.temporal_joins import (
    system_time,
    temporal_join,
    without_system_time,
)
from pyflink_on_spark._sql.binder.windows import KINDS, bind_window_function
from pyflink_on_spark._sql.catalog import CatalogManager
from pyflink_on_spark._sql.codegen.rows import folded
from pyflink_on_spark._sql.errors import (
    QuerySettings,
    Span,
    ValidationError,
    at_place,
    invalid,
)
from pyflink_on_spark._sql.functions.catalog import builtin_functions
from pyflink_on_spark._sql.plan.expressions import (
    Conversion,
    InputRef,
    Typed,
    conjuncts,
    convert,
    input_refs,
    shifted,
    substitute,
)
from pyflink_on_spark._sql.plan.nodes import (
    ONE_ROW,
    Aggregate,
    AssignWatermarks,
    Correlate,
    Filter,
    Join,
    Node,
    Schema,
    TableScan,
    project,
    renamed,
    window_join,
)
from pyflink_on_spark._sql.plan.options import CatalogTable, ObjectPath, ResolvedSchema
from pyflink_on_spark._sql.plan.ports import RefusedSource, TableSource
from pyflink_on_spark._sql.plan.signatures import NUMBERED_UNNEST, UNNEST, TableFunction
from pyflink_on_spark._sql.plan.time_conditions import time_bounds
from pyflink_on_spark._sql.syntax import queries as syntax
from pyflink_on_spark._sql.syntax.expressions import Expression, Name, Star
from pyflink_on_spark._sql.syntax.queries import JoinKind, MatchRecognize
from pyflink_on_spark._sql.syntax.statements import ColumnKind
from pyflink_on_spark._sql.tables.connectors.registry import table_context, table_source, with_hints
from pyflink_on_spark._sql.types.coercion import common_type

Lateral = tuple[syntax.Relation, "str | None", tuple[str, ...]]
"""A relation that may use what stands before it, its name, and the names of its columns."""


def lateral_of(relation: syntax.Relation) -> Lateral | None:
    """Return a relation as one that may use what stands before it, if it is one."""
    name: str | None = None
    columns: tuple[str, ...] = ()
    if isinstance(relation, syntax.Aliased):
        name, columns, relation = relation.name, relation.columns, relation.relation
    if isinstance(relation, syntax.DerivedTable) and relation.lateral:
        inner = _only_relation(relation.query)
        if inner is not None and (found := lateral_of(inner)) is not None:
            return found[0], name, columns or found[2]
    if isinstance(relation, syntax.FunctionTable | syntax.Unnest):
        return relation, name, columns
    return None


def _only_relation(query: syntax.Query) -> syntax.Relation | None:
    """Return the relation of which a query selects everything, if it does nothing else."""
    if not isinstance(query, syntax.Select) or len(query.from_) != 1 or query.distinct:
        return None
    everything = len(query.items) == 1 and isinstance(query.items[0], Star)
    rest = (query.where, query.group_by, query.having)
    return query.from_[0] if everything and rest == (None, None, None) else None


LateralDerived = tuple[syntax.DerivedTable, "str | None", tuple[str, ...]]
"""A query after LATERAL, its name, and the names of its columns."""


def lateral_query_of(relation: syntax.Relation) -> LateralDerived | None:
    """Return a relation as a query after LATERAL, if it is one."""
    name: str | None = None
    columns: tuple[str, ...] = ()
    if isinstance(relation, syntax.Aliased):
        name, columns, relation = relation.name, relation.columns, relation.relation
    if isinstance(relation, syntax.DerivedTable) and relation.lateral:
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
        operand = binder.bind(relation.operand)
        unnest = NUMBERED_UNNEST if relation.ordinality else UNNEST
        return correlate(node, unnest, (operand,), columns, left, relation.span)
    assert isinstance(relation, syntax.FunctionTable)
    call = relation.call
    function = binder.table_function(call)
    if not isinstance(function, TableFunction):
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


def scan(
    path: ObjectPath, table: CatalogTable, hints: Mapping[str, str], settings: QuerySettings
) -> Node:
    """Return the node that gives all columns of a table, with its watermarks.

    Raises:
        ValidationError: the connector refuses the table.
    """
    context = table_context(
        path, table, settings.configuration, settings.time_zone, batch=settings.batch
    )
    source = table_source(with_hints(context, hints))
    if settings.batch and not source.reading(()).source.bounded:
        raise ValidationError(
            f"Querying an unbounded table '{'.'.join(path)}' in batch mode is not allowed. "
            "The table source is unbounded."
        )
    return _read(path, table, source, hints)


def refused_scan(path: ObjectPath, table: CatalogTable, error: ValidationError) -> Node:
    """Return the node of a table that can be described, but not read.

    Args:
        path: the table's name.
        table: what the catalog has of it.
        error: what to raise when a query is planned that reads it.
    """
    declared = {
        column.metadata_key or column.name: column.type
        for column in table.schema.of_kind(ColumnKind.METADATA)
    }
    return _read(path, table, RefusedSource(error, declared), {})


def _read(
    path: ObjectPath, table: CatalogTable, source: TableSource, hints: Mapping[str, str]
) -> Node:
    stored = _stored_schema(table.schema, source)
    read = TableScan(stored, path, table, source, tuple(sorted(hints.items())))
    return with_watermarks(with_computed(read, table.schema), table.schema)


def _stored_schema(schema: ResolvedSchema, source: TableSource) -> Schema:
    """Return the physical columns and, after them, the metadata columns as the source has them."""
    physical = schema.physical
    metadata = schema.of_kind(ColumnKind.METADATA)
    offered = source.metadata() if metadata else {}
    types = []
    for column in metadata:
        key = column.metadata_key or column.name
        if key not in offered:
            listed = "\n".join(sorted(offered))
            raise ValidationError(
                f"Invalid metadata key '{key}' in column '{column.name}'.\n\n"
                f"The table supports the following metadata keys:\n{listed}"
            )
        types.append(offered[key])
    names = tuple(column.name for column in metadata)
    return Schema(physical.names + names, physical.types + tuple(types))


def with_computed(node: Node, schema: ResolvedSchema) -> Node:
    """Return the columns of a table in their order.

    Args:
        node: gives the physical and the metadata columns.
        schema: the table's.
    """
    stored = {
        name: InputRef(kind, index)
        for index, (name, kind) in enumerate(zip(node.schema.names, node.schema.types))
    }
    declared = [column for column in schema.columns if column.kind is not ColumnKind.COMPUTED]
    # A computed column is over the stored columns in the order of their declaration.
    order = tuple(_as_declared(stored[column.name], column.type) for column in declared)
    by_name = dict(zip((column.name for column in declared), order))
    columns = [
        by_name[column.name] if column.expression is None else substitute(column.expression, order)
        for column in schema.columns
    ]
    return project(node, columns, schema.row.names)


def _as_declared(column: InputRef, declared: object) -> Typed:
    kind = declared.plain()  # type: ignore[attr-defined]
    return column if column.type.same_values(kind) else Conversion(kind, column)


def with_watermarks(node: Node, schema: ResolvedSchema) -> Node:
    """Return a node with the watermarks of a table."""
    watermark = schema.watermark
    if watermark is None:
        return node
    index = schema.index(watermark.column)
    return AssignWatermarks(schema.row, node, index, watermark.expression)


class RelationBinder:
    """Binds the relations of FROM to plan nodes.

    Args:
        catalog: the tables that there are.
        functions: the functions that there are.
        settings: the session's.
        named: the queries of WITH, by name.
        bind: returns the plan of a query.
        lateral: returns a query that may use columns before it.
        values_of_on: adds the values of queries in ON to the rows of the second relation.
    """

    def __init__(
        self,
        catalog: CatalogManager,
        functions: Functions,
        settings: QuerySettings,
        named: Mapping[str, Node],
        bind: Callable[[Any], Node],
        lateral: Callable[[Any, Scope, Node, JoinKind], Any],
        values_of_on: Callable[[Node, Any], tuple[Node, Mapping[Expression, Typed]]],
    ) -> None:
        self._catalog, self._functions, self._settings = catalog, functions, settings
        self._named, self._bind, self._lateral = named, bind, lateral
        self._values_of_on = values_of_on
        self._relations: dict[type, Callable[[Any], tuple[Node, Scope]]] = {
            syntax.TableReference: self._table,
            syntax.DerivedTable: self._derived,
            syntax.Aliased: self._aliased,
            syntax.FunctionTable: self._function_table,
            syntax.Unnest: self._unnest,
            syntax.Join: self._join,
            MatchRecognize: self._match,
        }

    def bind(self, relations: Sequence[syntax.Relation]) -> tuple[Node, Scope]:
        """Return the rows of relations side by side, and their columns.

        Raises:
            ValidationError: something in them is wrong.
        """
        if not relations:
            return ONE_ROW, Scope(())
        node, scope = self._relation(relations[0])
        for relation in relations[1:]:
            node, scope = self._joined(node, scope, relation, syntax.JoinKind.CROSS, None)
        return node, scope

    def _join(self, join: syntax.Join) -> tuple[Node, Scope]:
        node, scope = self._relation(join.left)
        if join.natural or join.using:
            return self._by_names(node, scope, join)
        return self._joined(node, scope, join.right, join.kind, join.on)

    def _by_names(self, node: Node, scope: Scope, written: syntax.Join) -> tuple[Node, Scope]:
        """Return a join by columns of equal names, which come first, and once."""
        other, other_scope = self._relation(written.right)
        names = tuple(name.parts[-1] for name in written.using)
        if written.natural:
            others = {name for name, _ in other_scope.columns()}
            names = tuple(name for name, _ in scope.columns() if name in others)
        pairs = [
            (scope.resolve(Name((name,))), shifted(other_scope.resolve(Name((name,))), scope.width))
            for name in names
        ]
        functions = builtin_functions()
        condition = all_of(invoke(functions["="], pair) for pair in pairs)
        made = join(node, other, written.kind, condition)
        both = scope.joined(other_scope).retyped(made.schema.types)
        columns: list[Typed] = []
        for one, two in pairs:
            if written.kind is syntax.JoinKind.FULL:
                columns.append(invoke(functions["COALESCE"], [one, two]))
                continue
            column = two if written.kind is syntax.JoinKind.RIGHT else one
            common = common_type([one.type, two.type])
            columns.append(column if common is None else convert(column, common))
        own = Schema(names, tuple(column.type for column in columns))
        rest = [InputRef(kind, index) for index, kind in enumerate(made.schema.types)]
        made_names = unique_names((*names, *made.schema.names))
        scoped = Scope.of(own).tables + both.moved(len(names), hidden=names).tables
        return project(made, [*columns, *rest], made_names), Scope(scoped)

    def _joined(
        self,
        node: Node,
        scope: Scope,
        relation: syntax.Relation,
        kind: syntax.JoinKind,
        on: Any,
    ) -> tuple[Node, Scope]:
        lateral = lateral_of(relation)
        if lateral is not None and not self._takes_table(lateral[0]):
            return self._correlated(node, scope, lateral, kind, on)
        if (query := lateral_query_of(relation)) is not None:
            return self._joined_query(node, scope, query, kind, on)
        moment = system_time(relation)
        if moment is not None:
            return self._temporal(node, scope, relation, moment, kind, on)
        other, other_scope = self._relation(relation)
        both = scope.joined(other_scope, relation.span)
        width = len(node.schema) + len(other.schema)
        condition = None
        if on is not None:
            binder = ExpressionBinder(both, self._functions)
            other, found = self._values_of_on(other, on)
            binder.columns |= {key: shifted(each, len(node.schema)) for key, each in found.items()}
            condition = self._folded(binder.condition(on, "ON"))
        made: Node = join(node, other, kind, condition)
        if len(made.schema) > width:
            kept = [InputRef(each, index) for index, each in enumerate(made.schema.types[:width])]
            made = project(made, kept, made.schema.names[:width])
        return made, both.retyped(made.schema.types)

    def _joined_query(
        self, node: Node, scope: Scope, lateral: LateralDerived, kind: syntax.JoinKind, on: Any
    ) -> tuple[Node, Scope]:
        derived, name, columns = lateral
        if kind in {syntax.JoinKind.RIGHT, syntax.JoinKind.FULL}:
            raise invalid("Lateral joins are INNER or LEFT", derived.span)
        found = self._lateral(derived.query, scope, node, kind).named(columns)
        both = scope.joined(Scope.of(found.schema, name), derived.span)
        condition = None
        if on is not None:
            binder = ExpressionBinder(both, self._functions)
            condition = self._folded(binder.condition(on, "ON"))
        made = found.after(node, kind, condition)
        return made, both.retyped(made.schema.types)

    def _temporal(
        self,
        node: Node,
        scope: Scope,
        relation: syntax.Relation,
        moment: Any,
        kind: syntax.JoinKind,
        on: Any,
    ) -> tuple[Node, Scope]:
        """Return rows with the versions that a table had at their times."""
        other, other_scope = self._relation(without_system_time(relation))
        both = scope.joined(other_scope, relation.span)
        time = ExpressionBinder(scope, self._functions).bind(moment)
        condition = None
        if on is not None:
            binder = ExpressionBinder(both, self._functions)
            condition = self._folded(binder.condition(on, "ON"))
        made = temporal_join(node, other, kind, condition, time, relation.span)
        return made, both.retyped(made.schema.types)

    def _correlated(
        self,
        node: Node,
        scope: Scope,
        lateral: Lateral,
        kind: syntax.JoinKind,
        on: Any,
    ) -> tuple[Node, Scope]:
        relation, name, columns = lateral
        binder = ExpressionBinder(scope, self._functions)
        left = kind is syntax.JoinKind.LEFT
        if kind in {syntax.JoinKind.RIGHT, syntax.JoinKind.FULL}:
            raise invalid("Lateral joins are INNER or LEFT", relation.span)
        correlated = bind_correlate(node, binder, relation, columns, left)
        own = Schema(
            correlated.schema.names[len(node.schema) :], correlated.schema.types[len(node.schema) :]
        )
        both = scope.joined(Scope.of(own, name))
        if on is not None:
            condition = ExpressionBinder(both, self._functions).condition(on, "ON")
            correlated = replace(correlated, condition=self._folded(condition))
        return correlated, both

    @staticmethod
    def _takes_table(relation: syntax.Relation) -> bool:
        return (
            isinstance(relation, syntax.FunctionTable)
            and relation.call.name.upper() in KINDS.keys() | CHANGELOG_FUNCTIONS
        )

    def _relation(self, relation: syntax.Relation) -> tuple[Node, Scope]:
        return self._relations[type(relation)](relation)

    def _unnest(self, relation: syntax.Unnest) -> tuple[Node, Scope]:
        return self._correlated(
            ONE_ROW, Scope(()), (relation, None, ()), syntax.JoinKind.CROSS, None
        )

    def _table(self, reference: syntax.TableReference) -> tuple[Node, Scope]:
        if reference.system_time is not None:
            raise invalid(
                "FOR SYSTEM_TIME AS OF needs a table to the left, whose time it names",
                reference.span,
            )
        if len(reference.path) == 1 and reference.path[0] in self._named:
            name = reference.path[0]
            return self._named[name], Scope.of(self._named[name].schema, name)
        path = self._catalog.qualify(reference.path)
        found = self._catalog.find(path)
        if found is None:
            raise invalid(self._missing(path, len(reference.path)), reference.span)
        if isinstance(found, CatalogTable):
            with at_place(reference.span):
                node = scan(path, found, dict(reference.options), self._settings)
        else:
            node = found.plan
        return node, Scope.of(node.schema, reference.path[-1], path)

    def _missing(self, path: ObjectPath, written: int) -> str:
        """Return which part of a table's name there is not.

        Args:
            path: the name.
            written: how many of its parts the query has.
        """
        catalog, hint = self._catalog.catalogs.get(path.catalog), self._catalog.similar(path)
        if catalog is None:
            return f"Object '{path.catalog}' not found{hint}"
        if path.database not in catalog.databases:
            within = f" within '{path.catalog}'" if written > 2 else ""
            return f"Object '{path.database}' not found{within}{hint}"
        within = f" within '{path.catalog}.{path.database}'" if written > 1 else ""
        return f"Object '{path.name}' not found{within}{hint}"

    def _function_table(self, table: syntax.FunctionTable) -> tuple[Node, Scope]:
        if not self._takes_table(table):
            return self._correlated(
                ONE_ROW, Scope(()), (table, None, ()), syntax.JoinKind.CROSS, None
            )
        windows = table.call.name.upper() in KINDS
        bind = bind_window_function if windows else bind_changelog_function
        node = bind(table.call, self._bind, batch=self._settings.batch)
        return node, Scope.of(node.schema)

    def _derived(self, derived: syntax.DerivedTable) -> tuple[Node, Scope]:
        node = self._bind(derived.query)
        return node, Scope.of(node.schema)

    def _match(self, match: MatchRecognize) -> tuple[Node, Scope]:
        source, scope = self._relation(match.relation)
        node = bind_match(match, source, scope, self._functions, batch=self._settings.batch)
        return node, Scope.of(node.schema)

    def _aliased(self, aliased: syntax.Aliased) -> tuple[Node, Scope]:
        lateral = lateral_of(aliased)
        if lateral is not None and not self._takes_table(lateral[0]):
            return self._correlated(ONE_ROW, Scope(()), lateral, syntax.JoinKind.CROSS, None)
        node, _ = self._relation(aliased.relation)
        if aliased.columns:
            if isinstance(aliased.relation, MatchRecognize):
                raise invalid(
                    f"Duplicate relation name '{aliased.name}' in FROM clause. MEASURES names the "
                    "columns of a match",
                    aliased.span,
                )
            if len(aliased.columns) != len(node.schema):
                raise invalid(
                    f"List of column aliases must have same degree as table; table has "
                    f"{len(node.schema)} columns, whereas alias list has "
                    f"{len(aliased.columns)} columns",
                    aliased.span,
                )
            node = renamed(node, aliased.columns)
        return node, Scope.of(node.schema, aliased.name)

    def _folded(self, expression: Typed) -> Typed:
        return folded(expression, self._settings.time_zone)


def join(left: Node, right: Node, kind: JoinKind, condition: Typed | None) -> Join:
    """Return the pairs of rows of two nodes for which a condition is TRUE.

    Args:
        left: the first one.
        right: the second one.
        kind: which rows without partners are kept.
        condition: over the columns of both; None for all pairs.
    """
    left_types, right_types = left.schema.types, right.schema.types
    if kind in {JoinKind.RIGHT, JoinKind.FULL}:
        left_types = tuple(each.with_nullable(True) for each in left_types)
    if kind in {JoinKind.LEFT, JoinKind.FULL}:
        right_types = tuple(each.with_nullable(True) for each in right_types)
    types = (*left_types, *right_types)
    if not keeps_times(left, right, condition):
        types = tuple(each.plain() for each in types)
    schema = Schema(unique_names((*left.schema.names, *right.schema.names)), types)
    return Join(schema, left, right, kind, condition)


def keeps_times(left: Node, right: Node, condition: Typed | None) -> bool:
    """True if the times of joined rows follow the watermark, and so remain time attributes."""
    if time_bounds(condition, len(left.schema)) is not None:
        return True
    return window_join(left, right, condition) is not None


def distinct(node: Node) -> Node:
    """Return the rows of a node without doubles."""
    types = tuple(kind.plain() for kind in node.schema.types)
    keys = tuple(InputRef(kind, index) for index, kind in enumerate(types))
    return Aggregate(Schema(node.schema.names, types), node, keys, ())


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
