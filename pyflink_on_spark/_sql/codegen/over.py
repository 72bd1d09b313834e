"""Functions over windows of rows become Python source."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.codegen.aggregates import (
    AggregateCompiler,
    AggregatedRows,
    indented,
    joined_tuple,
)
from pyflink_on_spark._sql.codegen.expressions import ExpressionCompiler
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.plan.expressions import AggregateInvocation


def is_reversible(calls: Sequence[AggregateInvocation]) -> bool:
    """Tell whether rows can be taken back from the accumulators of calls."""
    compiler = ExpressionCompiler([], "UTC")
    return all(
        call.overload.code(compiler, [arg.type for arg in call.args], call.type, True).reversible
        for call in calls
    )


def compile_frame(calls: Sequence[AggregateInvocation], rows: AggregatedRows) -> Program:
    """Return the parts of functions over a frame: ``create, add, retract, values``.

    ``retract`` is None if rows are not taken back.

    Args:
        calls: the functions.
        rows: the rows; those that leave the frame may be taken back.
    """
    compiler = AggregateCompiler(calls, rows, reserved=0)
    taken_back = ["    pass"]
    if rows.retracting:
        taken_back = indented(compiler.changes(retract=True))
    lines = [
        "def create():",
        f"    return [{', '.join(compiler.initial)}]",
        "def add(acc, row):",
        *indented(compiler.changes(retract=False)),
        "def retract(acc, row):",
        *taken_back,
        "def values(acc):",
        f"    return {joined_tuple(compiler.values())}",
        "def parts():",
        f"    return create, add, {'retract' if rows.retracting else 'None'}, values",
    ]
    return Program("\n".join(lines) + "\n", "parts", compiler.bindings)
