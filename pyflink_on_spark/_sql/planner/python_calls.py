"""Calls of Python functions that run apart from compiled expressions."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._options import flink as options
from pyflink_on_spark._sql.binder.relations import all_of
from pyflink_on_spark._sql.codegen.rows import compile_row
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.functions.python.functions import (
    AsyncBinding,
    AsyncFunction,
    StagedFunction,
    VectorizedFunction,
)
from pyflink_on_spark._sql.plan.expressions import (
    InputRef,
    Invocation,
    Typed,
    conjuncts,
    rewrite,
    walk,
)
from pyflink_on_spark._sql.plan.nodes import Node, Project, Schema
from pyflink_on_spark._sql.planner.aggregates import function_bundle
from pyflink_on_spark._sql.planner.physical import (
    Columns,
    GraphBuilder,
    PhysicalNode,
    RowStream,
    told,
)
from pyflink_on_spark._sql.planner.upsert_keys import UpsertKeys
from pyflink_on_spark._sql.runtime.python_calls import (
    AsyncCalls,
    AsyncSettings,
    VectorizedCall,
    VectorizedCalls,
)


def has_python_call(expression: Typed) -> bool:
    """True for an expression with a function that runs in an operator of its own."""
    return any(map(_is_call, walk(expression)))


def split_condition(condition: Typed) -> tuple[Typed | None, Typed | None]:
    """Return the part of a condition without such functions, and the part with them.

    Functions are called for the rows only for which the first part is TRUE, as in Flink.
    """
    parts = conjuncts(condition)
    staged = [part for part in parts if has_python_call(part)]
    if not staged:
        return condition, None
    return all_of(part for part in parts if part not in staged), all_of(staged)


def outer_join_refused(condition: Typed) -> TableError:
    """Return the error for such functions in the condition of an outer join."""
    for part in walk(condition):
        if isinstance(part, Invocation) and isinstance(part.function, AsyncFunction):
            return TableError("AsyncScalarFunction not supported for non inner join condition")
    return TableError(
        "Only inner join condition with equality predicates supports the Python UDF taking the "
        "inputs from the left table and the right table at the same time, e.g., "
        "ON T1.id = T2.id && pythonUdf(T1.a, T2.b)"
    )


def with_python_calls(
    source: PhysicalNode, expressions: Sequence[Typed]
) -> tuple[PhysicalNode, tuple[Typed, ...]]:
    """Return a node with the results of such functions, and expressions that use them.

    Args:
        source: the node.
        expressions: over its columns.
    """
    expressions = tuple(expressions)
    while calls := _innermost(expressions):
        width = len(source.schema)
        source, calls = _stage(source, calls)
        places: dict[Typed, Typed] = {
            call: InputRef(call.type, width + n) for n, call in enumerate(calls)
        }
        expressions = tuple(rewrite(expression, places.get) for expression in expressions)
    return source, expressions


def with_staged_columns(
    node: Node, expressions: Sequence[Typed]
) -> tuple[Node, tuple[Typed, ...]] | None:
    """Return a node with columns for such functions, and expressions that use them.

    Args:
        node: the node.
        expressions: over its columns.

    Returns:
        None if there are no such functions.
    """
    width, schema = len(node.schema), node.schema
    calls: dict[Typed, int] = {}

    def placed(part: Typed) -> Typed | None:
        if not _is_call(part):
            return None
        return InputRef(part.type, width + calls.setdefault(part, len(calls)))

    rewritten = tuple(rewrite(each, placed) for each in expressions)
    if not calls:
        return None
    own = [InputRef(kind, index) for index, kind in enumerate(schema.types)]
    names = (*schema.names, *(f"$f{width + n}" for n in calls.values()))
    types = (*schema.types, *(call.type for call in calls))
    return Project(Schema(names, types), node, (*own, *calls)), rewritten


def _innermost(expressions: Sequence[Typed]) -> list[Invocation]:
    """Return the calls, each once, whose arguments contain none."""
    calls: dict[Invocation, None] = {}
    for expression in expressions:
        for part in walk(expression):
            if _is_call(part) and not any(map(has_python_call, part.operands)):
                assert isinstance(part, Invocation)
                calls[part] = None
    return list(calls)


def _stage(source: PhysicalNode, calls: list[Invocation]) -> tuple[PhysicalNode, list[Invocation]]:
    """Return a node with the results of some of the calls, and these calls."""
    waiting = [call for call in calls if isinstance(call.function, AsyncFunction)]
    if waiting:
        return PythonAsync(source, waiting[0]), waiting[:1]
    return PythonVectorized(source, calls), calls


def _is_call(part: Typed) -> bool:
    return isinstance(part, Invocation) and isinstance(part.function, StagedFunction)


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

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the keys of the input."""
        return inputs[0]

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operator."""
        (source,) = inputs
        settings, call = builder.settings, self.call
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
        return RowStream(builder.aligned(self.name, source.edges, operator), source.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input, then the function."""
        return (*inputs[0], told(self.call, inputs[0]))

    def details(self) -> dict[str, str]:
        """Return the function."""
        return {"select": str(self.call)}


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

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the keys of the input."""
        return inputs[0]

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operator."""
        (source,) = inputs
        width, zone = len(self.inputs[0].schema), builder.settings.time_zone
        settings = builder.settings
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
        return RowStream(builder.aligned(self.name, source.edges, operator), source.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input, then the functions."""
        return (*inputs[0], *(told(call, inputs[0]) for call in self.calls))

    def details(self) -> dict[str, str]:
        """Return the functions."""
        return {"select": ", ".join(map(str, self.calls))}
