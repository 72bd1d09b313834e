"""Window aggregates that add each row to one slice."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyflink_on_spark._sql.binder.conditions import all_of
from pyflink_on_spark._sql.codegen.aggregates import AggregatedRows
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.codegen.slices import Slices, compile_slices
from pyflink_on_spark._sql.plan import nodes as logical
from pyflink_on_spark._sql.plan.changes import ModifyKinds
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
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.planner.aggregates import aggregate_details, group_meaning, keyed_edges
from pyflink_on_spark._sql.planner.meanings import (
    Columns,
    Content,
    grouped,
    told,
    told_call,
    told_window,
)
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.planner.windows import zone_of
from pyflink_on_spark._sql.runtime.slices import SliceAggregateOperator
from pyflink_on_spark._sql.types.logical import Time

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
    """Tell whether an expression calls a function of the user's."""
    return any(
        isinstance(part, Invocation) and not part.function.foldable for part in walk(expression)
    )


def _over(call: AggregateInvocation, columns: tuple[Typed, ...]) -> AggregateInvocation:
    condition = None if call.filter is None else substitute(call.filter, columns)
    args = tuple(substitute(arg, columns) for arg in call.args)
    return replace(call, args=args, filter=condition)


class SliceAggregate(PhysicalNode):
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

    def produces(self, inputs: tuple[ModifyKinds, ...]) -> ModifyKinds:
        """Rows come when a window ends."""
        return ModifyKinds.INSERT

    def needs_before(self, port: int, wanted: bool) -> bool:
        """An update takes the row back as it was."""
        return True

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

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operators."""
        slices, program = self.program(
            translation.settings.time_zone, retracting=inputs[0].changelog
        )
        plain = [key for key in self.query.keys if not isinstance(key, int)]
        edges = keyed_edges(translation, inputs[0], plain, len(self.inputs[0].schema))
        operator = SliceAggregateOperator(program, slices)
        parallelism = None if plain else 1
        return Stream(
            translation.operator(self.name, edges, operator, parallelism=parallelism),
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
