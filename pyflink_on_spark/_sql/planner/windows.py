"""Windows of time."""

from __future__ import annotations

from pyflink_on_spark._sql.codegen.aggregates import AggregatedRows
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.codegen.window_aggregates import (
    compile_session_aggregate,
    compile_window_aggregate,
)
from pyflink_on_spark._sql.codegen.windows import compile_session_rows, compile_windows
from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.expressions import AggregateInvocation, InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import WindowTable
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.planner.aggregates import (
    aggregate_details,
    group_meaning,
    group_origins,
    keyed_edges,
)
from pyflink_on_spark._sql.planner.meanings import Columns, Content, told_rows, told_window
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.runtime.calc import CalcOperator
from pyflink_on_spark._sql.runtime.window_aggregate import (
    SessionAggregateOperator,
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

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the compiled function."""
        (source,) = inputs
        window = self.window
        kind = window.input.schema.types[window.time]
        program = compile_windows(
            window,
            zone_of(window, translation.settings.time_zone),
            by_clock=kind.time is Time.PROCTIME,
            changelog=source.changelog,
        )
        edges = translation.aligned(self.name, source.edges, CalcOperator(program))
        return Stream(edges, source.changelog)

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

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operators."""
        (source,) = inputs
        window, types = self.window, self.window.input.schema.types
        event_time = types[window.time].time is Time.ROWTIME
        local = zone_of(window, translation.settings.time_zone)
        program = compile_session_rows(
            window, local, by_clock=not event_time, changelog=source.changelog
        )
        keys = [InputRef(types[index], index) for index in window.partition or ()]
        edges = keyed_edges(translation, source, keys, len(types))
        operator = SessionAggregateOperator(program, event_time, local)
        parallelism = None if keys else 1
        return Stream(
            translation.operator(self.name, edges, operator, parallelism=parallelism),
            source.changelog,
        )


class WindowAggregate(PhysicalNode):
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

    def produces(self, inputs: tuple[ModifyKinds, ...]) -> ModifyKinds:
        """Rows come when a window ends."""
        return ModifyKinds.INSERT

    def needs_before(self, port: int, wanted: bool) -> bool:
        """An update takes the row back as it was."""
        return True

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operators."""
        (source,) = inputs
        settings = translation.settings
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
        edges = keyed_edges(translation, source, plain, width)
        parallelism = None if plain else 1
        return Stream(
            translation.operator(self.name, edges, operator, parallelism=parallelism),
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
