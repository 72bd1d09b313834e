"""Works out what is constant before a query runs."""

from __future__ import annotations

from pyflink_on_spark._sql.codegen.rows import compile_value
from pyflink_on_spark._sql.plan.expressions import (
    Constant,
    Conversion,
    FieldAccess,
    Invocation,
    Typed,
    is_deterministic,
)


def folded(expression: Typed, time_zone: str) -> Typed:
    """Return an expression with constants in place of what is made of constants only.

    What fails stays as it is, and fails when the query runs.
    """
    operands = expression.operands
    if operands:
        expression = expression.with_operands(
            tuple(folded(operand, time_zone) for operand in operands)
        )
    if not isinstance(expression, Invocation | Conversion | FieldAccess):
        return expression
    if not all(isinstance(operand, Constant) for operand in expression.operands):
        return expression
    if isinstance(expression, Invocation) and not expression.function.foldable:
        return expression
    if not is_deterministic(expression):
        return expression
    try:
        value = compile_value(expression, 0, time_zone).load().function(())
    except Exception:  # noqa: BLE001 - whatever it is, it belongs to the run
        return expression
    return Constant(expression.type.with_nullable(expression.type.nullable or value is None), value)
