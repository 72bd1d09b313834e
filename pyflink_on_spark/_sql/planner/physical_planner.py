"""Chooses physical nodes for logical ones, and infers which changes each makes and needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyflink_on_spark._graph.stream_graph import Edge, Transformation
from pyflink_on_spark._options.flink import (
    ALLOWED_LATENESS,
    EARLY_FIRE,
    IDLE_TIMEOUT,
    LATE_FIRE,
)
from pyflink_on_spark._runtime.contract.connector import WatermarkRule
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.binder.tables import has_one_row, unique_key
from pyflink_on_spark._sql.codegen.rows import compile_values
from pyflink_on_spark._sql.errors import QuerySettings, TableError, at_any_depth, not_yet
from pyflink_on_spark._sql.plan import nodes as logical
from pyflink_on_spark._sql.plan.expressions import InputRef, Typed, convert, input_refs, substitute
from pyflink_on_spark._sql.plan.match import Match as LogicalMatch
from pyflink_on_spark._sql.plan.nodes import (
    DELETE,
    INSERT,
    ChangeKinds,
    FromChangelog,
    Node,
    Over,
    Schema,
    SemiJoin,
    TemporalJoin,
    ToChangelog,
)
from pyflink_on_spark._sql.plan.nodes import Expand as LogicalExpand
from pyflink_on_spark._sql.plan.ports import RefusedSource
from pyflink_on_spark._sql.plan.time_conditions import time_bounds
from pyflink_on_spark._sql.planner import joins, tables
from pyflink_on_spark._sql.planner.aggregates import (
    ChangelogNormalize,
    FlatAggregate,
    GroupAggregate,
)
from pyflink_on_spark._sql.planner.calc import (
    Calc,
    Correlate,
    Expand,
    PythonVectorized,
    calc,
    has_python_call,
    outer_join_refused,
    shown_expression,
    split_condition,
    with_python_calls,
    with_staged_columns,
)
from pyflink_on_spark._sql.planner.over import Match, over_aggregate
from pyflink_on_spark._sql.planner.physical import (
    Columns,
    Digests,
    GraphBuilder,
    PhysicalNode,
    RowStream,
)
from pyflink_on_spark._sql.planner.pruning import pruned
from pyflink_on_spark._sql.planner.sorting import sort, top_n
from pyflink_on_spark._sql.planner.tables import SourceScan
from pyflink_on_spark._sql.planner.upsert_keys import UpsertKeys
from pyflink_on_spark._sql.planner.windows import (
    RowWindowAggregate,
    SessionTable,
    SliceAggregate,
    WindowAggregate,
    WindowTableFunction,
    sliced_query,
)
from pyflink_on_spark._sql.runtime.rows import (
    ChangesFromRowsOperator,
    ChangesToRowsOperator,
    NoteTimes,
    RowWatermarks,
    WatermarkOperator,
)
from pyflink_on_spark._sql.syntax.queries import JoinKind
from pyflink_on_spark._sql.syntax.statements import ColumnKind
from pyflink_on_spark._sql.types.logical import Root


def infer_changes(roots: Iterable[PhysicalNode], settings: QuerySettings) -> None:
    """Set ``changes`` and ``before`` of all nodes, and whether sinks materialize rows.

    Args:
        roots: the sinks.
        settings: the session's.

    Raises:
        TableError: a node cannot deal with the changes of its input.
        ValidationError: updates do not fit the primary key of a sink.
    """
    roots = list(roots)
    done: set[PhysicalNode] = set()
    for root in roots:
        _find_changes(root, done)
        if isinstance(root, tables.KeyedSink):
            root.resolve_conflicts(settings)
    for root in roots:
        _require_before(root, wanted=False)


def _find_changes(node: PhysicalNode, done: set[PhysicalNode]) -> None:
    if node in done:
        return
    done.add(node)
    for port, source in enumerate(node.inputs):
        _find_changes(source, done)
        refused = source.changes & ~node.accepts(port)
        if refused:
            place = "" if node.span is None else f"{node.span.range()}: "
            raise TableError(
                f"{place}{node.describe_short()} doesn't support consuming {refused.describe()} "
                f"which is produced by node {_origin(source, refused).describe()}"
            )
    node.changes = node.produces(tuple(source.changes for source in node.inputs))


def _origin(node: PhysicalNode, refused: ChangeKinds) -> PhysicalNode:
    """Return the node that makes the changes, which those after it only pass on."""
    while len(node.inputs) == 1 and node.inputs[0].changes & refused == refused:
        node = node.inputs[0]
    return node


def _require_before(node: PhysicalNode, wanted: bool) -> None:
    if wanted and ChangeKinds.UPDATE in node.changes and not node.emits_update_before:
        if not node.can_emit_update_before():
            not_yet(
                f"{node.describe()}, whose updates do not say what a row was before,",
                None,
                "Write its rows to a sink with a primary key.",
            )
        node.emits_update_before = True
    for port, source in enumerate(node.inputs):
        _require_before(source, node.needs_update_before(port, node.emits_update_before))


_PARTS = 3
"""The columns that windows add to rows."""

_FIRES = (EARLY_FIRE, LATE_FIRE)
_NO_SESSIONS = "Unaligned windows like session are not supported in batch mode yet."
Rule = Callable[[Any, "PhysicalPlanner"], PhysicalNode]
"""Makes a physical node of a logical one."""


class PhysicalPlanner:
    """Chooses how the nodes of a logical plan are carried out; shared ones once.

    Args:
        settings: the session's.
    """

    def __init__(self, settings: QuerySettings) -> None:
        self.settings = settings
        self._digests = Digests()
        self._made: dict[int, PhysicalNode] = {}

    def plan(self, node: logical.Node) -> PhysicalNode:
        """Return the physical node for a logical one."""
        number = self._digests.number(node)
        found = self._made.get(number)
        if found is None:
            found = self._made[number] = RULES[type(node)](node, self)
        return found


def _table_scan(node: logical.TableScan, _planner: PhysicalPlanner) -> PhysicalNode:
    if isinstance(node.source, RefusedSource):
        raise node.source.error
    metadata = tuple(
        column.metadata_key or column.name
        for column in node.table.schema.of_kind(ColumnKind.METADATA)
    )
    names, primary = node.schema.names, node.table.schema.primary_key or ()
    key = tuple(map(names.index, primary)) if set(primary) <= set(names) else ()
    source = tables.SourceScan(
        node.schema,
        node.path,
        node.source,
        metadata,
        tables.places_of(node.table),
        key=key,
        has_watermarks=node.table.schema.watermark is not None,
    )
    changes = node.source.changes
    if node.source.emits_update_before or ChangeKinds.UPDATE not in changes or not primary:
        return source
    return ChangelogNormalize(source, key)


def _external_scan(node: logical.ExternalScan, _planner: PhysicalPlanner) -> PhysicalNode:
    rows, source = node.rows, tables.ExternalScan(node.schema, node.rows)
    if rows.emits_update_before or ChangeKinds.UPDATE not in rows.changes or not rows.key:
        return source
    return ChangelogNormalize(source, rows.key)


def _project(node: logical.Project, planner: PhysicalPlanner) -> PhysicalNode:
    if isinstance(node.input, logical.Filter):
        found = top_n(node, planner)
        if found is not None:
            return found
    source, expressions = with_python_calls(planner.plan(node.input), node.expressions)
    return calc(node.schema, source, None, expressions)


def _filter(node: logical.Filter, planner: PhysicalPlanner) -> PhysicalNode:
    source = planner.plan(node.input)
    direct, staged = split_condition(node.condition)
    if direct is not None:
        source = calc(node.schema, source, direct, None)
    if staged is None:
        return source
    source, (condition,) = with_python_calls(source, (staged,))
    columns = [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]
    return calc(node.schema, source, condition, columns)


def _aggregate(node: logical.Aggregate, planner: PhysicalPlanner) -> PhysicalNode:
    batch = planner.settings.batch
    _check_calls(node, batch)
    if node.rows is not None:
        if batch:
            raise TableError("Windows of a number of rows need a query in streaming mode.")
        source = planner.plan(node.input)
        return RowWindowAggregate(node.schema, source, node.keys, node.calls, node.rows)
    windows = logical.windows_of(node.input)
    parts: dict[int, int] = {}
    window: logical.WindowTable | None = None
    for index, key in enumerate(node.keys):
        if isinstance(key, InputRef) and key.index in windows:
            window, parts[index] = windows[key.index]
    if window is None or not {0, 1} <= set(parts.values()):
        return _group_aggregate(node, planner)
    _check_emission(window, planner.settings)
    session = window.kind is logical.WindowKind.SESSION
    if session:
        if batch:
            raise TableError(_NO_SESSIONS)
        return _session_aggregate(node, planner, window, parts)
    if batch:
        source = planner.plan(node.input)
        return GroupAggregate(node.schema, source, node.keys, node.calls, batch)
    sliced = _sliced(node, planner)
    if sliced is not None:
        return sliced
    source = planner.plan(node.input)
    return WindowAggregate(
        node.schema, source, node.keys, node.calls, window, parts, merges_sessions=False
    )


def _check_emission(window: logical.WindowTable, settings: QuerySettings) -> None:
    """Refuse the options that let windows give results before their end, or again after it."""
    if settings.batch:
        return
    fires = [option.key for option in _FIRES if option.read(settings.configuration)]
    if window.partition is not None:
        if fires:
            raise TableError(
                "Currently, window table function based aggregate doesn't support early-fire and "
                f"late-fire configuration '{EARLY_FIRE.key}' and '{LATE_FIRE.key}'."
            )
    elif fires or ALLOWED_LATENESS.read(settings.configuration):
        key = fires[0] if fires else ALLOWED_LATENESS.key
        instead = (
            "Unset the option, or use to_data_stream() and a window of the stream, with "
            "allowed_lateness() or a trigger."
        )
        not_yet(f"a group by windows with {key}", None, instead)


def _group_aggregate(node: logical.Aggregate, planner: PhysicalPlanner) -> PhysicalNode:
    batch = planner.settings.batch
    if not batch and _has_single_rows(node):
        return planner.plan(_row_by_row(node))
    source = planner.plan(node.input)
    return GroupAggregate(node.schema, source, node.keys, node.calls, batch)


_OF_ONE_ROW = {"SUM", "MIN", "MAX"}
"""The functions whose value for one row is that of their argument."""


def _has_single_rows(node: logical.Aggregate) -> bool:
    """True if each group has one row, and Flink's planner leaves the aggregate out, too.

    That shows in the kinds of changes.
    """
    if not node.keys or any(call.function.name not in _OF_ONE_ROW for call in node.calls):
        return False
    if any(call.filter is not None for call in node.calls):
        return False
    if has_one_row(node.input):
        return True
    below = node.input
    while isinstance(below, logical.Project | logical.Filter | logical.AssignWatermarks):
        below = below.input
    if isinstance(below, logical.TableScan | logical.ExternalScan):
        return False  # nobody enforces the key of a source
    key = unique_key(node.input)
    return key is not None and key <= {k.index for k in node.keys if isinstance(k, InputRef)}


def _row_by_row(node: logical.Aggregate) -> logical.Project:
    """Return the projection that is the same as an aggregate of single rows."""
    columns = [*node.keys, *(call.args[0] for call in node.calls)]
    expressions = tuple(map(convert, columns, node.schema.types))
    return logical.Project(node.schema, node.input, expressions)


def _sliced(node: logical.Aggregate, planner: PhysicalPlanner) -> PhysicalNode | None:
    """Return a node that adds each row to one slice, if windows and functions allow slices."""
    query = sliced_query(node)
    if query is None or (query.window.step or 0) > query.window.size:
        return None
    source = planner.plan(query.window.input)
    below = calc(source.schema, source, query.condition, None)
    made = SliceAggregate(node.schema, below, query)
    try:
        made.program(planner.settings.time_zone, retracting=False)
    except NotImplementedError:
        return None
    return made


def _session_aggregate(
    node: logical.Aggregate,
    planner: PhysicalPlanner,
    window: logical.WindowTable,
    parts: dict[int, int],
) -> PhysicalNode:
    """Return the node that aggregates sessions, or groups of rows that are no sessions.

    As in Flink, a condition on the rows of sessions says which rows make sessions, unless it is
    one on the sessions themselves.
    """
    below, keys = node.input, [key for index, key in enumerate(node.keys) if index not in parts]
    if window.partition is None and any(call.function.of_series for call in node.calls):
        raise TableError("Session Group Window is currently not supported for Pandas UDAF.")
    conditions: list[Typed] = []
    while isinstance(below, logical.Project | logical.Filter):
        if isinstance(below, logical.Filter):
            conditions.append(below.condition)
        else:
            columns = below.expressions
            keys = [substitute(key, columns) for key in keys]
            conditions = [substitute(condition, columns) for condition in conditions]
        below = below.input
    direct = isinstance(below, logical.WindowTable)
    apart = _are_sessions(keys, window)
    first = len(window.schema) - _PARTS
    of_rows = all(index < first for each in conditions for index in input_refs(each))
    merges = direct and apart and of_rows
    if merges:
        node = replace(node, input=_with_single_rows(node.input))
    source = planner.plan(node.input)
    if direct and not apart:
        return GroupAggregate(node.schema, source, node.keys, node.calls, batch=False)
    return WindowAggregate(
        node.schema, source, node.keys, node.calls, window, parts, merges_sessions=merges
    )


def _are_sessions(keys: Sequence[Typed], window: logical.WindowTable) -> bool:
    """True if the keys of groups are the partition keys of the sessions."""
    if window.partition is None:
        return True
    grouped = {key.index for key in keys if isinstance(key, InputRef)}
    return len(keys) == len(grouped) and grouped == set(window.partition)


def _with_single_rows(node: logical.Node) -> logical.Node:
    """Return a node in which rows have the sessions that they alone would make."""
    if isinstance(node, logical.WindowTable):
        return replace(node, single=True)
    if isinstance(node, logical.Project | logical.Filter | LogicalExpand):
        return replace(node, input=_with_single_rows(node.input))
    return node


def _windows(node: logical.WindowTable, planner: PhysicalPlanner) -> PhysicalNode:
    source = planner.plan(node.input)
    if node.kind is not logical.WindowKind.SESSION or node.single:
        return WindowTableFunction(source, node)
    if planner.settings.batch:
        raise TableError(_NO_SESSIONS)
    return SessionTable(source, node)


def _join(node: logical.Join, planner: PhysicalPlanner) -> PhysicalNode:
    if node.condition is not None and has_python_call(node.condition):
        return _join_then_filter(node, node.condition, planner)
    left, right = planner.plan(node.left), planner.plan(node.right)
    if not planner.settings.batch:
        windows = logical.window_join(node.left, node.right, node.condition)
        if windows is not None:
            return joins.WindowJoin(left, right, node, windows)
        bounds = time_bounds(node.condition, len(left.schema))
        if bounds is not None:
            return joins.IntervalJoin(left, right, node, bounds)
    return joins.Join(left, right, node, planner.settings.batch)


def _join_then_filter(
    node: logical.Join, condition: Typed, planner: PhysicalPlanner
) -> PhysicalNode:
    if node.kind is not JoinKind.INNER:
        raise outer_join_refused(condition)
    direct, staged = split_condition(condition)
    assert staged is not None
    joined = replace(node, condition=direct)
    return planner.plan(logical.Filter(node.schema, joined, staged))


def _temporal_join(node: TemporalJoin, planner: PhysicalPlanner) -> PhysicalNode:
    left, right = planner.plan(node.left), planner.plan(node.right)
    if planner.settings.batch:
        not_yet("a join with versions of a table in batch mode", None, "Use streaming mode.")
    return joins.TemporalJoin(left, right, node)


def _semi_join(node: SemiJoin, planner: PhysicalPlanner) -> PhysicalNode:
    left, right = planner.plan(node.left), planner.plan(node.right)
    if not planner.settings.batch:
        windows = logical.window_join(node.left, node.right, node.condition)
        if windows is not None:
            return joins.WindowSemiJoin(left, right, node, windows)
    return joins.SemiJoin(left, right, node, planner.settings.batch)


def _over(node: Over, planner: PhysicalPlanner) -> PhysicalNode:
    return over_aggregate(planner.plan(node.input), node, planner.settings.batch)


def _watermarks(node: logical.AssignWatermarks, planner: PhysicalPlanner) -> PhysicalNode:
    source = planner.plan(node.input)
    if node.watermark is None:
        columns = [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]
        return calc(node.schema, source, None, columns)
    return watermark_assigner(node.schema, source, node.column, node.watermark)


def _check_calls(node: logical.Aggregate, batch: bool) -> None:
    for call in node.calls:
        if call.function.batch_only and not batch:
            raise TableError(
                f"{call.function.name} aggregate function does not support yet for streaming."
            )
    if batch:
        distinct = [arg for call in node.calls if call.distinct for arg in call.args]
        _check_orderable([*node.keys, *distinct])


def _check_orderable(keys: Sequence[Typed]) -> None:
    for key in keys:
        if key.type.root in {Root.VARIANT, Root.BITMAP}:
            raise TableError(
                f"Type({key.type}) is not an orderable data type, it is not supported as a "
                "ORDER_BY/GROUP_BY/JOIN_EQUAL field."
            )


def _sort(node: logical.Sort, planner: PhysicalPlanner) -> PhysicalNode:
    _check_orderable([key.value for key in node.keys])
    staged = with_staged_columns(node.input, [key.value for key in node.keys])
    if staged is None:
        return sort(node, planner.plan(node.input), planner.settings.batch)
    columns, values = staged
    keys = tuple(replace(key, value=value) for key, value in zip(node.keys, values))
    ordered = replace(node, schema=columns.schema, input=columns, keys=keys)
    own = tuple(InputRef(kind, index) for index, kind in enumerate(node.schema.types))
    return planner.plan(logical.Project(node.schema, ordered, own))


def _correlate(node: logical.Correlate, planner: PhysicalPlanner) -> PhysicalNode:
    staged = with_staged_columns(node.input, node.args)
    if staged is None or node.condition is not None:
        return Correlate(planner.plan(node.input), node)
    columns, args = staged
    own, all_names, all_types = node.input.schema, node.schema.names, node.schema.types
    width, added = len(own), len(columns.schema) - len(own)
    schema = Schema(
        (*columns.schema.names, *all_names[width:]), (*columns.schema.types, *all_types[width:])
    )
    made = replace(node, schema=schema, input=columns, args=args)
    kept = tuple(
        InputRef(kind, index if index < width else index + added)
        for index, kind in enumerate(all_types)
    )
    return planner.plan(logical.Project(node.schema, made, kept))


def _sink(node: logical.Sink, planner: PhysicalPlanner) -> PhysicalNode:
    source = planner.plan(node.input)
    return tables.Sink(source, node.path, node.table, node.sink, node.span, node.conflict)


def _external_sink(node: logical.ExternalSink, planner: PhysicalPlanner) -> PhysicalNode:
    source = planner.plan(node.input)
    return tables.ExternalSink(source, node.name, node.changes, node.needs_update_before, node.key)


def _union(node: logical.Union, planner: PhysicalPlanner) -> PhysicalNode:
    return tables.Union(node.schema, *map(planner.plan, node.nodes))


RULES: dict[type[logical.Node], Rule] = {
    logical.TableScan: _table_scan,
    logical.ExternalScan: _external_scan,
    logical.FlatAggregate: lambda node, planner: FlatAggregate(
        planner.plan(node.input), node, planner.settings.batch
    ),
    logical.Values: lambda node, planner: tables.Values(node),
    logical.Project: _project,
    logical.Filter: _filter,
    logical.Aggregate: _aggregate,
    LogicalExpand: lambda node, planner: Expand(planner.plan(node.input), node),
    logical.Correlate: _correlate,
    logical.ToChangelog: lambda node, planner: ChangesToRows(planner.plan(node.input), node),
    logical.FromChangelog: lambda node, planner: ChangesFromRows(planner.plan(node.input), node),
    logical.Join: _join,
    SemiJoin: _semi_join,
    TemporalJoin: _temporal_join,
    Over: _over,
    LogicalMatch: lambda node, planner: Match(
        planner.plan(node.input), node, planner.settings.batch
    ),
    logical.Sort: _sort,
    logical.WindowTable: _windows,
    logical.AssignWatermarks: _watermarks,
    logical.Union: _union,
    logical.Sink: _sink,
    logical.ExternalSink: _external_sink,
}
"""The rules from logical to physical nodes, by kind."""


@dataclass(frozen=True)
class PlannedQuery:
    """Transformations, and the streams that they give.

    Args:
        transformations: all that were added.
        streams: one for each sink.
        nodes: the physical plan's sinks.
    """

    transformations: tuple[Transformation, ...]
    streams: tuple[RowStream, ...]
    nodes: tuple[PhysicalNode, ...]


@at_any_depth
def physical_plan(sinks: Sequence[Node], settings: QuerySettings) -> tuple[PhysicalNode, ...]:
    """Return how some sinks get their rows.

    Raises:
        TableError: a node cannot deal with the changes of its input.
    """
    planner = PhysicalPlanner(settings)
    nodes = tuple(map(planner.plan, pruned(sinks)))
    infer_changes(nodes, settings)
    return nodes


@at_any_depth
def plan(sinks: Sequence[Node], settings: QuerySettings) -> PlannedQuery:
    """Return the physical plan of some sinks, with its operators.

    Args:
        sinks: the logical plans, each with a sink at its top.
        settings: the session's.

    Raises:
        TableError: a node cannot deal with the changes of its input.
    """
    nodes = physical_plan(sinks, settings)
    builder = GraphBuilder(settings)
    streams = tuple(map(builder.translate, nodes))
    return PlannedQuery(tuple(builder.added), streams, nodes)


_KINDS = {INSERT: ChangeKinds.INSERT, DELETE: ChangeKinds.DELETE}


class ChangesToRows(PhysicalNode):
    """Gives each change as a row.

    Args:
        source: the input.
        node: the logical node.
    """

    name = "ProcessTableFunction"

    def __init__(self, source: PhysicalNode, node: ToChangelog) -> None:
        super().__init__(node.schema, source)
        self.node = node

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Rows are inserted only."""
        return ChangeKinds.INSERT

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """Each change is a row."""
        return True

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operator."""
        (source,) = inputs
        codes = {kind: code for code, kind in self.node.codes}
        operator = ChangesToRowsOperator(codes, source.changelog)
        return RowStream(builder.aligned(self.name, source.edges, operator), changelog=False)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input after that of the kind."""
        return (f"TO_CHANGELOG({self.node.codes})", *inputs[0])

    def details(self) -> dict[str, str]:
        """Return the codes and the columns."""
        codes = ", ".join(code for code, _ in self.node.codes)
        return {"invocation": f"TO_CHANGELOG({codes})", "select": ", ".join(self.schema.names)}


class ChangesFromRows(PhysicalNode):
    """Gives the change that each row stands for.

    Args:
        source: the input.
        node: the logical node.
    """

    name = "ProcessTableFunction"

    def __init__(self, source: PhysicalNode, node: FromChangelog) -> None:
        super().__init__(node.schema, source)
        self.node = node

    def accepts(self, port: int) -> ChangeKinds:
        """Rows that are inserted."""
        return ChangeKinds.INSERT

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Return the kinds that there are codes for."""
        found = ChangeKinds.INSERT
        for _, kind in self.node.codes:
            found |= _KINDS.get(kind, ChangeKinds.UPDATE)
        return found

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operator."""
        (source,) = inputs
        operator = ChangesFromRowsOperator(
            self.node.column,
            dict(self.node.codes),
            changelog=self.changelog,
            before=self.emits_update_before,
        )
        return RowStream(builder.aligned(self.name, source.edges, operator), self.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input without that of the kind."""
        columns = inputs[0]
        return (*columns[: self.node.column], *columns[self.node.column + 1 :])

    def details(self) -> dict[str, str]:
        """Return the codes and the columns."""
        codes = ", ".join(code for code, _ in self.node.codes)
        return {"invocation": f"FROM_CHANGELOG({codes})", "select": ", ".join(self.schema.names)}


class WatermarkAssigner(PhysicalNode):
    """Makes watermarks of a column.

    Args:
        schema: the columns.
        source: the input.
        rowtime: the name of the rowtime attribute.
        watermark: what is computed for each row.
        whole_deletes: whether a row that is deleted has all its values, and not its key alone.
    """

    name = "WatermarkAssigner"

    def __init__(
        self,
        schema: Schema,
        source: PhysicalNode,
        rowtime: str,
        watermark: Typed,
        whole_deletes: bool = True,
    ) -> None:
        super().__init__(schema, source)
        self.rowtime, self.watermark, self._whole_deletes = rowtime, watermark, whole_deletes

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the keys of the input."""
        return inputs[0]

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Let the source make the watermarks of its splits if it can; else add what makes them."""
        (source,) = inputs
        settings = builder.settings
        program = compile_values(self.watermark, len(self.schema), settings.time_zone)
        timeout = IDLE_TIMEOUT.read(settings.configuration) or None
        marks = RowWatermarks(program, source.changelog, self._whole_deletes)
        operator: Operator
        scan = _scan(self.inputs[0], source.edges)
        if scan is not None and scan.source is not None and scan.source.takes_noted_times:
            rule = WatermarkRule(0, timeout, noted=True)
            scan.source = scan.source.with_watermarks(rule)
            operator = NoteTimes(marks)
        else:
            operator = WatermarkOperator(marks, timeout)
        return RowStream(builder.aligned(self.name, source.edges, operator), source.changelog)

    def details(self) -> dict[str, str]:
        """Return the column and the watermark."""
        shown = shown_expression(self.watermark, self.schema.names)
        return {"rowtime": self.rowtime, "watermark": shown}


def watermark_assigner(
    schema: Schema, source: PhysicalNode, column: int, watermark: Typed
) -> PhysicalNode:
    """Return a node whose rows have watermarks.

    The watermarks of a table that only says what a row is now come of its rows as they are read,
    not of the changes to them.

    Args:
        schema: the columns.
        source: the input.
        column: the position of the rowtime attribute.
        watermark: what is computed for each row.
    """
    rowtime = schema.names[column]
    normalize, computed = source, None
    if isinstance(source, Calc) and source.condition is None:
        (normalize,), computed = source.inputs, source.projection
    if not isinstance(normalize, ChangelogNormalize):
        return WatermarkAssigner(schema, source, rowtime, watermark)
    if computed is not None:
        watermark = substitute(watermark, computed)
    (read,) = normalize.inputs
    assigner = WatermarkAssigner(read.schema, read, rowtime, watermark, whole_deletes=False)
    return calc(source.schema, ChangelogNormalize(assigner, normalize.key), None, computed)


def _scan(node: PhysicalNode, edges: tuple[Edge, ...]) -> Transformation | None:
    """Return the source of a stream if the same subtasks make the rows of it, one by one."""
    while isinstance(node, Calc | PythonVectorized):
        (node,) = node.inputs
    if not isinstance(node, SourceScan):
        return None
    (edge,) = edges
    while edge.upstream.source is None:
        (edge,) = edge.upstream.edges
    return edge.upstream
