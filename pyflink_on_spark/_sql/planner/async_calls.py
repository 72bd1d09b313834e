"""A coroutine function of the user's."""

from __future__ import annotations

from pyflink_on_spark._options import table as options
from pyflink_on_spark._sql.codegen.rows import compile_row
from pyflink_on_spark._sql.functions.python.asynchronous import AsyncBinding
from pyflink_on_spark._sql.functions.python.staged import AsyncFunction
from pyflink_on_spark._sql.plan.expressions import Invocation
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.planner.meanings import Columns, told
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.runtime.async_calls import AsyncCalls, AsyncSettings


class PythonAsync(PhysicalNode):
    """Adds a column that a coroutine function computes.

    Args:
        source: the input.
        call: the function.
    """

    name = "PythonAsyncCalc"

    def __init__(self, source: PhysicalNode, call: Invocation) -> None:
        schema = source.schema
        names, types = (*schema.names, f"$f{len(schema)}"), (*schema.types, call.type)
        super().__init__(Schema(names, types), source)
        self.call = call

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operator."""
        (source,) = inputs
        settings, call = translation.settings, self.call
        function = call.function
        assert isinstance(function, AsyncFunction)
        types = [arg.type for arg in call.args]
        binding = AsyncBinding(function.function, types, call.type, settings.time_zone)
        arguments = compile_row(call.args, len(self.inputs[0].schema), settings.time_zone)
        given = settings.configuration
        retried = options.ASYNC_RETRIES.read(given) == "FIXED_DELAY"
        asked = AsyncSettings(
            options.ASYNC_CAPACITY.read(given),
            options.ASYNC_TIMEOUT.read(given),
            options.ASYNC_ATTEMPTS.read(given) if retried else 0,
            options.ASYNC_DELAY.read(given),
        )
        operator = AsyncCalls(binding, arguments, asked, source.changelog)
        return Stream(translation.aligned(self.name, source.edges, operator), source.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input, then the function."""
        return (*inputs[0], told(self.call, inputs[0]))

    def details(self) -> dict[str, str]:
        """Return the function."""
        return {"select": str(self.call)}
