"""Expressions whose types are known."""

from __future__ import annotations

from dataclasses import dataclass

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, unsupported
from pyflink_on_spark._sql.parser.statements import parse_expression
from pyflink_on_spark._sql.types.external import to_data_type
from pyflink_on_spark._sql.types.logical import LogicalType
from pyflink_on_spark.common.data_types import DataType
from pyflink_on_spark.table.expression import Expression

__all__ = ["ResolvedExpression"]


@dataclass(frozen=True)
class TypedText:
    """The SQL text of an expression, with the type of its values."""

    text: str
    type: LogicalType


def _children(self) -> object:
    """Return the operands."""


_children.__qualname__ = "ResolvedExpression.get_resolved_children"


class ResolvedExpression(Expression):
    """The expression of a computed column or a watermark.

    Args:
        j_resolved_expr: made by ``ComputedColumn.get_expression`` and the like.
    """

    def __init__(self, j_resolved_expr):
        self._resolved: TypedText = own_handle(
            j_resolved_expr, TypedText, "ResolvedExpression(j_resolved_expr)"
        )
        super().__init__(parse_expression(self._resolved.text))

    def __str__(self):
        return self._resolved.text

    def get_output_data_type(self) -> DataType:
        """Return the type of its values."""
        return to_data_type(self._resolved.type)

    get_resolved_children = unsupported(
        _children,
        kind=Gap.NOT_YET,
        reason="the types of the operands are not kept",
        instead="Read the text of the whole expression with str().",
    )

    def as_serializable_string(self) -> str:
        """Return its SQL text."""
        return self._resolved.text

    def as_summary_string(self) -> str:
        """Return its SQL text."""
        return self._resolved.text


__getattr__ = missing_name(__name__)
