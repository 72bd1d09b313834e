"""Functions over windows of rows, and MATCH_RECOGNIZE."""

from __future__ import annotations

from dataclasses import replace

from pyflink_on_spark._graph.stream_graph import Edge
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.codegen.aggregates import AggregatedRows, compile_frame, is_reversible
from pyflink_on_spark._sql.codegen.match_recognize import MatchCompiler, depends_on_row_alone
from pyflink_on_spark._sql.codegen.rows import compile_sort_key, compile_value
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.plan import match as logical
from pyflink_on_spark._sql.plan.expressions import (
    AggregateInvocation,
    Constant,
    InputRef,
    Typed,
    input_refs,
    rewrite,
    substitute,
)
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Over, Project
from pyflink_on_spark._sql.plan.signatures import RankingFunction
from pyflink_on_spark._sql.planner.aggregates import keyed_edges
from pyflink_on_spark._sql.planner.physical import (
    Columns,
    Content,
    GraphBuilder,
    PhysicalNode,
    RowStream,
    shortened,
    told,
    told_all,
    told_call,
    told_calls,
    told_order,
    told_rows,
)
from pyflink_on_spark._sql.planner.upsert_keys import ExtendedColumns, UpsertKeys, spread_by
from pyflink_on_spark._sql.runtime.match_recognize import (
    ArrivalMatchOperator,
    BatchMatchOperator,
    EventTimeMatchOperator,
    MatchOperator,
)
from pyflink_on_spark._sql.runtime.over import (
    ArrivalOverOperator,
    BatchOverOperator,
    FrameBounds,
    FrameOperator,
    OrderedOverOperator,
    OverOperator,
    RankedColumn,
)
from pyflink_on_spark._sql.types.logical import Time

_RANKS = frozenset({"RANK", "DENSE_RANK"})


class OverAggregate(PhysicalNode):
    """Gives rows with the values of functions over the rows around them.

    Args:
        source: the input.
        node: the logical node.
        batch: whether rows come at the end.
    """

    name = "OverAggregate"

    def __init__(self, source: PhysicalNode, node: Over, batch: bool) -> None:
        super().__init__(node.schema, source)
        self.node, self._batch = node, batch

    def accepts(self, port: int) -> ChangeKinds:
        """Rows are only added."""
        return ChangeKinds.INSERT

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the keys that have all columns of the partition."""
        partition = self.node.partition
        columns = ExtendedColumns(inputs[0], self.inputs[0].schema.types, partition)
        return columns.own(spread_by(columns.keys, columns.places))

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        (source,) = inputs
        node, width = self.node, len(self.inputs[0].schema)
        edges = keyed_edges(builder, source, node.partition, width)
        return self._stream(edges, source, builder)

    def _stream(
        self, edges: tuple[Edge, ...], source: RowStream, builder: GraphBuilder
    ) -> RowStream:
        operator = self._in_batch(builder) if self._batch else self._streaming(builder)
        return RowStream(self._added(edges, operator, builder), changelog=False)

    def _added(
        self, edges: tuple[Edge, ...], operator: Operator, builder: GraphBuilder
    ) -> tuple[Edge, ...]:
        parallelism = None if self.node.partition else 1
        return builder.operator(self.name, edges, operator, parallelism=parallelism)

    def _streaming(self, builder: GraphBuilder) -> FrameOperator:
        node, settings = self.node, builder.settings
        frame, order = node.frame, node.keys[0].value
        preceding = None if frame.lower is None else -frame.lower
        width = len(self.inputs[0].schema)
        retracting = preceding is not None and is_reversible(node.calls)
        assert isinstance(order, InputRef)
        program = compile_frame(
            _ranked(node), AggregatedRows(width, settings.time_zone, retracting)
        )
        ttl = settings.state_ttl
        if order.type.time is Time.ROWTIME:
            return OverOperator(program, order.index, frame.rows, preceding, ttl)
        # Rows that come at one moment are together only in frames that go back for some time.
        rows = frame.rows or preceding is None
        return ArrivalOverOperator(program, rows, preceding, ttl)

    def _in_batch(self, builder: GraphBuilder) -> BatchOverOperator:
        node, zone = self.node, builder.settings.time_zone
        width = len(self.inputs[0].schema)
        columns: list[int | RankedColumn] = []
        framed: list[AggregateInvocation] = []
        for call in node.calls:
            if isinstance(call.function, RankingFunction):
                args = tuple(compile_value(arg, width, zone) for arg in call.args)
                columns.append(RankedColumn(call.function.column, args))
            else:
                columns.append(len(framed))
                framed.append(call)
        program = None
        if framed:
            retracting = node.frame.lower is not None and is_reversible(framed)
            program = compile_frame(framed, AggregatedRows(width, zone, retracting))
        order = compile_sort_key(node.keys, width, zone)
        return BatchOverOperator(order, columns, program, self._bounds(width, zone))

    def _bounds(self, width: int, zone: str) -> FrameBounds:
        frame, keys = self.node.frame, self.node.keys
        bounds = (frame.lower, frame.upper)
        if frame.rows or all(bound in {None, 0} for bound in bounds):
            return FrameBounds(frame.rows, *bounds)
        if len(keys) != 1:
            raise TableError("A frame of OVER with distances of values needs one item of ORDER BY.")
        key = keys[0]
        scale = 10 ** (key.value.type.scale or 0)
        lower, upper = (None if bound is None else bound * scale for bound in bounds)
        value = compile_value(key.value, width, zone)
        return FrameBounds(False, lower, upper, value, descending=not key.ascending)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input, then the functions."""
        node, columns = self.node, inputs[0]
        partition = ", ".join(told(each, columns) for each in node.partition)
        over = f"{partition} ORDER BY {', '.join(told_order(node.keys, columns))} {node.frame}"
        calls = (f"{told_call(call, columns)} OVER ({over})" for call in node.calls)
        return (*columns, *map(shortened, calls))

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the keys, the order, the frame, the functions and the columns."""
        node, columns = self.node, inputs[0]
        time = node.keys[0].value.type.time
        return {
            "kind": self.name,
            "keys": told_all(node.partition, columns),
            "order": told_order(node.keys, columns),
            "time": "" if time is None else time.value,
            "frame": str(node.frame),
            "functions": told_calls(node.calls, columns),
            "columns": told_rows(self.inputs[0].schema, columns),
        }

    def details(self) -> dict[str, str]:
        """Return the order, the frame and the functions."""
        node, names = self.node, self.schema.names
        width = len(self.inputs[0].schema)
        calls = (f"{call} AS {name}" for call, name in zip(node.calls, names[width:]))
        partition = {"partitionBy": ", ".join(map(str, node.partition))} if node.partition else {}
        return {
            **partition,
            "orderBy": ", ".join(map(str, node.keys)),
            "window": str(node.frame),
            "select": ", ".join((*names[:width], *calls)),
        }


class OrderedOverAggregate(OverAggregate):
    """Gives rows with the values of functions over the rows before them in a column's order.

    Args:
        source: the input.
        node: the logical node.
    """

    def __init__(self, source: PhysicalNode, node: Over) -> None:
        super().__init__(source, node, batch=False)

    def accepts(self, port: int) -> ChangeKinds:
        """All changes."""
        return ChangeKinds.ALL

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """A row changes those that follow in order."""
        return ChangeKinds.ALL

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """A row has to be found where it was."""
        return True

    def _stream(
        self, edges: tuple[Edge, ...], source: RowStream, builder: GraphBuilder
    ) -> RowStream:
        node, settings = self.node, builder.settings
        width, zone = len(self.inputs[0].schema), settings.time_zone
        operator = OrderedOverOperator(
            compile_frame(_ranked(node), AggregatedRows(width, zone, retracting=False)),
            compile_sort_key(node.keys, width, zone),
            rows=node.frame.rows,
            changelog=source.changelog,
            before=self.emits_update_before,
            ttl=settings.state_ttl,
        )
        return RowStream(self._added(edges, operator, builder), changelog=True)


def over_aggregate(source: PhysicalNode, node: Over, batch: bool) -> PhysicalNode:
    """Return the node that computes functions with OVER.

    Raises:
        TableError: a stream that does not end has no such order or frame.
    """
    if not batch:
        _check(node)
        if not _in_time(node):
            return OrderedOverAggregate(source, node)
    return OverAggregate(source, node, batch)


def _ranked(node: Over) -> list[AggregateInvocation]:
    """Return the functions; RANK gets what rows are ordered by."""
    order = (node.keys[0].value,)
    return [
        replace(call, args=order) if call.function.name in _RANKS else call for call in node.calls
    ]


def _in_time(node: Over) -> bool:
    order = node.keys[0].value
    return isinstance(order, InputRef) and order.type.time is not None


def _check(node: Over) -> None:
    if _beside_another(node):
        raise TableError(
            "Over Agg: Unsupported use of OVER windows. All aggregates must be computed on the "
            "same window. please re-check the over window statement."
        )
    for call in node.calls:
        if isinstance(call.function, RankingFunction) and not call.function.streaming:
            raise TableError(f"{call.function.name} Function is not supported in stream mode.")
    if len(node.keys) != 1 or isinstance(node.keys[0].value, Constant):
        raise TableError("The window can only be ordered by a single time column.")
    if not node.keys[0].ascending:
        raise TableError("The window can only be ordered in ASCENDING mode.")
    if not _in_time(node):
        _check_order(node)
    if node.frame.upper != 0:
        raise TableError("OVER RANGE FOLLOWING windows are not supported yet.")


def _check_order(node: Over) -> None:
    """Refuse what Flink does not compute in the order of a column that is no time attribute."""
    if node.frame.lower is not None:
        raise TableError("Non-time attribute sort is not supported for bounded OVER window.")
    for call in node.calls:
        if call.function.name == "LAG":
            raise TableError("LAG is supported in the order of a time attribute only.")


def _beside_another(node: Over) -> bool:
    """True for a node beside other functions with OVER: over their input, without their results."""
    values = [*node.partition, *(key.value for key in node.keys)]
    values += [arg for call in node.calls for arg in call.args]
    below = node.input
    while isinstance(below, Project):
        columns = below.expressions
        values = [substitute(value, columns) for value in values]
        below = below.input
    if not isinstance(below, Over):
        return False
    width = len(below.input.schema)
    return all(index < width for value in values for index in input_refs(value))


class Match(PhysicalNode):
    """Finds patterns among the rows of each key.

    Args:
        source: the input.
        node: the logical node.
        batch: whether rows come at the end.
    """

    name = "Match"

    def __init__(self, source: PhysicalNode, node: logical.Match, batch: bool) -> None:
        super().__init__(node.schema, source)
        self.node, self._batch = node, batch

    def accepts(self, port: int) -> ChangeKinds:
        """Rows are only added."""
        return ChangeKinds.INSERT

    def describe_short(self) -> str:
        """Return the operator's name in Flink."""
        return "Match Recognize"

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        (source,) = inputs
        width, zone = len(self.inputs[0].schema), builder.settings.time_zone
        edges = keyed_edges(builder, source, self._keys(), width)
        parallelism = None if self.node.partition else 1
        operator = self._operator(width, zone)
        made = builder.operator(self.name, edges, operator, parallelism=parallelism)
        return RowStream(made, changelog=False)

    def _keys(self) -> tuple[InputRef, ...]:
        types = self.inputs[0].schema.types
        return tuple(InputRef(types[index], index) for index in self.node.partition)

    def _operator(self, width: int, zone: str) -> MatchOperator:
        node = self.node
        time = node.keys[0].value
        assert isinstance(time, InputRef)
        program = MatchCompiler(node, zone).program()
        alone = [
            depends_on_row_alone(condition, variable.name)
            for variable, condition in zip(node.pattern.variables, node.definitions)
        ]
        order = compile_sort_key(node.keys[1:], width, zone) if node.keys[1:] else None
        by_clock = time.type.time is Time.PROCTIME
        if self._batch:
            place = None if by_clock else time.index
            return BatchMatchOperator(program, node.pattern, alone, order, place)
        if by_clock:
            return ArrivalMatchOperator(program, node.pattern, alone, order)
        return EventTimeMatchOperator(program, node.pattern, alone, order, time.index)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns that rows are together by, then the measures."""
        columns = inputs[0]
        names = self.schema.names[len(self.node.partition) :]
        measures = (f"{self.name}.{name}" for name in names)
        return (*(columns[index] for index in self.node.partition), *measures)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the keys, the order, the pattern with its conditions, and the columns.

        The measures are computed when a match is found. They may change.
        """
        node, columns = self.node, inputs[0]
        time = node.keys[0].value.type.time
        details = node.details()
        pattern: Content = {
            key: details[key] for key in ("after", "pattern", "within") if key in details
        }
        return {
            "kind": self.name,
            "keys": told_all(self._keys(), columns),
            "order": told_order(node.keys, columns),
            "time": "" if time is None else time.value,
            **pattern,
            "define": [
                f"{variable.name} AS {told(_over(condition, columns), columns)}"
                for variable, condition in zip(node.pattern.variables, node.definitions)
            ],
            "columns": told_rows(self.inputs[0].schema, columns),
        }

    def details(self) -> dict[str, str]:
        """Return all of the pattern."""
        return self.node.details()


def _over(condition: Typed, columns: Columns) -> Typed:
    """Return a condition that shows what the columns of matched rows are made of."""

    def shown(part: Typed) -> Typed | None:
        if isinstance(part, logical.MatchedField):
            return replace(part, name=columns[part.column])
        if isinstance(part, logical.MatchedAggregate):
            return replace(part, text=shortened(f"{part.variable}.{told_call(part.call, columns)}"))
        return None

    return rewrite(condition, shown)
