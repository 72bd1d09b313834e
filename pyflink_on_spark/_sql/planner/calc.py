"""Nodes that work row by row: Calc, Correlate, Expand, and calls of Python functions."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._options import flink as options
from pyflink_on_spark._options.python import BUNDLE_SIZE, BUNDLE_TIME
from pyflink_on_spark._sql.binder.expressions import all_of, invoke
from pyflink_on_spark._sql.codegen.rows import (
    compile_calc,
    compile_correlate,
    compile_expand,
    compile_row,
    is_identity,
)
from pyflink_on_spark._sql.errors import QuerySettings, TableError
from pyflink_on_spark._sql.functions.catalog import builtin_functions
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
    input_refs,
    is_deterministic,
    rewrite,
    substitute,
    walk,
)
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Node, Project, Schema
from pyflink_on_spark._sql.plan.nodes import Correlate as LogicalCorrelate
from pyflink_on_spark._sql.plan.nodes import Expand as LogicalExpand
from pyflink_on_spark._sql.planner.physical import (
    Columns,
    GraphBuilder,
    PhysicalNode,
    RowStream,
    shortened,
    told,
)
from pyflink_on_spark._sql.planner.upsert_keys import (
    UpsertKeys,
    are_unique,
    fixed_columns,
    joined,
    one_key,
    projected,
)
from pyflink_on_spark._sql.runtime.python_calls import (
    AsyncCalls,
    AsyncSettings,
    VectorizedCall,
    VectorizedCalls,
)
from pyflink_on_spark._sql.runtime.rows import CalcOperator, FunctionBundle
from pyflink_on_spark._sql.syntax.queries import JoinKind


class Calc(PhysicalNode):
    """Keeps some rows, and computes columns.

    Args:
        schema: the new columns.
        source: the input.
        condition: which rows are kept; None for all.
        projection: the new columns' values; None to leave rows as they are.
    """

    name = "Calc"

    def __init__(
        self,
        schema: Schema,
        source: PhysicalNode,
        condition: Typed | None,
        projection: tuple[Typed, ...] | None,
    ) -> None:
        super().__init__(schema, source)
        self.condition = condition
        self.projection = projection

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """An update of a row that a filter may drop has to take the row back."""
        return wanted or (self.condition is not None and ChangeKinds.UPDATE in self.changes)

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the keys all of whose columns are left."""
        keys = self.inputs[0].upsert_keys_with(fixed_columns(self.condition))
        return keys if self.projection is None else projected(keys, self.projection)

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the compiled function."""
        (source,) = inputs
        if self.condition is None and self.projection is None:
            return source
        program = compile_calc(
            self.condition,
            self.projection,
            len(self.inputs[0].schema),
            builder.settings.time_zone,
            changelog=source.changelog,
        )
        edges = builder.aligned(self.name, source.edges, CalcOperator(program))
        return RowStream(edges, source.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the origins of the projected columns."""
        if self.projection is None:
            return inputs[0]
        return tuple(told(item, inputs[0]) for item in self.projection)

    def details(self) -> dict[str, str]:
        """Return the columns and the condition."""
        names = self.inputs[0].schema.names
        projection = self.projection
        if projection is None:
            projection = tuple(
                InputRef(kind, index) for index, kind in enumerate(self.schema.types)
            )
        shown = [
            shown_expression(item, names) + ("" if _is_column(item, names, name) else f" AS {name}")
            for item, name in zip(projection, self.schema.names)
        ]
        details = {"select": ", ".join(shown)}
        if self.condition is not None:
            details["where"] = shown_expression(self.condition, names)
        return details


def calc(
    schema: Schema,
    source: PhysicalNode,
    condition: Typed | None,
    projection: Sequence[Typed] | None,
) -> PhysicalNode:
    """Return a node that filters and projects; it is one with another such node before it."""
    if isinstance(source, Calc) and _can_merge(source, condition, projection):
        below = source.projection
        if below is not None:
            condition = None if condition is None else substitute(condition, below)
            projection = (
                below
                if projection is None
                else tuple(substitute(item, below) for item in projection)
            )
        condition = _both(source.condition, condition)
        source = source.inputs[0]
    if projection is not None and is_identity(projection, len(source.schema)):
        projection = None
    if condition is None and projection is None and schema.names == source.schema.names:
        return source
    return Calc(schema, source, condition, None if projection is None else tuple(projection))


def _can_merge(source: Calc, condition: Typed | None, projection: Sequence[Typed] | None) -> bool:
    """True if merged projections evaluate nothing twice, and give no expression two values."""
    if source.projection is None:
        return True
    expressions = [*(projection or ()), *([] if condition is None else [condition])]
    used: dict[int, int] = {}
    for expression in expressions:
        for part in walk(expression):
            if isinstance(part, InputRef):
                used[part.index] = used.get(part.index, 0) + 1
    for index, item in enumerate(source.projection):
        simple = not any(isinstance(part, Invocation) for part in walk(item))
        if not simple and (used.get(index, 0) > 1 or not is_deterministic(item)):
            return False
    return True


def _both(one: Typed | None, two: Typed | None) -> Typed | None:
    if one is None or two is None:
        return one if two is None else two

    return invoke(builtin_functions()["AND"], [one, two])


def shown_expression(expression: Typed, names: Sequence[str]) -> str:
    """Return an expression as plans show it, with the names of columns."""
    text = str(expression)
    # From the last column on, so that $1 is not found inside of $10.
    for index in sorted(input_refs(expression), reverse=True):
        text = text.replace(f"${index}", names[index])
    return text


def _is_column(item: Typed, names: Sequence[str], name: str) -> bool:
    return isinstance(item, InputRef) and names[item.index] == name


class Correlate(PhysicalNode):
    """Gives each row with those of a table function.

    Args:
        source: the input.
        node: the logical node.
    """

    name = "Correlate"

    def __init__(self, source: PhysicalNode, node: LogicalCorrelate) -> None:
        super().__init__(node.schema, source)
        self.node = node

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the compiled function."""
        (source,) = inputs
        node = self.node
        width = len(self.inputs[0].schema)
        program = compile_correlate(
            node.function,
            node.args,
            node.condition,
            width,
            len(self.schema) - width,
            builder.settings.time_zone,
            left=node.left,
            changelog=source.changelog,
        )
        edges = builder.aligned(self.name, source.edges, CalcOperator(program))
        return RowStream(edges, source.changelog)

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the keys of looked up rows; of other functions nothing is known."""
        node, (left,) = self.node, inputs
        if not node.function.looks_up:
            return None
        known = node.condition is None or is_deterministic(node.condition)
        right = one_key(node.function.key) if known and node.function.key is not None else None
        columns = [arg.index for arg in node.args if isinstance(arg, InputRef)]
        return joined(
            JoinKind.LEFT if node.left else JoinKind.INNER,
            (left, right),
            (are_unique(left, columns), right is not None),
            len(self.inputs[0].schema),
        )

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input, then those of the function."""
        columns = inputs[0]
        args = ", ".join(told(arg, columns) for arg in self.node.args)
        call = shortened(f"{self.node.function.name}({args})")
        return (*columns, *(f"{call}.{name}" for name in self.schema.names[len(columns) :]))

    def details(self) -> dict[str, str]:
        """Return the function and the columns."""
        kind = "LEFT" if self.node.left else "INNER"
        args = ", ".join(map(str, self.node.args))
        return {
            "invocation": f"{self.node.function.name}({args})",
            "select": ", ".join(self.schema.names),
            "joinType": kind,
        }


class Expand(PhysicalNode):
    """Gives each row once for each set of keys.

    Args:
        source: the input.
        node: the logical node.
    """

    name = "Expand"

    def __init__(self, source: PhysicalNode, node: LogicalExpand) -> None:
        super().__init__(node.schema, source)
        self.node = node

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """A row of each set is retracted where a row was."""
        return True

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the compiled function."""
        (source,) = inputs
        program = compile_expand(
            self.node.keys,
            self.node.sets,
            len(self.inputs[0].schema),
            builder.settings.time_zone,
            changelog=source.changelog,
        )
        edges = builder.aligned(self.name, source.edges, CalcOperator(program))
        return RowStream(edges, source.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input, then which set a row is of."""
        columns = inputs[0]
        sets = self.details()["projects"]
        names = self.schema.names[len(columns) :]
        return (*columns, *(f"GROUPING SETS({sets}).{name}" for name in names))

    def details(self) -> dict[str, str]:
        """Return the sets."""
        return {"projects": ", ".join(str(sorted(each)) for each in self.node.sets)}


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
                    function.row_names,
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


def function_bundle(settings: QuerySettings) -> FunctionBundle:
    """Return how many rows a user's aggregate function sees before results come."""
    size, time = (option.read(settings.configuration) for option in (BUNDLE_SIZE, BUNDLE_TIME))
    return FunctionBundle(max(size, 1), time)
