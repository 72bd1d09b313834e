"""The physical plan becomes transformations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyflink_on_spark._compat.call_site import capture_call_site
from pyflink_on_spark._graph.transformation import Aligned, Edge, Transformation
from pyflink_on_spark._runtime.contract.connector import Sink, Source
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.partitioners import Partitioner
from pyflink_on_spark._runtime.contract.state_meaning import StateMeaning
from pyflink_on_spark._runtime.operators.sink import SinkOperator
from pyflink_on_spark._sql.planner.meanings import Columns
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.settings import QuerySettings


class Translation:
    """Adds operators to a job; what two nodes read is added once.

    Args:
        settings: the session's.
    """

    def __init__(self, settings: QuerySettings) -> None:
        self.settings = settings
        self.added: list[Transformation] = []
        self._streams: dict[PhysicalNode, Stream] = {}
        self._origins: dict[PhysicalNode, Columns] = {}
        self._node: PhysicalNode | None = None
        self._call_site = capture_call_site()

    def translate(self, node: PhysicalNode) -> Stream:
        """Return what a node becomes."""
        found = self._streams.get(node)
        if found is None:
            inputs = tuple(self.translate(source) for source in node.inputs)
            self._node = node
            found = self._streams[node] = node.translate(inputs, self)
        return found

    def origins(self, node: PhysicalNode) -> Columns:
        """Return what each column of a node is made of."""
        found = self._origins.get(node)
        if found is None:
            found = self._origins[node] = node.origins(tuple(map(self.origins, node.inputs)))
        return found

    def _meaning(self) -> StateMeaning | None:
        """Return what the state of the node means that is translated."""
        node = self._node
        if node is None or self.settings.batch:
            return None
        inputs = tuple(map(self.origins, node.inputs))
        return StateMeaning(node.meaning(inputs, self.settings.time_zone), tells_all=True)

    def read(self, name: str, source: Source) -> tuple[Edge, ...]:
        """Add a source, and return how its elements are read."""
        return self._add(name, None, (), source=source, parallel=source.parallel)

    def write(self, name: str, edges: Iterable[Edge], sink: Sink, **settings: Any) -> None:
        """Add a sink."""
        (edge,) = self._add(name, None, tuple(edges), sink=sink, **settings)
        transformation = edge.upstream
        transformation.operator = SinkOperator(sink, transformation.number)

    def operator(
        self, name: str, edges: Iterable[Edge], operator: Operator, **settings: Any
    ) -> tuple[Edge, ...]:
        """Add an operator, and return how its elements are read.

        Args:
            name: as metrics and messages show it.
            edges: what it reads.
            operator: what it does.
            settings: those of a Transformation that differ from the job's.
        """
        return self._add(name, operator, tuple(edges), **settings)

    def aligned(self, name: str, edges: Iterable[Edge], operator: Operator) -> tuple[Edge, ...]:
        """Add an operator that has as many subtasks as what it reads, and return its elements."""
        return self._add(name, operator, tuple(edges), aligned=Aligned.INPUT)

    @staticmethod
    def partitioned(edges: Iterable[Edge], partitioner: Partitioner) -> tuple[Edge, ...]:
        """Return the same elements, spread in another way."""
        return tuple(
            Edge(edge.upstream, edge.type_info, partitioner, edge.side_tag) for edge in edges
        )

    @staticmethod
    def at_port(edges: Iterable[Edge], port: int) -> tuple[Edge, ...]:
        """Return the edges for a certain input of an operator."""
        return tuple(
            Edge(edge.upstream, edge.type_info, edge.partitioner, edge.side_tag, port)
            for edge in edges
        )

    def _add(
        self, name: str, operator: Operator | None, edges: tuple[Edge, ...], **settings: Any
    ) -> tuple[Edge, ...]:
        settings.setdefault("parallelism", self.settings.parallelism)
        if operator is None or operator.keyed:
            settings["state_meaning"] = self._meaning()
        transformation = Transformation(
            name=name, operator=operator, edges=edges, call_site=self._call_site, **settings
        )
        self.added.append(transformation)
        return (Edge(transformation),)
