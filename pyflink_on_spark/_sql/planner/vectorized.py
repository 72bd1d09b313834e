"""Functions of the user's over Series, before the projection or filter that uses them."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.compiler.rows import compile_row
from pyflink_on_spark._sql.functions.python.scalars import VectorizedFunction
from pyflink_on_spark._sql.operators.vectorized import VectorizedCalls
from pyflink_on_spark._sql.plan.expressions import (
    InputRef,
    Invocation,
    Typed,
    rewrite,
    walk,
)
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation


class PythonVectorized(PhysicalNode):
    """Adds columns that functions compute of Series.

    Args:
        source: the input.
        calls: the functions.
    """

    name = "PythonCalc"

    def __init__(self, source: PhysicalNode, calls: Sequence[Invocation]) -> None:
        names = tuple(f"$f{index}" for index in range(len(calls)))
        schema = Schema(
            (*source.schema.names, *names),
            (*source.schema.types, *(call.type for call in calls)),
        )
        super().__init__(schema, source)
        self.calls = tuple(calls)

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operator."""
        (source,) = inputs
        width, zone = len(self.inputs[0].schema), translation.settings.time_zone
        parts = []
        for call in self.calls:
            function = call.function
            assert isinstance(function, VectorizedFunction)
            types = [arg.type for arg in call.args]
            program = compile_row(call.args, width, zone)
            parts.append((function.function, program, types, call.type))
        operator = VectorizedCalls(parts, source.changelog)
        return Stream(translation.aligned(self.name, source.edges, operator), source.changelog)

    def details(self) -> dict[str, str]:
        """Return the functions."""
        return {"select": ", ".join(map(str, self.calls))}


def is_vectorized(expression: Typed) -> bool:
    """Tell whether an expression is a call of a function of Series."""
    return isinstance(expression, Invocation) and isinstance(
        expression.function, VectorizedFunction
    )


def with_vectors(
    source: PhysicalNode, expressions: Sequence[Typed]
) -> tuple[PhysicalNode, tuple[Typed, ...]]:
    """Return a node with the results of functions of Series, and expressions that use them.

    Args:
        source: the node.
        expressions: over its columns.
    """
    expressions = tuple(expressions)
    while True:
        calls: list[Invocation] = []
        for expression in expressions:
            for part in walk(expression):
                inner = any(is_vectorized(each) for arg in part.operands for each in walk(arg))
                if not isinstance(part, Invocation) or not is_vectorized(part) or inner:
                    continue
                if part not in calls:
                    calls.append(part)
        if not calls:
            return source, expressions
        width = len(source.schema)
        source = PythonVectorized(source, calls)

        def replaced(
            part: Typed, calls: list[Invocation] = calls, width: int = width
        ) -> Typed | None:
            if isinstance(part, Invocation) and part in calls:
                return InputRef(part.type, width + calls.index(part))
            return None

        expressions = tuple(rewrite(expression, replaced) for expression in expressions)
