"""Tables, and what can be done with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._sql.binder.expressions import ExpressionBinder
from pyflink_on_spark._sql.binder.projections import dsl_projection, project, renamed
from pyflink_on_spark._sql.binder.scope import Scope
from pyflink_on_spark._sql.binder.unions import union_all
from pyflink_on_spark._sql.compiler.folding import folded
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import Filter, Node
from pyflink_on_spark._sql.schema_text import schema_text
from pyflink_on_spark.table._console import print_line
from pyflink_on_spark.table.explain_detail import ExplainDetail
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.table_descriptor import TableDescriptor
from pyflink_on_spark.table.table_pipeline import TablePipeline
from pyflink_on_spark.table.table_result import TableResult
from pyflink_on_spark.table.table_schema import TableSchema

__all__ = ["Table"]


class Table:
    """Rows that a query gives. Nothing runs before it is executed.

    Args:
        j_table: the plan; made by a TableEnvironment and by other tables.
        t_env: the environment.
    """

    def __init__(self, j_table, t_env):
        self._node: Node = j_table
        self._t_env = t_env

    def __str__(self):
        return self._t_env._unnamed_view(self._node)

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("_") or name not in self._node.schema.names:
            raise AttributeError(
                f"The current table has no column named '{name}', "
                f"available columns: [{', '.join(self._node.schema.names)}]"
            )
        return Expression(name)

    # -- row by row ------------------------------------------------------------------------------

    def select(self, *fields: Expression) -> Table:
        """Compute columns.

        Raises:
            ValidationError: something in an expression is wrong.
        """
        projection = dsl_projection(self._node, self._binder(), _written(fields))
        columns = [self._folded(item) for item in projection.expressions]
        return self._then(project(self._node, columns, projection.schema.names))

    def alias(self, field: str, *fields: str) -> Table:
        """Give the first columns other names."""
        names = (field, *fields)
        own = self._node.schema.names
        if len(names) > len(own):
            raise ValidationError(
                "List of column aliases must have same degree as table; the returned table of "
                f"function '{self}' has {len(own)} columns, whereas alias list has {len(names)} "
                "columns"
            )
        return self._then(renamed(self._node, names + own[len(names) :]))

    def filter(self, predicate: Expression[bool]) -> Table:
        """Keep the rows for which a condition is TRUE.

        Raises:
            ValidationError: it is no condition.
        """
        (written,) = _written([predicate])
        condition = self._folded(self._binder().condition(written, "Filter"))
        return self._then(Filter(self._node.schema, self._node, condition))

    def where(self, predicate: Expression[bool]) -> Table:
        """Keep the rows for which a condition is TRUE; the same as ``filter``."""
        return self.filter(predicate)

    # -- several tables --------------------------------------------------------------------------

    def union_all(self, right: Table) -> Table:
        """Return the rows of both tables; equal ones count for themselves.

        Raises:
            ValidationError: the columns do not fit.
        """
        return self._then(union_all(self._node, right._node, None))

    # -- looking at it ---------------------------------------------------------------------------

    def get_schema(self) -> TableSchema:
        """Return the columns."""
        return TableSchema._of(self._node.schema)

    def print_schema(self):
        """Print the columns with their types."""
        print_line(schema_text(self._node))

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return how the table is computed."""
        sink = self._t_env._query_sink(self._node)
        return self._t_env._explain([sink], extra_details)

    def print_explain(self, *extra_details: ExplainDetail):
        """Print how the table is computed."""
        print_line(self.explain(*extra_details))

    # -- running ---------------------------------------------------------------------------------

    def execute(self) -> TableResult:
        """Start a job that brings the rows to the program."""
        return self._t_env._collect(self._node)

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

    def insert_into(
        self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False
    ) -> TablePipeline:
        """Say that the rows are to be written to another table.

        Args:
            table_path_or_descriptor: where to.
            overwrite: whether what was there before goes.

        Raises:
            ValidationError: the rows do not fit, or there is no such table.
        """
        sink = self._t_env._sink(self._node, table_path_or_descriptor, overwrite)
        return TablePipeline(sink, self._t_env)

    def _then(self, node: Node) -> Table:
        return Table(node, self._t_env)

    def _binder(self) -> ExpressionBinder:
        return ExpressionBinder(Scope.of(self._node.schema), self._t_env._session.functions)

    def _folded(self, expression: Any) -> Any:
        return folded(expression, self._t_env._session.settings().time_zone)


def _written(expressions: Sequence[Any]) -> list[Any]:
    for expression in expressions:
        if not isinstance(expression, Expression):
            raise TypeError(f"an Expression is needed, not {expression!r}: use col() or lit()")
    return [expression._written for expression in expressions]


__getattr__ = missing_name(__name__)
