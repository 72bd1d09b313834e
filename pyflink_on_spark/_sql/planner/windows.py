"""Aggregates over windows, whole or in slices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from pyflink_on_spark._runtime.contract.state_meaning import Counterpart
from pyflink_on_spark._sql.binder.expressions import all_of
from pyflink_on_spark._sql.codegen.aggregates import AggregatedRows
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.codegen.windows import (
    Slices,
    compile_row_window_aggregate,
    compile_session_aggregate,
    compile_session_rows,
    compile_slices,
    compile_window_aggregate,
    compile_windows,
)
from pyflink_on_spark._sql.plan import nodes as logical
from pyflink_on_spark._sql.plan.expressions import (
    AggregateInvocation,
    InputRef,
    Invocation,
    Typed,
    input_refs,
    is_deterministic,
    substitute,
    walk,
)
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Schema, WindowTable
from pyflink_on_spark._sql.planner.aggregates import (
    aggregate_details,
    group_meaning,
    group_origins,
    keyed_edges,
)
from pyflink_on_spark._sql.planner.moved_in import MovedSlices
from pyflink_on_spark._sql.planner.physical import (
    Columns,
    Content,
    GraphBuilder,
    PhysicalNode,
    RowStream,
    grouped,
    told,
    told_call,
    told_rows,
    told_window,
)
from pyflink_on_spark._sql.planner.upsert_keys import UpsertKeys
from pyflink_on_spark._sql.runtime.rows import CalcOperator
from pyflink_on_spark._sql.runtime.windows import (
    RowWindowAggregateOperator,
    SessionAggregateOperator,
    SliceAggregateOperator,
    WindowAggregateOperator,
)
from pyflink_on_spark._sql.types.logical import Root, Time


def zone_of(window: WindowTable, time_zone: str) -> str | None:
    """Return the time zone that matters for windows, or None."""
    local = window.input.schema.types[window.time].root is Root.TIMESTAMP_LTZ
    return time_zone if local and time_zone not in {"UTC", "Z", "GMT"} else None


class WindowTableFunction(PhysicalNode):
    """Gives each row once for each of its windows.

    Args:
        source: the input.
        window: the logical node.
    """

    name = "WindowTableFunction"

    def __init__(self, source: PhysicalNode, window: WindowTable) -> None:
        super().__init__(window.schema, source)
        self.window = window

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the compiled function."""
        (source,) = inputs
        window = self.window
        kind = window.input.schema.types[window.time]
        program = compile_windows(
            window,
            zone_of(window, builder.settings.time_zone),
            by_clock=kind.time is Time.PROCTIME,
            changelog=source.changelog,
        )
        edges = builder.aligned(self.name, source.edges, CalcOperator(program))
        return RowStream(edges, source.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input, then the windows."""
        columns, window = inputs[0], self.window
        shown = told_window(window, columns[window.time], None)
        names = self.schema.names[len(columns) :]
        return (*columns, *(f"{shown}.{name}" for name in names))

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the windows and the columns."""
        columns, window = inputs[0], self.window
        zone, types = zone_of(window, time_zone), self.inputs[0].schema.types
        return {
            "kind": self.name,
            "window": told_window(window, columns[window.time], zone),
            "keys": [f"{columns[index]} {types[index]}" for index in window.partition or ()],
            "columns": told_rows(self.inputs[0].schema, columns),
        }

    def details(self) -> dict[str, str]:
        """Return the windows."""
        window = self.window
        name = self.schema.names[window.time]
        return {
            "window": f"{window.kind.value}(time_col=[{name}], size=[{window.size // 1000} ms])"
        }


class SessionTable(WindowTableFunction):
    """Gives each row with its session, when the session ends."""

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        (source,) = inputs
        window, types = self.window, self.window.input.schema.types
        event_time = types[window.time].time is Time.ROWTIME
        local = zone_of(window, builder.settings.time_zone)
        program = compile_session_rows(
            window, local, by_clock=not event_time, changelog=source.changelog
        )
        keys = [InputRef(types[index], index) for index in window.partition or ()]
        edges = keyed_edges(builder, source, keys, len(types))
        operator = SessionAggregateOperator(program, event_time, local)
        parallelism = None if keys else 1
        return RowStream(
            builder.operator(self.name, edges, operator, parallelism=parallelism),
            source.changelog,
        )


class _AtTheEnd(PhysicalNode):
    """Gives rows when windows end."""

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Rows come when a window ends."""
        return ChangeKinds.INSERT

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """An update takes the row back as it was."""
        return True


def _keys_of_groups(window: WindowTable, keys: range, parts: set[int]) -> UpsertKeys:
    """Return the upsert keys of groups; Flink knows none where windows are a table function's.

    Args:
        window: the windows.
        keys: the positions of the keys.
        parts: those of them that are the start, the end or the time of a window.
    """
    if window.partition is not None:
        return None
    plain = frozenset(keys) - parts
    return frozenset(plain | {part} for part in parts)


class WindowAggregate(_AtTheEnd):
    """Gives a row for each group and window, when the window ends.

    Args:
        schema: the columns: the keys, then the calls.
        source: the input.
        keys: what groups are made of; the start and the end of windows among them.
        calls: what is computed.
        window: the windows.
        parts: the positions of the start, the end and the time of windows among the keys.
        merges_sessions: whether rows have sessions of their own, which are merged here.
    """

    name = "WindowAggregate"

    def __init__(
        self,
        schema: Schema,
        source: PhysicalNode,
        keys: tuple[Typed, ...],
        calls: tuple[AggregateInvocation, ...],
        window: WindowTable,
        parts: dict[int, int],
        *,
        merges_sessions: bool,
    ) -> None:
        super().__init__(schema, source)
        self.keys, self.calls, self.window, self.parts = keys, calls, window, parts
        self._merges_sessions = merges_sessions

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the keys and a part of the window, if windows are a part of GROUP BY."""
        return _keys_of_groups(self.window, range(len(self.keys)), set(self.parts))

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        (source,) = inputs
        settings = builder.settings
        width, zone = len(self.inputs[0].schema), settings.time_zone
        plain = [key for index, key in enumerate(self.keys) if index not in self.parts]
        attribute = self.window.input.schema.types[self.window.time]
        event_time, local = attribute.time is Time.ROWTIME, zone_of(self.window, zone)
        rows = AggregatedRows(width, zone, source.changelog)
        operator: WindowAggregateOperator | SessionAggregateOperator
        if self._merges_sessions:
            operator = SessionAggregateOperator(self._sessions(rows), event_time, local)
        else:
            end = self.keys[self._part(1)]
            program = compile_window_aggregate(self.keys, end, self.calls, rows)
            operator = WindowAggregateOperator(program, event_time, local)
        edges = keyed_edges(builder, source, plain, width)
        parallelism = None if plain else 1
        return RowStream(
            builder.operator(self.name, edges, operator, parallelism=parallelism),
            changelog=False,
        )

    def _sessions(self, rows: AggregatedRows) -> Program:
        start, end = self.keys[self._part(0)], self.keys[self._part(1)]
        keys: list[Typed | None] = [
            None if self.parts.get(index) == 2 else key for index, key in enumerate(self.keys)
        ]
        return compile_session_aggregate(keys, start, end, self.calls, rows)

    def _part(self, wanted: int) -> int:
        return next(index for index, part in self.parts.items() if part == wanted)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the keys and the calls."""
        return group_origins(self.keys, self.calls, inputs[0])

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the keys, the calls, and the windows, which are among the keys."""
        zone = zone_of(self.window, time_zone)
        attribute = self.window.input.schema.types[self.window.time].time
        return {
            **group_meaning(self, self.keys, self.calls, inputs[0]),
            "time": "" if attribute is None else attribute.value,
            "zone": zone or "",
            "merges": "sessions" if self._merges_sessions else "",
        }

    def details(self) -> dict[str, str]:
        """Return the keys, the windows and the calls."""
        window = self.window
        shown = f"{window.kind.value}(size=[{window.size // 1000} ms])"
        return {"window": shown, **aggregate_details(self, self.keys, self.calls)}


class RowWindowAggregate(_AtTheEnd):
    """Gives a row for each window of a number of rows, when the window has that number.

    Args:
        schema: the columns: the keys, then the calls.
        source: the input.
        keys: what groups are made of.
        calls: what is computed.
        window: the windows.
    """

    name = "GroupWindowAggregate"

    def __init__(
        self,
        schema: Schema,
        source: PhysicalNode,
        keys: tuple[Typed, ...],
        calls: tuple[AggregateInvocation, ...],
        window: logical.RowWindow,
    ) -> None:
        super().__init__(schema, source)
        self.keys, self.calls, self.window = keys, calls, window

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        (source,) = inputs
        width, window = len(self.inputs[0].schema), self.window
        rows = AggregatedRows(width, builder.settings.time_zone, source.changelog)
        program = compile_row_window_aggregate(self.keys, self.calls, rows)
        operator = RowWindowAggregateOperator(program, window.size, window.step or window.size)
        edges = keyed_edges(builder, source, self.keys, width)
        parallelism = None if self.keys else 1
        return RowStream(
            builder.operator(self.name, edges, operator, parallelism=parallelism),
            changelog=False,
        )

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the keys and the calls."""
        return group_origins(self.keys, self.calls, inputs[0])

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the keys, the calls and the windows."""
        window = self.window
        return {
            **group_meaning(self, self.keys, self.calls, inputs[0]),
            "window": f"{window.size} rows every {window.step or window.size}",
        }

    def details(self) -> dict[str, str]:
        """Return the keys, the windows and the calls."""
        shown = aggregate_details(self, self.keys, self.calls)
        select = shown.pop("select")
        return {**shown, "window": str(self.window), "select": select}


_PARTS = 3


@dataclass(frozen=True)
class SlicedQuery:
    """An aggregate over windows, as it is over the rows before these have windows.

    Args:
        window: the windows.
        condition: which rows count.
        keys: what the result begins with: 0, 1 and 2 for the start, the end and the time of the
            window.
        calls: what is computed.
    """

    window: logical.WindowTable
    condition: Typed | None
    keys: tuple[Typed | int, ...]
    calls: tuple[AggregateInvocation, ...]


def sliced_query(node: logical.Aggregate) -> SlicedQuery | None:
    """Return an aggregate over windows as one over rows without them, or None if it cannot be."""
    columns: tuple[Typed, ...] = tuple(
        InputRef(kind, index) for index, kind in enumerate(node.input.schema.types)
    )
    conditions: list[Typed] = []
    below = node.input
    computed: list[Typed] = []
    while isinstance(below, logical.Project | logical.Filter):
        if isinstance(below, logical.Filter):
            conditions.append(below.condition)
        else:
            computed += below.expressions
            columns = tuple(substitute(item, below.expressions) for item in columns)
            conditions = [substitute(item, below.expressions) for item in conditions]
        below = below.input
    if not isinstance(below, logical.WindowTable) or below.kind is logical.WindowKind.SESSION:
        return None
    if any(not is_deterministic(item) or _is_costly(item) for item in computed):
        return None
    first = len(below.schema) - _PARTS
    keys: list[Typed | int] = []
    for key in node.keys:
        made = substitute(key, columns)
        windowed = isinstance(made, InputRef) and made.index >= first
        keys.append(made.index - first if windowed and isinstance(made, InputRef) else made)
    calls = tuple(_over(call, columns) for call in node.calls)
    used = [key for key in keys if not isinstance(key, int)] + conditions
    for call in calls:
        used += [*call.args, *([] if call.filter is None else [call.filter])]
    if any(index >= first for item in used for index in input_refs(item)):
        return None
    return SlicedQuery(below, all_of(conditions), tuple(keys), calls)


def _is_costly(expression: Typed) -> bool:
    """True for an expression that calls a user function."""
    return any(
        isinstance(part, Invocation) and not part.function.foldable for part in walk(expression)
    )


def _over(call: AggregateInvocation, columns: tuple[Typed, ...]) -> AggregateInvocation:
    condition = None if call.filter is None else substitute(call.filter, columns)
    args = tuple(substitute(arg, columns) for arg in call.args)
    return replace(call, args=args, filter=condition)


class SliceAggregate(_AtTheEnd):
    """Gives a row for each group and window, when the window ends.

    Args:
        schema: the columns: the keys, then the calls.
        source: the rows.
        query: what is computed of them.
    """

    name = "WindowAggregate"

    def __init__(self, schema: Schema, source: PhysicalNode, query: SlicedQuery) -> None:
        super().__init__(schema, source)
        self.query = query

    def program(self, zone: str, *, retracting: bool) -> tuple[Slices, Program]:
        """Return the windows, and what aggregates them.

        Args:
            zone: the session's time zone.
            retracting: whether elements are pairs of the kind and the row.

        Raises:
            NotImplementedError: the accumulators of a function cannot be merged.
        """
        query = self.query
        window = query.window
        attribute = window.input.schema.types[window.time]
        step = window.step or window.size
        slices = Slices(
            window.kind, window.time, window.size, step, window.offset,
            attribute.time is Time.PROCTIME, zone_of(window, zone),
        )  # fmt: skip
        rows = AggregatedRows(len(self.inputs[0].schema), zone, retracting)
        return slices, compile_slices(query.keys, slices, query.calls, rows)

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the keys and a part of the window, if windows are a part of GROUP BY."""
        keys = self.query.keys
        parts = {at for at, key in enumerate(keys) if isinstance(key, int)}
        return _keys_of_groups(self.query.window, range(len(keys)), parts)

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        slices, program = self.program(builder.settings.time_zone, retracting=inputs[0].changelog)
        plain = [key for key in self.query.keys if not isinstance(key, int)]
        edges = keyed_edges(builder, inputs[0], plain, len(self.inputs[0].schema))
        operator = SliceAggregateOperator(program, slices)
        parallelism = None if plain else 1
        rows = AggregatedRows(
            len(self.inputs[0].schema), builder.settings.time_zone, inputs[0].changelog
        )
        state = partial(
            MovedSlices, plain, self.query.calls, rows, slices.kind, by_clock=slices.by_clock
        )
        counterpart = Counterpart(("GlobalWindowAggregate", self.name), state)
        return RowStream(
            builder.operator(
                self.name, edges, operator, parallelism=parallelism, counterpart=counterpart
            ),
            changelog=False,
        )

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the keys and the calls."""
        columns, window = inputs[0], self.query.window
        shown = told_window(window, columns[window.time], None)
        names = window.schema.names[-_PARTS:]
        keys = [
            f"{shown}.{names[key]}" if isinstance(key, int) else told(key, columns)
            for key in self.query.keys
        ]
        return (*keys, *grouped((told_call(call, columns) for call in self.query.calls), keys))

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the keys, the windows and the calls."""
        columns, window = inputs[0], self.query.window
        plain = [key for key in self.query.keys if not isinstance(key, int)]
        return {
            **group_meaning(self, plain, self.query.calls, columns),
            "window": told_window(window, columns[window.time], zone_of(window, time_zone)),
            "shares": "slices",
        }

    def details(self) -> dict[str, str]:
        """Return the keys, the windows and the calls."""
        window = self.query.window
        shown = f"{window.kind.value}(size=[{window.size // 1000} ms])"
        plain = [key for key in self.query.keys if not isinstance(key, int)]
        return {"window": shown, **aggregate_details(self, plain, self.query.calls)}
