"""Sorts, and the first rows in an order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.state_meaning import Counterpart
from pyflink_on_spark._sql.codegen.rows import compile_sort_key, compile_value
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.plan import nodes as logical
from pyflink_on_spark._sql.plan.expressions import (
    Constant,
    Conversion,
    InputRef,
    Invocation,
    Typed,
    conjuncts,
    input_refs,
    substitute,
)
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Over, Schema, SortKey, WindowTable
from pyflink_on_spark._sql.plan.nodes import Sort as LogicalSort
from pyflink_on_spark._sql.planner.aggregates import keyed_edges
from pyflink_on_spark._sql.planner.calc import calc
from pyflink_on_spark._sql.planner.moved_in import MovedFirstRows, MovedOnlyRow
from pyflink_on_spark._sql.planner.physical import (
    Columns,
    Content,
    GraphBuilder,
    PhysicalNode,
    RowStream,
    told,
    told_all,
    told_changes,
    told_order,
    told_rows,
)
from pyflink_on_spark._sql.planner.upsert_keys import (
    ExtendedColumns,
    UpsertKeys,
    one_key,
    spread_by,
)
from pyflink_on_spark._sql.planner.windows import zone_of
from pyflink_on_spark._sql.runtime.aggregates import FirstRowOperator
from pyflink_on_spark._sql.runtime.sorting import (
    BatchTopNOperator,
    DeduplicateOperator,
    LimitOperator,
    SortOperator,
    TemporalSortOperator,
    TopNOperator,
    VariableTopNOperator,
)
from pyflink_on_spark._sql.runtime.windows import WindowTopNOperator
from pyflink_on_spark._sql.types.logical import INTEGERS, Time

if TYPE_CHECKING:
    from pyflink_on_spark._sql.planner.physical_planner import PhysicalPlanner


class Sort(PhysicalNode):
    """Gives all rows in an order: in batch mode, or in that of event time; or some rows of all.

    Args:
        source: the input.
        node: the logical node.
        batch: whether rows come at the end.
    """

    name = "Sort"

    def __init__(self, source: PhysicalNode, node: LogicalSort, batch: bool) -> None:
        super().__init__(node.schema, source)
        self.node, self._batch = node, batch
        if not node.keys:
            self.name = "Limit"

    @property
    def _limits(self) -> bool:
        """True if the node keeps some rows of a stream, in no order."""
        return not self._batch and not self.node.keys

    def accepts(self, port: int) -> ChangeKinds:
        """Rows are only added, where they have an order."""
        return ChangeKinds.ALL if self._limits else ChangeKinds.INSERT

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Where a kept row goes, another one takes its place."""
        return inputs[0] if inputs[0] is ChangeKinds.INSERT else ChangeKinds.ALL

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """An update takes the row back as it was."""
        return wanted or self._limits

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the keys that have all columns of the order."""
        return sorted_keys(inputs[0], self.inputs[0].schema, self.node.keys)

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operator."""
        (source,) = inputs
        node, zone = self.node, builder.settings.time_zone
        program = compile_sort_key(node.keys, len(self.schema), zone) if node.keys else None
        if self._batch:
            operator = SortOperator(program, node.offset, node.fetch)
            edges = builder.operator(self.name, source.edges, operator, parallelism=1)
            return RowStream(edges, changelog=False)
        keyed = keyed_edges(builder, source, (), len(self.schema))
        if program is None:
            limit = self._limit(source, builder)
            edges = builder.operator("Limit", keyed, limit, parallelism=1)
            return RowStream(edges, self.changelog)
        time = node.keys[0].value
        assert isinstance(time, InputRef)
        sort = TemporalSortOperator(program, time.index)
        edges = builder.operator("TemporalSort", keyed, sort, parallelism=1)
        return RowStream(edges, changelog=False)

    def _limit(self, source: RowStream, builder: GraphBuilder) -> LimitOperator | TopNOperator:
        node, ttl = self.node, builder.settings.state_ttl
        assert node.fetch is not None
        if not source.changelog:
            return LimitOperator(node.offset, node.fetch, ttl)
        return TopNOperator(
            compile_sort_key((), len(self.schema), builder.settings.time_zone),
            node.offset,
            node.offset + node.fetch,
            ranked=False,
            changelog=True,
            before=self.emits_update_before,
            ttl=ttl,
        )

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the order and the columns, or the number of rows."""
        node = self.node
        if not node.keys:
            assert node.fetch is not None
            ranks = f"{node.offset + 1} to {node.offset + node.fetch}"
            if not self.inputs[0].changelog:
                return {"kind": "Limit", "ranks": ranks}
            rows = told_rows(self.schema, inputs[0])
            return {"kind": "Limit", "ranks": ranks, "columns": rows, "rows": told_changes(True)}
        return {
            "kind": self.name,
            "order": told_order(node.keys, inputs[0]),
            "columns": told_rows(self.schema, inputs[0]),
        }

    def details(self) -> dict[str, str]:
        """Return the order, and which rows are left."""
        node = self.node
        order = {"orderBy": ", ".join(map(str, node.keys))} if node.keys else {}
        if not node.offset and node.fetch is None:
            return order
        fetch = {} if node.fetch is None else {"fetch": str(node.fetch)}
        return {**order, "offset": str(node.offset), **fetch}


def sorted_keys(keys: UpsertKeys, schema: Schema, order: Sequence[SortKey]) -> UpsertKeys:
    """Return the upsert keys that are left when rows are sorted.

    Args:
        keys: those of the rows.
        schema: the columns.
        order: what the order is made of.
    """
    columns = ExtendedColumns(keys, schema.types, [key.value for key in order])
    return columns.own(spread_by(columns.keys, columns.places))


@dataclass(frozen=True)
class VariableEnd:
    """The last rank that is kept, as a row says.

    Args:
        value: over the columns of a row.
        less: how much less than the value it is.
    """

    value: Typed
    less: int

    def __str__(self) -> str:
        return f"{self.value} - {self.less}" if self.less else str(self.value)


class TopN(PhysicalNode):
    """Keeps the first rows of each key, in an order.

    Args:
        schema: the columns; the rank is the last one, if it is one.
        source: the input.
        partition: which rows are together.
        keys: what the order is made of.
        offset: how many rows are left out first.
        end: the last rank that is kept; of a variable one that of the first row of each key.
        ranked: whether the rank is a column.
        batch: whether rows come at the end.
    """

    name = "Rank"

    def __init__(
        self,
        schema: Schema,
        source: PhysicalNode,
        partition: Sequence[Typed],
        keys: Sequence[SortKey],
        offset: int,
        end: int | VariableEnd,
        *,
        ranked: bool,
        batch: bool,
    ) -> None:
        super().__init__(schema, source)
        self.partition, self.keys = tuple(partition), tuple(keys)
        self.offset, self.end, self.ranked, self._batch = offset, end, ranked, batch

    @property
    def _first_by_time(self) -> bool:
        """True if the query keeps one row by time: the first or the last."""
        if (self.offset, self.end) != (0, 1) or len(self.keys) != 1:
            return False
        value = self.keys[0].value
        return isinstance(value, InputRef) and value.type.time is not None

    @property
    def _deduplicates(self) -> bool:
        """True if the node deduplicates: of a key it keeps the first or the last row by time."""
        if self._batch or self.ranked or not self._first_by_time:
            return False
        return self.inputs[0].changes is ChangeKinds.INSERT

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Rows that are no more among the first ones go."""
        if self._batch:
            return ChangeKinds.INSERT
        if self._deduplicates:
            first = self.keys[0].ascending
            return ChangeKinds.INSERT if first else ChangeKinds.INSERT | ChangeKinds.UPDATE
        return ChangeKinds.ALL

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """An update takes the row back as it was."""
        return True

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the partition and the rank, and the keys that have the whole partition."""
        return self._keys_by(self.partition, inputs[0])

    def _keys_by(self, partition: Sequence[Typed], keys: UpsertKeys) -> UpsertKeys:
        width = len(self.inputs[0].schema)
        columns = ExtendedColumns(keys, self.inputs[0].schema.types, partition)
        if (self.offset, self.end) == (0, 1) and not self.ranked:
            return columns.own(one_key(columns.places))
        kept = columns.own(spread_by(columns.keys, columns.places))
        if not self.ranked:
            return kept
        whole = all(place < width for place in columns.places)
        ranks = {frozenset((*columns.places, width))} if whole else set()
        return frozenset(ranks | (kept or set()))

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        (source,) = inputs
        width, zone = len(self.inputs[0].schema), builder.settings.time_zone
        keyed = keyed_edges(builder, source, self.partition, width)
        parallelism = None if self.partition else 1
        origins = builder.origins(self.inputs[0])
        if self._deduplicates:
            value = self.keys[0].value
            assert isinstance(value, InputRef)
            time = value.index if value.type.time is Time.ROWTIME else None
            ttl, columns = builder.settings.state_ttl, self.inputs[0].schema.types
            deduplicate: FirstRowOperator | DeduplicateOperator
            if self.keys[0].ascending and time is not None:
                deduplicate = FirstRowOperator(time, ttl)
            else:
                deduplicate = DeduplicateOperator(
                    time,
                    last=not self.keys[0].ascending,
                    before=self.emits_update_before,
                    pairs=self.changelog,
                    ttl=ttl,
                    told=[i for i, t in enumerate(columns) if t.time is not Time.PROCTIME],
                )
            seen = self.keys[0].ascending
            state = partial(MovedOnlyRow, self.partition, columns, origins, seen, zone)
            waits = isinstance(deduplicate, FirstRowOperator)
            edges = builder.operator(
                "Deduplicate",
                keyed,
                deduplicate,
                parallelism=parallelism,
                counterpart=None if waits else Counterpart(("Deduplicate",), state),
            )
            return RowStream(edges, self.changelog)
        program = compile_sort_key(self.keys, width, zone)
        counterpart = None
        if self._batch:
            assert isinstance(self.end, int)
            batch = BatchTopNOperator(program, self.offset, self.end, ranked=self.ranked)
            edges = builder.operator(self.name, keyed, batch, parallelism=parallelism)
            return RowStream(edges, changelog=False)
        settings: dict[str, Any] = {
            "ranked": self.ranked, "changelog": source.changelog,
            "before": self.emits_update_before, "ttl": builder.settings.state_ttl,
        }  # fmt: skip
        if isinstance(self.end, int):
            operator = TopNOperator(program, self.offset, self.end, **settings)
            columns = self.inputs[0].schema.types
            counterpart = Counterpart(
                (self.name,),
                partial(MovedFirstRows, self.partition, self.keys, columns, origins, zone),
            )
        else:
            end = compile_value(self.end.value, width, zone)
            operator = VariableTopNOperator(program, self.offset, end, self.end.less, **settings)
        edges = builder.operator(
            self.name, keyed, operator, parallelism=parallelism, counterpart=counterpart
        )
        return RowStream(edges, self.changelog)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the keys, the order, the ranks and the columns."""
        columns = inputs[0]
        rows = {
            "keys": told_all(self.partition, columns),
            "order": told_order(self.keys, columns),
            "columns": told_rows(self.inputs[0].schema, columns),
        }
        if self._deduplicates:
            value = self.keys[0].value
            time = "" if value.type.time is None else value.type.time.value
            return {"kind": "Deduplicate", "time": time, **rows}
        end = self.end
        if isinstance(end, VariableEnd):
            last = f"{told(end.value, columns)} - {end.less}"
        else:
            last = str(end)
        return {
            "kind": self.name,
            **rows,
            "ranks": f"{self.offset + 1} to {last}",
            "rows": told_changes(self.inputs[0].changelog),
        }

    def details(self) -> dict[str, str]:
        """Return the keys, the order and the ranks."""
        return {
            "partitionBy": ", ".join(map(str, self.partition)),
            "orderBy": ", ".join(map(str, self.keys)),
            "rankRange": f"rankStart={self.offset + 1}, rankEnd={self.end}",
        }


class SortLimit(TopN):
    """Keeps the first rows of all, whatever they are ordered by.

    Args:
        source: the input.
        node: the logical node.
        fetch: how many rows are kept.
    """

    name = "SortLimit"

    def __init__(self, source: PhysicalNode, node: LogicalSort, fetch: int) -> None:
        end = node.offset + fetch
        super().__init__(
            node.schema, source, (), node.keys, node.offset, end, ranked=False, batch=False
        )

    @property
    def _deduplicates(self) -> bool:
        return False

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the keys that have all columns of the order."""
        return sorted_keys(inputs[0], self.inputs[0].schema, self.keys)


class WindowTopN(TopN):
    """Keeps the first rows of each key, of which a window is a part.

    Args:
        top: what they are the first of.
        window: the windows.
        window_end: the position of the end of the window in the input.
        windows: the positions of all columns of windows in the input.
    """

    name = "WindowRank"

    def __init__(
        self, top: TopN, window: WindowTable, window_end: int, windows: Collection[int]
    ) -> None:
        super().__init__(
            top.schema, top.inputs[0], top.partition, top.keys, top.offset, top.end,
            ranked=top.ranked, batch=False,
        )  # fmt: skip
        self.window, self._window_end, self._windows = window, window_end, windows

    def accepts(self, port: int) -> ChangeKinds:
        """Rows are only added to windows."""
        return ChangeKinds.INSERT

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Rows come when the window ends."""
        return ChangeKinds.INSERT

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the same as for any such rows, but, as in Flink, without the windows.

        Of the one row of a window by time nothing is known.
        """
        if self._first_by_time:
            return None
        partition = [
            item
            for item in self.partition
            if not (isinstance(item, InputRef) and item.index in self._windows)
        ]
        return self._keys_by(partition, inputs[0])

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        width, zone = len(self.inputs[0].schema), builder.settings.time_zone
        keyed = keyed_edges(builder, inputs[0], self.partition, width)
        assert isinstance(self.end, int)
        operator = WindowTopNOperator(
            compile_sort_key(self.keys, width, zone),
            self.offset,
            self.end,
            ranked=self.ranked,
            window_end=self._window_end,
            last=not self.keys[0].ascending and self._first_by_time,
            event_time=self.window.input.schema.types[self.window.time].time is Time.ROWTIME,
            zone=zone_of(self.window, zone),
        )
        return RowStream(builder.operator(self.name, keyed, operator), changelog=False)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the same as for any such rows, and the windows."""
        return {**super().meaning(inputs, time_zone), "window": inputs[0][self._window_end]}


def sort(node: LogicalSort, source: PhysicalNode, batch: bool) -> PhysicalNode:
    """Return the node that sorts rows, or keeps the first ones.

    Raises:
        TableError: a stream that does not end cannot be in such an order.
    """
    if batch:
        return Sort(source, node, batch)
    if node.keys and node.fetch is not None:
        return SortLimit(source, node, node.fetch)
    if node.keys:
        first = node.keys[0]
        if first.value.type.time is not Time.ROWTIME or not isinstance(first.value, InputRef):
            raise TableError("Sort on a non-time-attribute field is not supported.")
        if not first.ascending:
            raise TableError("Primary sort order of a streaming table must be ascending on time.")
    if node.offset and node.fetch is None:
        raise TableError("FETCH is missed, which on streaming table is not supported currently.")
    return Sort(source, node, batch)


_NUMBER = "ROW_NUMBER"
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def top_n(node: logical.Project, planner: PhysicalPlanner) -> PhysicalNode | None:
    """Return the Top-N node of a projection, or None if the projection has another shape.

    The shape is a projection of a filter by the rank of a projection of a rank.
    """
    found = _rank_below(node.input)
    if found is None:
        return None
    condition, columns, rank = found
    width = len(rank.input.schema)
    batch = planner.settings.batch
    start, end, rest = _ranks(condition, width, variable=not batch)
    if end is None or any(width in input_refs(part) for part in rest):
        return None
    expressions = tuple(substitute(item, columns) for item in node.expressions)
    if start == end:
        of_row = [InputRef(kind, index) for index, kind in enumerate(rank.input.schema.types)]
        one_rank = (*of_row, Constant(rank.schema.types[width], start))
        expressions = tuple(substitute(item, one_rank) for item in expressions)
    ranked = any(width in input_refs(item) for item in expressions)
    source = planner.plan(rank.input)
    schema = rank.schema
    if not ranked:
        schema = Schema(schema.names[:-1], schema.types[:-1])
    first = TopN(
        schema, source, rank.partition, rank.keys, start - 1, end, ranked=ranked, batch=batch
    )
    top: PhysicalNode = first
    if not batch and not isinstance(end, VariableEnd):
        top = _of_windows(first, rank)
    for part in rest:
        top = calc(top.schema, top, part, None)
    return calc(node.schema, top, None, expressions)


def _ranks(
    condition: Typed, width: int, *, variable: bool
) -> tuple[int, int | VariableEnd | None, list[Typed]]:
    """Return the first and the last rank of a condition, and what else it asks for.

    Args:
        condition: over the columns of a row and its rank.
        width: how many columns a row has without its rank.
        variable: whether the row may say which rank is the last one.
    """
    start = 1
    rest: list[Typed] = []
    end: int | VariableEnd | None = None
    for part in conjuncts(condition):
        between = _between(part, width)
        if between is not None:
            start, end = between
            continue
        bound = _bound(part, width)
        said = _variable_end(part, width) if variable and bound is None else None
        if said is not None and end is None:
            end = said
            continue
        if bound is None or isinstance(end, VariableEnd):
            rest.append(part)
            continue
        operator, value = bound
        if operator == "=":
            start, end = value, value
        elif operator in {"<", "<="}:
            end = value - (operator == "<")
        else:
            start = value + (operator == ">")
    return start, end, rest


def _of_windows(top: TopN, rank: Over) -> TopN:
    """Return the same for windows, if rows of one window are counted together."""
    windows = logical.windows_of(rank.input)
    parts = {
        windows[item.index][1]: item.index
        for item in rank.partition
        if isinstance(item, InputRef) and item.index in windows
    }
    if not {0, 1} <= parts.keys():
        return top
    window, _ = windows[parts[1]]
    return WindowTopN(top, window, parts[1], frozenset(windows))


def _rank_below(
    node: logical.Node,
) -> tuple[Typed, tuple[Typed, ...], Over] | None:
    """Return the condition and the columns over a rank's rows, and the rank."""
    if not isinstance(node, logical.Filter):
        return None
    condition, below = node.condition, node.input
    columns: tuple[Typed, ...] = tuple(
        InputRef(kind, index) for index, kind in enumerate(below.schema.types)
    )
    while isinstance(below, logical.Project):
        columns = tuple(substitute(item, below.expressions) for item in columns)
        below = below.input
    if not isinstance(below, Over) or [call.function.name for call in below.calls] != [_NUMBER]:
        return None
    return substitute(condition, columns), columns, below


def _bound(part: Typed, rank: int) -> tuple[str, int] | None:
    if not isinstance(part, Invocation) or part.function.name not in _FLIPPED:
        return None
    one, two = (_plain(arg) for arg in part.args)
    name = part.function.name
    if isinstance(one, Constant):
        one, two, name = two, one, _FLIPPED[name]
    if isinstance(one, InputRef) and one.index == rank and isinstance(two, Constant):
        with suppress(TypeError, ValueError):  # a text that is no number fails when the query runs
            return name, int(two.value)
    return None


def _between(part: Typed, rank: int) -> tuple[int, int] | None:
    """Return the first and the last rank that BETWEEN gives."""
    if not isinstance(part, Invocation) or part.function.name != "BETWEEN" or part.symbols:
        return None
    value, first, last = map(_plain, part.args)
    if not isinstance(value, InputRef) or value.index != rank:
        return None
    if not isinstance(first, Constant) or not isinstance(last, Constant):
        return None
    return int(first.value), int(last.value)


def _variable_end(part: Typed, rank: int) -> VariableEnd | None:
    """Return the end that a condition gives by an expression over the row."""
    if not isinstance(part, Invocation) or part.function.name not in _FLIPPED:
        return None
    one, two = (_plain(arg) for arg in part.args)
    name = part.function.name
    if isinstance(two, InputRef) and two.index == rank:
        one, two, name = two, one, _FLIPPED[name]
    if not isinstance(one, InputRef) or one.index != rank or name not in {"<", "<="}:
        return None
    if rank in input_refs(two) or not input_refs(two) or two.type.root not in INTEGERS:
        return None
    return VariableEnd(two, int(name == "<"))


def _plain(expression: Typed) -> Typed:
    while isinstance(expression, Conversion):
        expression = expression.operand
    return expression
