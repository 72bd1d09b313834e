"""Joins of two inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pyflink_on_spark._graph.stream_graph import Edge
from pyflink_on_spark._options.flink import INTERVAL_JOIN_CLEANUP
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.state_meaning import Counterpart
from pyflink_on_spark._sql.binder.expressions import all_of, invoke
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.codegen.rows import compile_condition
from pyflink_on_spark._sql.functions.catalog import builtin_functions
from pyflink_on_spark._sql.plan.expressions import (
    Invocation,
    Typed,
    conjuncts,
    convert,
    input_refs,
    shifted,
)
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, WindowJoinKeys
from pyflink_on_spark._sql.plan.nodes import Join as LogicalJoin
from pyflink_on_spark._sql.plan.nodes import SemiJoin as LogicalSemiJoin
from pyflink_on_spark._sql.plan.nodes import TemporalJoin as LogicalTemporalJoin
from pyflink_on_spark._sql.plan.time_conditions import TimeBounds
from pyflink_on_spark._sql.planner.aggregates import keyed_edges
from pyflink_on_spark._sql.planner.calc import shown_expression
from pyflink_on_spark._sql.planner.moved_in import MovedJoin
from pyflink_on_spark._sql.planner.physical import (
    Columns,
    Content,
    GraphBuilder,
    PhysicalNode,
    RowStream,
    told,
    told_changes,
    told_rows,
    told_typed,
)
from pyflink_on_spark._sql.planner.upsert_keys import (
    ExtendedColumns,
    UpsertKeys,
    are_unique,
    joined,
    spread_by,
)
from pyflink_on_spark._sql.planner.windows import zone_of
from pyflink_on_spark._sql.runtime.joins import (
    BatchJoinOperator,
    BatchSemiJoinOperator,
    JoinOperator,
    SemiJoinOperator,
)
from pyflink_on_spark._sql.runtime.timed_joins import (
    IntervalJoinOperator,
    TemporalJoinOperator,
    WindowJoinOperator,
    WindowSemiJoinOperator,
)
from pyflink_on_spark._sql.syntax.queries import JoinKind
from pyflink_on_spark._sql.types.coercion import comparable_type
from pyflink_on_spark._sql.types.logical import LogicalType, Root, Time

_EQUALITIES = frozenset({"=", "IS NOT DISTINCT FROM"})


@dataclass(frozen=True)
class JoinParts:
    """The equal keys of a join, and the rest of its condition.

    Args:
        keys: pairs of what has to be equal, over the columns of the left and of the right side.
        rest: the rest of the condition, over the columns of both.
        widths: how many columns both sides have.
    """

    keys: Sequence[tuple[Typed, Typed]]
    rest: Typed | None
    widths: tuple[int, int]

    @property
    def parallelism(self) -> int | None:
        """One, if rows with all keys have to meet."""
        return None if self.keys else 1

    def edges(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> tuple[Edge, ...]:
        """Return the rows of both inputs with their keys, spread by them."""
        left, right = inputs
        one, two = self._sides()
        return (
            *keyed_edges(builder, left, one, self.widths[0]),
            *builder.at_port(keyed_edges(builder, right, two, self.widths[1]), 1),
        )

    def meaning(
        self, kind: str, nodes: tuple[PhysicalNode, ...], inputs: tuple[Columns, ...]
    ) -> Content:
        """Return the meaning of the rows that a join keeps of both sides.

        Args:
            kind: which rows without partners are kept.
            nodes: both sides.
            inputs: what their columns are made of.
        """
        left, right = inputs
        one, two = (told_rows(node.schema, columns) for node, columns in zip(nodes, inputs))
        rest = [] if self.rest is None else [told(self.rest, (*left, *right))]
        return {
            "type": kind,
            "condition": [
                *(_told_keys(pair, left, right) for pair in self.keys), *rest,
            ],
            "left columns": one,
            "right columns": two,
        }  # fmt: skip

    def programs(self, zone: str) -> tuple[Program | None, tuple[Program | None, Program | None]]:
        """Return the rest of the condition, and for each side whether a key has NULL."""
        condition = None
        if self.rest is not None:
            condition = compile_condition(self.rest, self.widths, zone)
        checked = [pair for pair in self.keys if not isinstance(pair, KeysWithNull)]
        return condition, (
            _null_check([one for one, _ in checked], self.widths[0], zone),
            _null_check([two for _, two in checked], self.widths[1], zone),
        )

    def counterpart(
        self,
        nodes: tuple[PhysicalNode, ...],
        partners: tuple[bool, bool],
        builder: GraphBuilder,
        *,
        only_keys: bool = False,
    ) -> Counterpart:
        """Return the join of Flink whose state can be taken over.

        Args:
            nodes: both sides.
            partners: for both sides whether each row has the number of its partners.
            builder: adds operators.
            only_keys: whether nothing of the right rows matters but their keys.
        """
        left, right = nodes
        state = partial(
            MovedJoin,
            self.keys,
            (left.schema.types, right.schema.types),
            (builder.origins(left), builder.origins(right)),
            partners,
            builder.settings.time_zone,
            only_keys=only_keys,
        )
        return Counterpart(("Join",), state)

    def upsert_keys(
        self, kind: JoinKind, nodes: tuple[PhysicalNode, ...], inputs: tuple[UpsertKeys, ...]
    ) -> UpsertKeys:
        """Return the upsert keys of pairs of rows.

        Args:
            kind: which rows without partners are kept.
            nodes: both sides.
            inputs: the keys of both sides.
        """
        left, right = (
            ExtendedColumns(keys, node.schema.types, values)
            for keys, node, values in zip(inputs, nodes, self._sides())
        )
        sides = spread_by(left.keys, left.places), spread_by(right.keys, right.places)
        unique = are_unique(sides[0], left.places), are_unique(sides[1], right.places)
        own = left.own(sides[0]), right.own(sides[1])
        return joined(kind, own, unique, self.widths[0])

    def left_upsert_keys(
        self, nodes: tuple[PhysicalNode, ...], inputs: tuple[UpsertKeys, ...]
    ) -> UpsertKeys:
        """Return the upsert keys of the left rows, spread by what has to be equal."""
        left = ExtendedColumns(inputs[0], nodes[0].schema.types, self._sides()[0])
        return left.own(spread_by(left.keys, left.places))

    @staticmethod
    def maps(nodes: tuple[PhysicalNode, ...]) -> tuple[bool, bool]:
        """Return True for the sides whose rows hold values of MAP or MULTISET."""
        left, right = (any(map(_holds_maps, node.schema.types)) for node in nodes)
        return left, right

    def _sides(self) -> tuple[list[Typed], list[Typed]]:
        return [key for key, _ in self.keys], [key for _, key in self.keys]


def _holds_maps(kind: LogicalType) -> bool:
    return kind.root in {Root.MAP, Root.MULTISET} or any(map(_holds_maps, kind.children))


class Join(PhysicalNode):
    """Gives the pairs of rows for which a condition is TRUE.

    Args:
        left: the first input.
        right: the second input.
        node: the logical node.
        batch: whether rows come at the end.
    """

    name = "Join"

    def __init__(
        self, left: PhysicalNode, right: PhysicalNode, node: LogicalJoin, batch: bool
    ) -> None:
        super().__init__(node.schema, left, right)
        self.node, self._batch = node, batch
        self.widths = len(left.schema), len(right.schema)
        self.keys, self.rest = split_condition(node.condition, self.widths[0])

    @property
    def outer(self) -> tuple[bool, bool]:
        """For both sides: True if rows without partners are kept."""
        kind = self.node.kind
        return kind in {JoinKind.LEFT, JoinKind.FULL}, kind in {JoinKind.RIGHT, JoinKind.FULL}

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Rows go when partners come to rows that had none."""
        if self._batch:
            return ChangeKinds.INSERT
        left, right = inputs
        changes = left | right
        if any(self.outer):
            changes = ChangeKinds.INSERT | ChangeKinds.DELETE | (changes & ChangeKinds.UPDATE)
        elif changes is not ChangeKinds.INSERT:
            changes |= ChangeKinds.DELETE
        return changes

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """An update takes the row back as it was."""
        return True

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the keys of both sides together, or of one where the other is unique."""
        parts = JoinParts(self.keys, self.rest, self.widths)
        return parts.upsert_keys(self.node.kind, self.inputs, inputs)

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        left, right = inputs
        parts = JoinParts(self.keys, self.rest, self.widths)
        edges, parallelism = parts.edges(inputs, builder), parts.parallelism
        condition, nulls = parts.programs(builder.settings.time_zone)
        if self._batch:
            batch = BatchJoinOperator(condition, self.widths, self.outer, nulls)
            edges = builder.operator(self.name, edges, batch, parallelism=parallelism)
            return RowStream(edges, changelog=False)
        changelogs = left.changelog, right.changelog
        operator = JoinOperator(
            condition,
            self.widths,
            self.outer,
            changelogs,
            nulls,
            self.changelog,
            builder.settings.state_ttl,
            parts.maps(self.inputs),
        )
        counterpart = parts.counterpart(self.inputs, self.outer, builder)
        edges = builder.operator(
            self.name, edges, operator, parallelism=parallelism, counterpart=counterpart
        )
        return RowStream(edges, self.changelog)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the kind, the condition and the columns of both sides."""
        parts = JoinParts(self.keys, self.rest, self.widths)
        kind = "INNER" if self.node.kind is JoinKind.CROSS else self.node.kind.value
        return {"kind": self.name, **parts.meaning(kind, self.inputs, inputs)}

    def details(self) -> dict[str, str]:
        """Return the kind and the condition."""
        condition = self.node.condition
        names = (*self.inputs[0].schema.names, *self.inputs[1].schema.names)
        shown = "true" if condition is None else shown_expression(condition, names)
        return {
            "joinType": f"{self.node.kind.value.title()}Join",
            "where": shown,
            "select": ", ".join(self.schema.names),
        }


class KeysWithNull(tuple[Typed, Typed]):
    """Keys of both sides that have to be equal, where NULL equals NULL."""

    __slots__ = ()


def _told_keys(pair: tuple[Typed, Typed], left: Columns, right: Columns) -> str:
    sign = "IS NOT DISTINCT FROM" if isinstance(pair, KeysWithNull) else "="
    return f"{told_typed(pair[0], left)} {sign} {told_typed(pair[1], right)}"


def split_condition(
    condition: Typed | None, width: int
) -> tuple[list[tuple[Typed, Typed]], Typed | None]:
    """Return the pairs of columns that have to be equal, and the rest of a condition."""
    keys: list[tuple[Typed, Typed]] = []
    rest: list[Typed] = []
    for part in conjuncts(condition):
        pair = _equality(part, width)
        if pair is None:
            rest.append(part)
        else:
            keys.append(pair)
    return keys, all_of(rest)


def _equality(part: Typed, width: int) -> tuple[Typed, Typed] | None:
    if not isinstance(part, Invocation) or part.function.name not in _EQUALITIES:
        return None
    one, two = part.args
    if _side(one, width) == 1 and _side(two, width) == 0:
        one, two = two, one
    if _side(one, width) != 0 or _side(two, width) != 1:
        return None
    common = comparable_type([one.type, two.type])
    if common is None:
        return None
    pair = convert(one, common), shifted(convert(two, common), -width)
    return pair if part.function.name == "=" else KeysWithNull(pair)


def _side(expression: Typed, width: int) -> int | None:
    refs = input_refs(expression)
    if refs and all(index < width for index in refs):
        return 0
    return 1 if refs and all(index >= width for index in refs) else None


def _null_check(keys: Sequence[Typed], width: int, time_zone: str) -> Program | None:
    nullable = [key for key in keys if key.type.nullable]
    if not nullable:
        return None
    functions = builtin_functions()
    check = invoke(functions["IS NULL"], [nullable[0]])
    for key in nullable[1:]:
        check = invoke(functions["OR"], [check, invoke(functions["IS NULL"], [key])])
    return compile_condition(check, [width], time_zone)


class SemiJoin(PhysicalNode):
    """Gives the rows that have a partner, or those that have none.

    Args:
        left: the first input.
        right: the second input.
        node: the logical node.
        batch: whether rows come at the end.
    """

    name = "Join"

    def __init__(
        self, left: PhysicalNode, right: PhysicalNode, node: LogicalSemiJoin, batch: bool
    ) -> None:
        super().__init__(node.schema, left, right)
        self.node, self._batch = node, batch

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Rows go when partners go, or come."""
        if self._batch:
            return ChangeKinds.INSERT
        left, right = inputs
        if right is ChangeKinds.INSERT and not self.node.anti:
            return left
        return left | right | ChangeKinds.DELETE

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """An update takes the row back as it was."""
        return True

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the keys of the left rows."""
        widths = len(self.inputs[0].schema), len(self.inputs[1].schema)
        parts = JoinParts(*split_condition(self.node.condition, widths[0]), widths)
        return parts.left_upsert_keys(self.inputs, inputs)

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        widths = len(self.inputs[0].schema), len(self.inputs[1].schema)
        keys, rest = split_condition(self.node.condition, widths[0])
        parts = JoinParts(keys, rest, widths)
        condition, nulls = parts.programs(builder.settings.time_zone)
        operator: SemiJoinOperator | BatchSemiJoinOperator
        if self._batch:
            operator = BatchSemiJoinOperator(condition, widths, self.node.anti, nulls)
        else:
            changelogs = inputs[0].changelog, inputs[1].changelog
            operator = SemiJoinOperator(
                condition, widths, self.node.anti, changelogs, nulls, self.changelog,
                builder.settings.state_ttl, parts.maps(self.inputs),
            )  # fmt: skip
        counterpart = parts.counterpart(
            self.inputs,
            (True, False),
            builder,
            only_keys=rest is None and not inputs[1].changelog,
        )
        edges = builder.operator(
            self.name,
            parts.edges(inputs, builder),
            operator,
            parallelism=parts.parallelism,
            counterpart=counterpart,
        )
        return RowStream(edges, self.changelog)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the kind, the condition and the columns of both sides."""
        widths = len(self.inputs[0].schema), len(self.inputs[1].schema)
        parts = JoinParts(*split_condition(self.node.condition, widths[0]), widths)
        kind = "ANTI" if self.node.anti else "SEMI"
        return {"kind": self.name, **parts.meaning(kind, self.inputs, inputs)}

    def details(self) -> dict[str, str]:
        """Return the kind and the condition."""
        condition = self.node.condition
        names = (*self.inputs[0].schema.names, *self.inputs[1].schema.names)
        shown = "true" if condition is None else shown_expression(condition, names)
        return {
            "joinType": "LeftAntiJoin" if self.node.anti else "LeftSemiJoin",
            "where": shown,
            "select": ", ".join(self.schema.names),
        }


class IntervalJoin(Join):
    """Gives the pairs of rows whose times are close to each other.

    Args:
        left: the first input.
        right: the second input.
        node: the logical node.
        bounds: how close.
    """

    name = "IntervalJoin"

    def __init__(
        self, left: PhysicalNode, right: PhysicalNode, node: LogicalJoin, bounds: TimeBounds
    ) -> None:
        super().__init__(left, right, node, batch=False)
        self.bounds = bounds
        self.keys, self.rest = split_condition(all_of(bounds.rest), self.widths[0])

    def accepts(self, port: int) -> ChangeKinds:
        """Rows are only added."""
        return ChangeKinds.INSERT

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Rows without partners come when none can come any more."""
        return ChangeKinds.INSERT

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the same as for any join: the bounds may be an equality."""
        parts = JoinParts(*split_condition(self.node.condition, self.widths[0]), self.widths)
        return parts.upsert_keys(self.node.kind, self.inputs, inputs)

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        bounds = self.bounds
        parts = JoinParts(self.keys, self.rest, self.widths)
        condition, nulls = parts.programs(builder.settings.time_zone)
        times = (bounds.left, bounds.right) if bounds.event_time else None
        delay = INTERVAL_JOIN_CLEANUP.read(builder.settings.configuration)
        operator = IntervalJoinOperator(
            condition, self.widths, self.outer, nulls, times, bounds.lower, bounds.upper, delay
        )
        return _added(self, parts, inputs, operator, builder)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the same as for any join, and the bounds."""
        bounds = self.bounds
        attribute = "ROWTIME" if bounds.event_time else "PROCTIME"
        return {
            **super().meaning(inputs, time_zone),
            "times": [inputs[0][bounds.left], inputs[1][bounds.right], attribute],
            "bounds": f"from {bounds.lower // 1000} to {bounds.upper // 1000} ms",
        }

    def details(self) -> dict[str, str]:
        """Return the kind, the bounds and the condition."""
        bounds = self.bounds
        shown = (
            f"isRowTime={str(bounds.event_time).lower()}, leftLowerBound={-bounds.upper // 1000}, "
            f"leftUpperBound={-bounds.lower // 1000}"
        )
        return {"windowBounds": shown, **super().details()}


class WindowJoin(Join):
    """Gives the pairs of rows of the same window, when the window ends.

    Args:
        left: the first input.
        right: the second input.
        node: the logical node.
        windows: the windows.
    """

    name = "WindowJoin"

    def __init__(
        self, left: PhysicalNode, right: PhysicalNode, node: LogicalJoin, windows: WindowJoinKeys
    ) -> None:
        super().__init__(left, right, node, batch=False)
        self.windows = windows
        self.keys, self.rest = split_condition(all_of(windows.rest), self.widths[0])

    def accepts(self, port: int) -> ChangeKinds:
        """Rows are only added to windows."""
        return ChangeKinds.INSERT

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Rows come when the window ends."""
        return ChangeKinds.INSERT

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        windows = self.windows
        parts = JoinParts(self.keys, self.rest, self.widths)
        zone = builder.settings.time_zone
        condition, nulls = parts.programs(zone)
        window = windows.window
        event_time = window.input.schema.types[window.time].time is Time.ROWTIME
        operator = WindowJoinOperator(
            condition, self.widths, self.outer, nulls, (windows.left, windows.right),
            event_time, zone_of(window, zone),
        )  # fmt: skip
        return _added(self, parts, inputs, operator, builder)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the same as for any join, and the windows."""
        windows = self.windows
        return {
            **super().meaning(inputs, time_zone),
            "windows": [inputs[0][windows.left], inputs[1][windows.right]],
        }


class WindowSemiJoin(SemiJoin):
    """Gives the rows that have a partner in their window, or those that have none, at its end.

    Args:
        left: the first input.
        right: the second input.
        node: the logical node.
        windows: the windows.
    """

    name = "WindowJoin"

    def __init__(
        self,
        left: PhysicalNode,
        right: PhysicalNode,
        node: LogicalSemiJoin,
        windows: WindowJoinKeys,
    ) -> None:
        super().__init__(left, right, node, batch=False)
        self.windows = windows

    def accepts(self, port: int) -> ChangeKinds:
        """Rows are only added to windows."""
        return ChangeKinds.INSERT

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Rows come when the window ends."""
        return ChangeKinds.INSERT

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        windows, zone = self.windows, builder.settings.time_zone
        widths = len(self.inputs[0].schema), len(self.inputs[1].schema)
        parts = JoinParts(*split_condition(all_of(windows.rest), widths[0]), widths)
        condition, nulls = parts.programs(zone)
        window = windows.window
        event_time = window.input.schema.types[window.time].time is Time.ROWTIME
        operator = WindowSemiJoinOperator(
            condition, widths, self.node.anti, nulls, (windows.left, windows.right),
            event_time, zone_of(window, zone),
        )  # fmt: skip
        return _added(self, parts, inputs, operator, builder)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the same as for any such join, and the windows."""
        windows = self.windows
        return {
            **super().meaning(inputs, time_zone),
            "windows": [inputs[0][windows.left], inputs[1][windows.right]],
        }


class TemporalJoin(PhysicalNode):
    """Gives each row with the version that another table had at its time.

    Args:
        left: the rows.
        right: the versions.
        node: the logical node.
    """

    name = "TemporalJoin"

    def __init__(self, left: PhysicalNode, right: PhysicalNode, node: LogicalTemporalJoin) -> None:
        super().__init__(node.schema, left, right)
        self.node = node

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """The changes of the rows; versions change nothing afterwards."""
        return inputs[0]

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """An update of a row takes it back; of versions the new one says all."""
        return port == 0

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the same as for any join."""
        widths = len(self.inputs[0].schema), len(self.inputs[1].schema)
        parts = JoinParts(*split_condition(self.node.condition, widths[0]), widths)
        return parts.upsert_keys(self.node.kind, self.inputs, inputs)

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        node = self.node
        widths = len(self.inputs[0].schema), len(self.inputs[1].schema)
        keys, rest = split_condition(node.condition, widths[0])
        parts = JoinParts(keys, rest, widths)
        condition, (null_key, _) = parts.programs(builder.settings.time_zone)
        assert node.version is not None
        operator = TemporalJoinOperator(
            condition, widths, node.kind is JoinKind.LEFT, null_key, (node.time, node.version),
            (inputs[0].changelog, inputs[1].changelog), builder.settings.state_ttl,
        )  # fmt: skip
        return _added(self, parts, inputs, operator, builder)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the kind, the condition, the columns of both sides, and their times."""
        node = self.node
        widths = len(self.inputs[0].schema), len(self.inputs[1].schema)
        parts = JoinParts(*split_condition(node.condition, widths[0]), widths)
        version = [] if node.version is None else [inputs[1][node.version]]
        return {
            "kind": self.name,
            **parts.meaning(node.kind.value, self.inputs, inputs),
            "times": [inputs[0][node.time], *version],
            "left rows": told_changes(self.inputs[0].changelog),
        }

    def details(self) -> dict[str, str]:
        """Return the kind and the condition."""
        return {
            "joinType": f"{self.node.kind.value.title()}Join",
            "where": str(self.node.condition),
            "select": ", ".join(self.schema.names),
        }


def _added(
    node: PhysicalNode,
    parts: JoinParts,
    inputs: tuple[RowStream, ...],
    operator: Operator,
    builder: GraphBuilder,
) -> RowStream:
    edges = builder.operator(
        node.name, parts.edges(inputs, builder), operator, parallelism=parts.parallelism
    )
    return RowStream(edges, node.changelog)
