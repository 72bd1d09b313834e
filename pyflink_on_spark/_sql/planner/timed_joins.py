"""Joins that time bounds: of intervals, of windows, and with versions of a table."""

from __future__ import annotations

from pyflink_on_spark._options.table import INTERVAL_JOIN_CLEANUP
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.binder.conditions import all_of
from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.joins import TemporalJoin as LogicalTemporalJoin
from pyflink_on_spark._sql.plan.nodes import Join as LogicalJoin
from pyflink_on_spark._sql.plan.time_bounds import TimeBounds
from pyflink_on_spark._sql.plan.window_columns import WindowJoinKeys
from pyflink_on_spark._sql.planner.joins import Join, JoinParts, split_condition
from pyflink_on_spark._sql.planner.meanings import Columns, Content, told_changes
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.planner.windows import zone_of
from pyflink_on_spark._sql.runtime.interval_joins import IntervalJoinOperator
from pyflink_on_spark._sql.runtime.temporal_joins import TemporalJoinOperator
from pyflink_on_spark._sql.runtime.window_joins import WindowJoinOperator
from pyflink_on_spark._sql.syntax.queries import JoinKind
from pyflink_on_spark._sql.types.logical import Time


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

    def accepts(self, port: int) -> ModifyKinds:
        """Rows are only added."""
        return ModifyKinds.INSERT

    def produces(self, inputs: tuple[ModifyKinds, ...]) -> ModifyKinds:
        """Rows without partners come when none can come any more."""
        return ModifyKinds.INSERT

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operators."""
        bounds = self.bounds
        parts = JoinParts(self.keys, self.rest, self.widths)
        condition, nulls = parts.programs(translation.settings.time_zone)
        times = (bounds.left, bounds.right) if bounds.event_time else None
        delay = INTERVAL_JOIN_CLEANUP.read(translation.settings.configuration)
        operator = IntervalJoinOperator(
            condition, self.widths, self.outer, nulls, times, bounds.lower, bounds.upper, delay
        )
        return _added(self, parts, inputs, operator, translation)

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

    def accepts(self, port: int) -> ModifyKinds:
        """Rows are only added to windows."""
        return ModifyKinds.INSERT

    def produces(self, inputs: tuple[ModifyKinds, ...]) -> ModifyKinds:
        """Rows come when the window ends."""
        return ModifyKinds.INSERT

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operators."""
        windows = self.windows
        parts = JoinParts(self.keys, self.rest, self.widths)
        zone = translation.settings.time_zone
        condition, nulls = parts.programs(zone)
        window = windows.window
        event_time = window.input.schema.types[window.time].time is Time.ROWTIME
        operator = WindowJoinOperator(
            condition, self.widths, self.outer, nulls, (windows.left, windows.right),
            event_time, zone_of(window, zone),
        )  # fmt: skip
        return _added(self, parts, inputs, operator, translation)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the same as for any join, and the windows."""
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

    def produces(self, inputs: tuple[ModifyKinds, ...]) -> ModifyKinds:
        """The changes of the rows; versions change nothing afterwards."""
        return inputs[0]

    def needs_before(self, port: int, wanted: bool) -> bool:
        """An update of a row takes it back; of versions the new one says all."""
        return port == 0

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operators."""
        node = self.node
        widths = len(self.inputs[0].schema), len(self.inputs[1].schema)
        keys, rest = split_condition(node.condition, widths[0])
        parts = JoinParts(keys, rest, widths)
        condition, (null_key, _) = parts.programs(translation.settings.time_zone)
        assert node.version is not None
        operator = TemporalJoinOperator(
            condition, widths, node.kind is JoinKind.LEFT, null_key, (node.time, node.version),
            (inputs[0].changelog, inputs[1].changelog), translation.settings.state_ttl,
        )  # fmt: skip
        return _added(self, parts, inputs, operator, translation)

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
    inputs: tuple[Stream, ...],
    operator: Operator,
    translation: Translation,
) -> Stream:
    edges = translation.operator(
        node.name, parts.edges(inputs, translation), operator, parallelism=parts.parallelism
    )
    return Stream(edges, node.changelog)
