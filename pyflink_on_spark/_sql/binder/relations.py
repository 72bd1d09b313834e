"""What stands in FROM becomes nodes and scopes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyflink_on_spark._sql.binder.conditions import all_of
from pyflink_on_spark._sql.binder.correlate import Lateral, bind_correlate, lateral_of
from pyflink_on_spark._sql.binder.expressions import ExpressionBinder, Functions
from pyflink_on_spark._sql.binder.joins import join
from pyflink_on_spark._sql.binder.overloads import invoke
from pyflink_on_spark._sql.binder.projections import project, renamed
from pyflink_on_spark._sql.binder.scans import scan
from pyflink_on_spark._sql.binder.scope import Scope, unique_names
from pyflink_on_spark._sql.binder.temporal import (
    system_time,
    temporal_join,
    without_system_time,
)
from pyflink_on_spark._sql.binder.windows import KINDS, bind_window_function
from pyflink_on_spark._sql.catalog import CatalogManager
from pyflink_on_spark._sql.codegen.folding import folded
from pyflink_on_spark._sql.errors import at_place, invalid, not_yet
from pyflink_on_spark._sql.functions.library import builtin_functions
from pyflink_on_spark._sql.plan.catalog_objects import CatalogTable, ObjectPath
from pyflink_on_spark._sql.plan.expressions import InputRef, Typed, shifted
from pyflink_on_spark._sql.plan.nodes import Node, Values
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.settings import QuerySettings
from pyflink_on_spark._sql.syntax import queries as syntax
from pyflink_on_spark._sql.syntax.expressions import Name

ONE_ROW = Values(Schema((), ()), ((),))
"""What a query without FROM reads."""


class RelationBinder:
    """Gives what stands in FROM its meaning.

    Args:
        catalog: the tables that there are.
        functions: the functions that there are.
        settings: the session's.
        named: the queries of WITH, by name.
        bind: returns the plan of a query.
    """

    def __init__(
        self,
        catalog: CatalogManager,
        functions: Functions,
        settings: QuerySettings,
        named: Mapping[str, Node],
        bind: Callable[[Any], Node],
    ) -> None:
        self._catalog, self._functions, self._settings = catalog, functions, settings
        self._named, self._bind = named, bind
        self._relations: dict[type, Callable[[Any], tuple[Node, Scope]]] = {
            syntax.TableReference: self._table,
            syntax.DerivedTable: self._derived,
            syntax.Aliased: self._aliased,
            syntax.FunctionTable: self._function_table,
            syntax.Unnest: self._unnest,
            syntax.Join: self._join,
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
        functions = builtin_functions().functions
        condition = all_of(invoke(functions["="], pair) for pair in pairs)
        made = join(node, other, written.kind, condition)
        both = scope.joined(other_scope).retyped(made.schema.types)
        columns: list[Typed] = []
        for one, two in pairs:
            if written.kind is syntax.JoinKind.FULL:
                columns.append(invoke(functions["COALESCE"], [one, two]))
            else:
                columns.append(two if written.kind is syntax.JoinKind.RIGHT else one)
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
        if lateral is not None and not self._is_window(lateral[0]):
            return self._correlated(node, scope, lateral, kind, on)
        moment = system_time(relation)
        if moment is not None:
            return self._temporal(node, scope, relation, moment, kind, on)
        other, other_scope = self._relation(relation)
        both = scope.joined(other_scope, relation.span)
        condition = None
        if on is not None:
            binder = ExpressionBinder(both, self._functions)
            condition = self._folded(binder.condition(on, "ON"))
        made = join(node, other, kind, condition)
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
    def _is_window(relation: syntax.Relation) -> bool:
        return isinstance(relation, syntax.FunctionTable) and relation.call.name.upper() in KINDS

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
        catalog = self._catalog.catalogs.get(path.catalog)
        if catalog is None:
            return f"Object '{path.catalog}' not found"
        if path.database not in catalog.databases:
            within = f" within '{path.catalog}'" if written > 2 else ""
            return f"Object '{path.database}' not found{within}"
        within = f" within '{path.catalog}.{path.database}'" if written > 1 else ""
        return f"Object '{path.name}' not found{within}"

    def _function_table(self, table: syntax.FunctionTable) -> tuple[Node, Scope]:
        if table.call.name.upper() not in KINDS:
            return self._correlated(
                ONE_ROW, Scope(()), (table, None, ()), syntax.JoinKind.CROSS, None
            )
        node = bind_window_function(table.call, self._bind, batch=self._settings.batch)
        return node, Scope.of(node.schema)

    def _derived(self, derived: syntax.DerivedTable) -> tuple[Node, Scope]:
        if derived.lateral:
            not_yet("LATERAL", derived.span, "Use flat_map of a DataStream.")
        node = self._bind(derived.query)
        return node, Scope.of(node.schema)

    def _aliased(self, aliased: syntax.Aliased) -> tuple[Node, Scope]:
        lateral = lateral_of(aliased)
        if lateral is not None and not self._is_window(lateral[0]):
            return self._correlated(ONE_ROW, Scope(()), lateral, syntax.JoinKind.CROSS, None)
        node, _ = self._relation(aliased.relation)
        if aliased.columns:
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
