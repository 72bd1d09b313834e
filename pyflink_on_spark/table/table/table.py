"""Tables and their operations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.arguments import renamed as also_called
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._job.display import console
from pyflink_on_spark._sql.binder.aggregates import contains_aggregate, dsl_projection
from pyflink_on_spark._sql.binder.changelogs import from_changelog, to_changelog
from pyflink_on_spark._sql.binder.expressions import ExpressionBinder, Scope
from pyflink_on_spark._sql.binder.relations import distinct, join
from pyflink_on_spark._sql.binder.sets import limited, set_operation, sorted_node, union_all
from pyflink_on_spark._sql.codegen.rows import folded
from pyflink_on_spark._sql.errors import ValidationError, at_any_depth
from pyflink_on_spark._sql.plan.nodes import Filter, Node, project, renamed
from pyflink_on_spark._sql.plan.options import ResolvedSchema as CatalogSchema
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.queries import JoinKind, SetOperator
from pyflink_on_spark.table._inner import node_of, session_of
from pyflink_on_spark.table._values.data_frames import data_frame
from pyflink_on_spark.table._values.html import schema_html
from pyflink_on_spark.table.catalog import ResolvedSchema
from pyflink_on_spark.table.explain_detail import ExplainDetail
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.table.columns import (
    columns_of,
    correlated,
    expanded,
    flat_mapped,
    mapped,
    named,
    projected,
)
from pyflink_on_spark.table.table.grouped_tables import (
    AggregatedTable,
    FlatAggregateTable,
    GroupedTable,
    Grouping,
    GroupWindowedTable,
    OverWindowedTable,
    written,
)
from pyflink_on_spark.table.table_descriptor import TableDescriptor
from pyflink_on_spark.table.table_pipeline import TablePipeline
from pyflink_on_spark.table.table_result import TableResult
from pyflink_on_spark.table.table_schema import TableSchema

if TYPE_CHECKING:
    import pandas

    from pyflink_on_spark.table.udf import (
        UserDefinedAggregateFunctionWrapper,
        UserDefinedScalarFunctionWrapper,
        UserDefinedTableFunctionWrapper,
    )
    from pyflink_on_spark.table.window import GroupWindow, OverWindow


class CombiningMethods:
    """The methods of tables that have another input besides the table."""

    _node: Node
    _t_env: Any

    def _then(self, node: Node) -> Table:
        raise NotImplementedError

    def _binder(self) -> ExpressionBinder:
        raise NotImplementedError

    def _folded(self, expression: object) -> Any:
        raise NotImplementedError

    def union_all(self, right: Table) -> Table:
        """Return the rows of both tables; equal ones count for themselves.

        Raises:
            ValidationError: the columns do not fit.
        """
        return self._then(union_all(self._node, node_of(right), None))

    def union(self, right: Table) -> Table:
        """Return the rows of both tables without doubles; in batch mode only.

        Raises:
            ValidationError: the columns do not fit.
        """
        self._check_bounded("UNION")
        return self._then(distinct(union_all(self._node, node_of(right), None)))

    def minus(self, right: Table) -> Table:
        """Return the rows that the other table has not, without doubles; in batch mode only."""
        return self._combined(SetOperator.EXCEPT, "MINUS", right, every=False)

    def minus_all(self, right: Table) -> Table:
        """Return the rows that this table has more often, that often; in batch mode only."""
        return self._combined(SetOperator.EXCEPT, "MINUS", right, every=True)

    def intersect(self, right: Table) -> Table:
        """Return the rows of both tables, without doubles; in batch mode only."""
        return self._combined(SetOperator.INTERSECT, "INTERSECT", right, every=False)

    def intersect_all(self, right: Table) -> Table:
        """Return the rows of both tables, as often as both have them; in batch mode only."""
        return self._combined(SetOperator.INTERSECT, "INTERSECT", right, every=True)

    def _combined(self, operator: SetOperator, name: str, right: Table, *, every: bool) -> Table:
        self._check_bounded(name)
        return self._then(set_operation(operator, self._node, node_of(right), every=every))

    def _check_bounded(self, operation: str) -> None:
        if not session_of(self._t_env).batch:
            raise ValidationError(
                f"The {operation} operation on two unbounded tables is currently not supported."
            )

    def join(self, right: Table, join_predicate: Expression[bool] = None):
        """Return the pairs of rows for which a condition is TRUE.

        Raises:
            ValidationError: both tables have a column of one name.
        """
        return self._joined(right, JoinKind.INNER, join_predicate)

    def left_outer_join(self, right: Table, join_predicate: Expression[bool] = None):
        """Return the pairs of rows, and the rows of this table that have no partner."""
        return self._joined(right, JoinKind.LEFT, join_predicate)

    def right_outer_join(self, right: Table, join_predicate: Expression[bool]):
        """Return the pairs of rows, and the rows of the other table that have no partner."""
        return self._joined(right, JoinKind.RIGHT, join_predicate)

    def full_outer_join(self, right: Table, join_predicate: Expression[bool]):
        """Return the pairs of rows, and the rows of both tables that have no partner."""
        return self._joined(right, JoinKind.FULL, join_predicate)

    def join_lateral(
        self,
        table_function_call: Expression | UserDefinedTableFunctionWrapper,
        join_predicate: Expression[bool] = None,
    ) -> Table:
        """Return each row with those that a table function has for it."""
        return self._lateral(table_function_call, join_predicate, left=False)

    def left_outer_join_lateral(
        self,
        table_function_call: Expression | UserDefinedTableFunctionWrapper,
        join_predicate: Expression[bool] = None,
    ) -> Table:
        """Return each row with those that a table function has for it, or with NULL."""
        return self._lateral(table_function_call, join_predicate, left=True)

    @at_any_depth
    def _joined(self, right: Table, kind: JoinKind, predicate: Any) -> Table:
        both = Scope.of(self._node.schema).joined(Scope.of(node_of(right).schema))
        for name in self._node.schema.names:
            if name in node_of(right).schema.names:
                raise ValidationError(f"join relations with ambiguous names: [{name}]")
        condition = None
        if predicate is not None:
            (on,) = written([predicate])
            binder = ExpressionBinder(both, session_of(self._t_env).functions)
            condition = self._folded(binder.condition(on, "Join"))
        return self._then(join(self._node, node_of(right), kind, condition))

    def _lateral(self, function: object, predicate: object, *, left: bool) -> Table:
        made = correlated(self._node, self._binder(), function, left=left)
        if predicate is not None:
            (on,) = written([predicate])
            binder = ExpressionBinder(Scope.of(made.schema), session_of(self._t_env).functions)
            made = replace(made, condition=self._folded(binder.condition(on, "Join")))
        return self._then(made)


class Table(CombiningMethods):
    """Rows that a query gives. Nothing runs before it is executed.

    Args:
        j_table: the plan; made by a TableEnvironment and by other tables.
        t_env: the environment.
    """

    def __init__(self, j_table, t_env):
        self._node: Node = j_table
        self._t_env = t_env
        self._declared: CatalogSchema | None = None

    def __str__(self):
        return self._t_env._unnamed_view(self._node)

    def _repr_html_(self) -> str:
        """The columns and their types, for notebooks; no job is started."""
        return schema_html(self._node.schema)

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("_") or name not in self._node.schema.names:
            raise AttributeError(
                f"The current table has no column named '{name}', "
                f"available columns: [{', '.join(self._node.schema.names)}]"
            )
        return Expression(name)

    # -- row by row ------------------------------------------------------------------------------

    @at_any_depth
    def select(self, *fields: Expression) -> Table:
        """Compute columns.

        Raises:
            ValidationError: something in an expression is wrong.
        """
        return self._select(written(fields))

    def _select(self, fields: list[Any]) -> Table:
        items = self._expanded(fields)
        functions = session_of(self._t_env).functions
        if any(contains_aggregate(item, functions) for item in items):
            return self._then(Grouping(self._node, session_of(self._t_env), ()).select(items))
        projection = dsl_projection(self._node, self._binder(), items)
        columns = [self._folded(item) for item in projection.expressions]
        return self._then(project(self._node, columns, projection.schema.names))

    def alias(self, field: str, *fields: str) -> Table:
        """Give the first columns other names."""
        names = (field, *fields)
        if not fields and "," in field:  # a text of several names, as PyFlink has it until 1.14
            names = tuple(name.strip() for name in field.split(","))
        own = self._node.schema.names
        if len(names) > len(own):
            raise ValidationError(
                "List of column aliases must have same degree as table; the returned table of "
                f"function '{self}' has {len(own)} columns, whereas alias list has {len(names)} "
                "columns"
            )
        return self._then(renamed(self._node, names + own[len(names) :]))

    @at_any_depth
    def filter(self, predicate: Expression[bool]) -> Table:
        """Keep the rows for which a condition is TRUE.

        Raises:
            ValidationError: it is no condition.
        """
        (condition_,) = written([predicate])
        condition = self._folded(self._binder().condition(condition_, "Filter"))
        return self._then(Filter(self._node.schema, self._node, condition))

    def where(self, predicate: Expression[bool]) -> Table:
        """Keep the rows for which a condition is TRUE; the same as ``filter``."""
        return self.filter(predicate)

    @at_any_depth
    def add_columns(self, *fields: Expression) -> Table:
        """Add columns after the ones that there are.

        Raises:
            ValidationError: there is a column of that name.
        """
        columns = columns_of(self._node)
        for item in written(fields):
            name, column = named(self._binder(), item, len(columns))
            if name in [known for known, _ in columns]:
                raise ValidationError(f"Ambiguous column name: {name}")
            columns.append((name, column))
        return self._then(projected(self._node, columns))

    @at_any_depth
    def add_or_replace_columns(self, *fields: Expression) -> Table:
        """Add columns, in place of those with the same names."""
        columns = dict(columns_of(self._node))
        for item in written(fields):
            name, column = named(self._binder(), item, len(columns))
            columns[name] = column
        return self._then(projected(self._node, list(columns.items())))

    def rename_columns(self, *fields: Expression) -> Table:
        """Give columns other names: ``col("a").alias("b")``."""
        names = list(self._node.schema.names)
        for item in written(fields):
            if not isinstance(item, syntax.Alias) or not isinstance(item.operand, syntax.Name):
                raise ValidationError("Unexpected expression: col(name).alias(new) is needed")
            self._binder().bind(item)
            names[names.index(item.operand.parts[-1])] = item.names[0]
        return self._then(renamed(self._node, tuple(names)))

    def drop_columns(self, *fields: Expression) -> Table:
        """Leave columns out.

        Raises:
            ValidationError: there is no such column.
        """
        gone = set()
        for item in self._expanded(written(fields)):
            self._binder().bind(item)
            gone.add(item.parts[-1])
        kept = [each for each in columns_of(self._node) if each[0] not in gone]
        return self._then(projected(self._node, kept))

    def map(self, func: Expression | UserDefinedScalarFunctionWrapper) -> Table:
        """Make a row of each row with a function that gives a ROW.

        Args:
            func: a call, or a function that gets whole rows.
        """
        return self._then(mapped(self._node, self._binder(), func))

    def flat_map(self, func: Expression | UserDefinedTableFunctionWrapper) -> Table:
        """Make any number of rows of each row with a table function.

        Args:
            func: a call, or a function that gets whole rows.
        """
        return self._then(flat_mapped(self._node, self._binder(), func))

    # -- changes ---------------------------------------------------------------------------------

    def to_changelog(self, *arguments: Expression) -> Table:
        """Make a row of each change; the column ``op`` has its kind, as ``UPDATE_AFTER``.

        Args:
            arguments: none.

        On Spark: Without arguments; PyFlink 2.3 fails with a Py4JError if there are any. SQL's
        ``TO_CHANGELOG`` takes them.
        """
        _refuse_arguments("to_changelog", arguments)
        return self._then(to_changelog(self._node))

    def from_changelog(self, *arguments: Expression) -> Table:
        """Make a change of each row, whose column ``op`` has its kind.

        Args:
            arguments: none.

        Raises:
            ValidationError: there is no such column.

        On Spark: Without arguments; PyFlink 2.3 fails with a Py4JError if there are any. SQL's
        ``FROM_CHANGELOG`` takes them.
        """
        _refuse_arguments("from_changelog", arguments)
        batch = session_of(self._t_env).settings().batch
        return self._then(from_changelog(self._node, batch=batch))

    # -- groups ----------------------------------------------------------------------------------

    @at_any_depth
    def group_by(self, *fields: Expression) -> GroupedTable:
        """Group rows by columns.

        Raises:
            ValidationError: there is no such column.
        """
        keys = written(fields)
        Grouping(self._node, session_of(self._t_env), keys)
        return GroupedTable((self, keys), self._t_env)

    def distinct(self) -> Table:
        """Return the rows without doubles."""
        return self._then(distinct(self._node))

    def window(self, window: GroupWindow) -> GroupWindowedTable:
        """Put rows into windows of time, to be grouped by."""
        return GroupWindowedTable((self, window._window), self._t_env)

    def over_window(self, *over_windows: OverWindow) -> OverWindowedTable:
        """Define windows of rows around each row."""
        return OverWindowedTable((self, over_windows), self._t_env)

    def aggregate(self, func: Expression | UserDefinedAggregateFunctionWrapper) -> AggregatedTable:
        """Compute an aggregate of all rows, of which ``select`` then chooses columns."""
        return AggregatedTable((self, (), func), self._t_env)

    def flat_aggregate(
        self, func: Expression | UserDefinedAggregateFunctionWrapper
    ) -> FlatAggregateTable:
        """Compute any number of rows of all rows, of which ``select`` then chooses columns."""
        return FlatAggregateTable((self, (), func), self._t_env)

    # -- order -----------------------------------------------------------------------------------

    @at_any_depth
    def order_by(self, *fields: Expression) -> Table:
        """Order the rows by columns: ``col("a").desc``."""
        items = [_sort_item(item) for item in written(fields)]
        return self._then(sorted_node(self._node, self._binder(), items))

    def offset(self, offset: int) -> Table:
        """Leave out the first rows."""
        return self._then(limited(self._node, offset, None))

    def fetch(self, fetch: int) -> Table:
        """Keep the first rows only."""
        return self._then(limited(self._node, 0, fetch))

    def limit(self, fetch: int, offset: int = 0) -> Table:
        """Keep some rows only, after leaving out the first ones."""
        return self._then(limited(self._node, offset, fetch))

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a DataFrame; of a table that is updated, those at the end."""
        with self.execute().collect() as changes:
            zone = session_of(self._t_env).settings().time_zone
            return data_frame(self._node.schema, changes, zone)

    # -- looking at it ---------------------------------------------------------------------------

    def get_schema(self) -> TableSchema:
        """Return the columns."""
        return TableSchema._of(self._node.schema)

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns; of a table of a catalog with its watermark and primary key."""
        if self._declared is None:
            return ResolvedSchema._of_rows(self._node.schema)
        return ResolvedSchema._of_table(self._declared)

    def print_schema(self):
        """Print the columns with their types."""
        console.write(str(self.get_resolved_schema()))

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return how the table is computed."""
        sink = self._t_env._query_sink(self._node)
        return self._t_env._explain([sink], extra_details)

    def print_explain(self, *extra_details: ExplainDetail):
        """Print how the table is computed."""
        console.write(self.explain(*extra_details))

    # -- running ---------------------------------------------------------------------------------

    def execute(self) -> TableResult:
        """Start a job that brings the rows to the program."""
        return self._t_env._collect(self._node)

    @also_called(table_path_or_descriptor="table_path")
    def execute_insert(
        self,
        table_path_or_descriptor: str | TableDescriptor,
        overwrite: bool = False,
    ) -> TableResult:
        """Start a job that writes the rows to another table.

        Args:
            table_path_or_descriptor: where to.
            overwrite: whether what was there before goes.

        Raises:
            ValidationError: the rows do not fit, or there is no such table.
        """
        return self.insert_into(table_path_or_descriptor, overwrite).execute()

    @also_called(table_path_or_descriptor="table_path")
    def insert_into(
        self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False
    ) -> TablePipeline:
        """Say that the rows are to be written to another table.

        ``execute`` of the pipeline does it; or ``execute`` of the environment, as before
        PyFlink 1.14, which carries out all that were not executed.

        Args:
            table_path_or_descriptor: where to.
            overwrite: whether what was there before goes.

        Raises:
            ValidationError: the rows do not fit, or there is no such table.
        """
        sink = self._t_env._sink(self._node, table_path_or_descriptor, overwrite)
        return self._t_env._buffered(TablePipeline(sink, self._t_env))

    def _then(self, node: Node) -> Table:
        return Table(node, self._t_env)

    def _binder(self) -> ExpressionBinder:
        return ExpressionBinder(Scope.of(self._node.schema), session_of(self._t_env).functions)

    def _expanded(self, items: list[Any]) -> list[Any]:
        """Return expressions with the columns that ranges and flattened rows stand for."""
        return expanded(items, self._node.schema, self._binder())

    def _folded(self, expression: Any) -> Any:
        return folded(expression, session_of(self._t_env).settings().time_zone)


def _refuse_arguments(name: str, arguments: tuple[Any, ...]) -> None:
    if arguments:
        raise_unsupported(
            f"Table.{name}({', '.join(map(str, arguments))})",
            kind=Gap.NOT_YET,
            reason="the method has no arguments here",
            instead=f"Use {name.upper()}(TABLE ...) in sql_query.",
        )


def _sort_item(item: Any) -> syntax.SortItem:
    if isinstance(item, syntax.Call) and item.name in {"ASC", "DESC"}:
        ascending = item.name == "ASC"
        return syntax.SortItem(item.args[0], ascending, nulls_first=not ascending)
    return syntax.SortItem(item, nulls_first=False)
