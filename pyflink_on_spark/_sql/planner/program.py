"""From logical plans to what an environment can run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyflink_on_spark._graph.transformation import Transformation
from pyflink_on_spark._sql.depth import at_any_depth
from pyflink_on_spark._sql.plan.nodes import Node
from pyflink_on_spark._sql.planner.implementation import Implementation
from pyflink_on_spark._sql.planner.inference import infer_changes
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.pruning import pruned
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.settings import QuerySettings


@dataclass(frozen=True)
class PlannedQuery:
    """Transformations, and the streams that they give.

    Args:
        transformations: all that were added.
        streams: one for each sink.
        nodes: the physical plan's sinks.
    """

    transformations: tuple[Transformation, ...]
    streams: tuple[Stream, ...]
    nodes: tuple[PhysicalNode, ...]


@at_any_depth
def physical_plan(sinks: Sequence[Node], settings: QuerySettings) -> tuple[PhysicalNode, ...]:
    """Return how some sinks get their rows.

    Raises:
        TableError: a node cannot deal with the changes of its input.
    """
    implementation = Implementation(settings)
    nodes = tuple(map(implementation.implement, pruned(sinks)))
    infer_changes(nodes)
    return nodes


@at_any_depth
def plan(sinks: Sequence[Node], settings: QuerySettings) -> PlannedQuery:
    """Return what gives some sinks their rows.

    Args:
        sinks: the logical plans, each with a sink at its top.
        settings: the session's.

    Raises:
        TableError: a node cannot deal with the changes of its input.
    """
    nodes = physical_plan(sinks, settings)
    translation = Translation(settings)
    streams = tuple(map(translation.translate, nodes))
    return PlannedQuery(tuple(translation.added), streams, nodes)
