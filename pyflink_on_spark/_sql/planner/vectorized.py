"""Functions of the user's over Series."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.codegen.rows import compile_row
from pyflink_on_spark._sql.functions.python.staged import VectorizedFunction
from pyflink_on_spark._sql.plan.expressions import Invocation
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.planner.aggregates import function_bundle
from pyflink_on_spark._sql.planner.meanings import Columns, told
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.runtime.vectorized import VectorizedCall, VectorizedCalls


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
        settings = translation.settings
        bundle = None if settings.batch else function_bundle(settings)
        parts = []
        for call in self.calls:
            function = call.function
            assert isinstance(function, VectorizedFunction)
            parts.append(
                VectorizedCall(
                    function.name,
                    function.function,
                    compile_row(call.args, width, zone),
                    tuple(arg.type for arg in call.args),
                    call.type,
                    function.over_rows,
                )
            )
        operator = VectorizedCalls(parts, source.changelog, zone, bundle)
        return Stream(translation.aligned(self.name, source.edges, operator), source.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input, then the functions."""
        return (*inputs[0], *(told(call, inputs[0]) for call in self.calls))

    def details(self) -> dict[str, str]:
        """Return the functions."""
        return {"select": ", ".join(map(str, self.calls))}
