"""The logical plan becomes the physical one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._sql.plan import nodes as logical
from pyflink_on_spark._sql.plan.expressions import InputRef
from pyflink_on_spark._sql.planner import scans, sinks
from pyflink_on_spark._sql.planner.calc import calc
from pyflink_on_spark._sql.planner.physical import PhysicalNode
from pyflink_on_spark._sql.planner.watermarks import WatermarkAssigner
from pyflink_on_spark._sql.settings import QuerySettings
from pyflink_on_spark._sql.syntax.statements import ColumnKind

Make = Callable[[Any, "Implementation"], PhysicalNode]
"""Makes a physical node of a logical one."""


class Implementation:
    """Chooses how the nodes of a logical plan are carried out; shared ones once.

    Args:
        settings: the session's.
    """

    def __init__(self, settings: QuerySettings) -> None:
        self.settings = settings
        self._made: dict[logical.Node, PhysicalNode] = {}

    def implement(self, node: logical.Node) -> PhysicalNode:
        """Return the physical node for a logical one."""
        found = self._made.get(node)
        if found is None:
            found = self._made[node] = RULES[type(node)](node, self)
        return found


def _table_scan(node: logical.TableScan, _plan: Implementation) -> PhysicalNode:
    metadata = tuple(
        column.metadata_key or column.name
        for column in node.table.schema.of_kind(ColumnKind.METADATA)
    )
    return scans.SourceScan(node.schema, node.path, node.source, metadata)


def _project(node: logical.Project, plan: Implementation) -> PhysicalNode:
    source = plan.implement(node.input)
    return calc(node.schema, source, None, node.expressions)


def _filter(node: logical.Filter, plan: Implementation) -> PhysicalNode:
    source = plan.implement(node.input)
    return calc(node.schema, source, node.condition, None)


def _watermarks(node: logical.AssignWatermarks, plan: Implementation) -> PhysicalNode:
    source = plan.implement(node.input)
    if node.watermark is None:
        columns = [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]
        return calc(node.schema, source, None, columns)
    return WatermarkAssigner(node.schema, source, node.column, node.watermark)


def _sink(node: logical.Sink, plan: Implementation) -> PhysicalNode:
    return sinks.Sink(plan.implement(node.input), node.path, node.table, node.sink)


def _external_sink(node: logical.ExternalSink, plan: Implementation) -> PhysicalNode:
    source = plan.implement(node.input)
    return sinks.ExternalSink(source, node.name, node.changes, node.before)


def _union(node: logical.Union, plan: Implementation) -> PhysicalNode:
    return scans.Union(node.schema, *map(plan.implement, node.nodes))


RULES: dict[type[logical.Node], Make] = {
    logical.TableScan: _table_scan,
    logical.ExternalScan: lambda node, plan: scans.ExternalScan(node.schema, node.rows),
    logical.Values: lambda node, plan: scans.Values(node),
    logical.Project: _project,
    logical.Filter: _filter,
    logical.AssignWatermarks: _watermarks,
    logical.Union: _union,
    logical.Sink: _sink,
    logical.ExternalSink: _external_sink,
}
"""What makes the physical node for each kind of logical one."""
