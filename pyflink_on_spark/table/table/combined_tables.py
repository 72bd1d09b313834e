"""Tables of two tables, and of a table and a table function."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.binder.expressions import ExpressionBinder
from pyflink_on_spark._sql.binder.joins import distinct, join
from pyflink_on_spark._sql.binder.scope import Scope
from pyflink_on_spark._sql.binder.sets import set_operation, union_all
from pyflink_on_spark._sql.depth import at_any_depth
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import Node
from pyflink_on_spark._sql.syntax.queries import JoinKind, SetOperator
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.table.columns import correlated
from pyflink_on_spark.table.table.grouped_tables import written

if TYPE_CHECKING:
    from pyflink_on_spark.table.table.table import Table
    from pyflink_on_spark.table.udf import UserDefinedTableFunctionWrapper


class CombiningMethods:
    """The methods of tables that have another input besides the table."""

    _node: Node
    _t_env: Any

    def _then(self, node: Node) -> Table:
        raise NotImplementedError

    def _binder(self) -> ExpressionBinder:
        raise NotImplementedError

    def _folded(self, expression: Any) -> Any:
        raise NotImplementedError

    def union_all(self, right: Table) -> Table:
        """Return the rows of both tables; equal ones count for themselves.

        Raises:
            ValidationError: the columns do not fit.
        """
        return self._then(union_all(self._node, right._node, None))

    def union(self, right: Table) -> Table:
        """Return the rows of both tables without doubles; in batch mode only.

        Raises:
            ValidationError: the columns do not fit.
        """
        self._check_bounded("UNION")
        return self._then(distinct(union_all(self._node, right._node, None)))

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
        return self._then(set_operation(operator, self._node, right._node, every=every))

    def _check_bounded(self, operation: str) -> None:
        if not self._t_env._session.batch:
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
        both = Scope.of(self._node.schema).joined(Scope.of(right._node.schema))
        for name in self._node.schema.names:
            if name in right._node.schema.names:
                raise ValidationError(f"join relations with ambiguous names: [{name}]")
        condition = None
        if predicate is not None:
            (on,) = written([predicate])
            binder = ExpressionBinder(both, self._t_env._session.functions)
            condition = self._folded(binder.condition(on, "Join"))
        return self._then(join(self._node, right._node, kind, condition))

    def _lateral(self, function: Any, predicate: Any, *, left: bool) -> Table:
        made = correlated(self._node, self._binder(), function, left=left)
        if predicate is not None:
            (on,) = written([predicate])
            binder = ExpressionBinder(Scope.of(made.schema), self._t_env._session.functions)
            made = replace(made, condition=self._folded(binder.condition(on, "Join")))
        return self._then(made)
