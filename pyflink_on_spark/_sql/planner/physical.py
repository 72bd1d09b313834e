"""Physical nodes, and how they become operators of a job's graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.own_frames import capture_call_site
from pyflink_on_spark._graph.stream_graph import Aligned, Edge, Transformation
from pyflink_on_spark._runtime.contract.connector import Sink, Source
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.plan import Partitioner
from pyflink_on_spark._runtime.contract.state_meaning import Counterpart, StateMeaning
from pyflink_on_spark._runtime.operators.sink import SinkOperator
from pyflink_on_spark._sql.plan.changes import ChangeKinds
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.planner.meanings import Columns, Content, told_rows
from pyflink_on_spark._sql.settings import QuerySettings

if TYPE_CHECKING:
    from pyflink_on_spark._sql.errors import Span


class GraphBuilder:
    """Adds operators to a job; what two nodes read is added once.

    Args:
        settings: the session's.
    """

    def __init__(self, settings: QuerySettings) -> None:
        self.settings = settings
        self.added: list[Transformation] = []
        self._streams: dict[PhysicalNode, RowStream] = {}
        self._origins: dict[PhysicalNode, Columns] = {}
        self._node: PhysicalNode | None = None
        self._call_site = capture_call_site()

    def translate(self, node: PhysicalNode) -> RowStream:
        """Return the stream of a node."""
        found = self._streams.get(node)
        if found is None:
            inputs = tuple(self.translate(source) for source in node.inputs)
            self._node = node
            found = self._streams[node] = node.translate(inputs, self)
        return found

    def origins(self, node: PhysicalNode) -> Columns:
        """Return the origin of each column of a node."""
        found = self._origins.get(node)
        if found is None:
            found = self._origins[node] = node.origins(tuple(map(self.origins, node.inputs)))
        return found

    def _meaning(self) -> StateMeaning | None:
        """Return the meaning of the state of the node in builder."""
        node = self._node
        if node is None or self.settings.batch:
            return None
        inputs = tuple(map(self.origins, node.inputs))
        return StateMeaning(node.meaning(inputs, self.settings.time_zone), tells_all=True)

    def read(
        self, name: str, source: Source, counterpart: Counterpart | None = None
    ) -> tuple[Edge, ...]:
        """Add a source, and return how its elements are read."""
        return self._add(
            name, None, (), source=source, parallel=source.parallel, counterpart=counterpart
        )

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
        """Add an operator with as many subtasks as its input, and return its elements."""
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


@dataclass(frozen=True)
class RowStream:
    """The output of a translated node: rows, or pairs of the row kind and the row.

    Args:
        edges: how the next operator reads it; several for a union.
        changelog: whether elements are pairs.
    """

    edges: tuple[Edge, ...]
    changelog: bool


class PhysicalNode(ABC):
    """A step of a plan. Each knows which changes it makes and needs, and becomes operators.

    Args:
        schema: the columns of its rows.
        inputs: the nodes that it reads.
    """

    name: str = ""
    """As plans and messages show it, ``Calc`` for example."""

    span: Span | None = None
    """Where a SQL text says it, if messages are to tell."""

    def __init__(self, schema: Schema, *inputs: PhysicalNode) -> None:
        self.schema = schema
        self.inputs: tuple[PhysicalNode, ...] = inputs
        self.changes = ChangeKinds.INSERT
        """Which changes its rows are; set when changes are inferred."""
        self.emits_update_before = False
        """True if each update has its UPDATE_BEFORE row; set when changes are inferred."""

    @property
    def changelog(self) -> bool:
        """True if elements are pairs of the row kind and the row."""
        return self.changes is not ChangeKinds.INSERT

    # -- changes ---------------------------------------------------------------------------------

    def accepts(self, port: int) -> ChangeKinds:
        """Return which changes of an input it can deal with."""
        return ChangeKinds.ALL

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Return which changes it makes of certain changes of its inputs."""
        union = ChangeKinds.INSERT
        for changes in inputs:
            union |= changes
        return union

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """True if the node needs the UPDATE_BEFORE rows of an input.

        Args:
            port: which input.
            wanted: whether the node that reads this one wants to know it.
        """
        return wanted

    def can_emit_update_before(self) -> bool:
        """True if the node can emit UPDATE_BEFORE rows with its updates."""
        return True

    # -- builder -----------------------------------------------------------------------------

    @abstractmethod
    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add operators, and return their output.

        Args:
            inputs: what the inputs have become.
            builder: adds operators.
        """

    # -- meaning of state -------------------------------------------------------------------------

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the origins of the columns: the unchanged ones of the inputs come first.

        Args:
            inputs: the same of each input.
        """
        before = tuple(column for columns in inputs for column in columns)[: len(self.schema)]
        return (*before, *(f"{self.name}.{name}" for name in self.schema.names[len(before) :]))

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the meaning of the operator's state, for an operator with state.

        Two queries may continue with each other's state if this is the same for both.

        Args:
            inputs: what the columns of each input are made of.
            time_zone: the session's, by name.
        """
        rows = [told_rows(node.schema, columns) for node, columns in zip(self.inputs, inputs)]
        return {
            "kind": self.name,
            **self.details(),
            **{f"input {port}": each for port, each in enumerate(rows, 1)},
        }

    # -- explanation -----------------------------------------------------------------------------

    def details(self) -> dict[str, str]:
        """Return the details that plans show, by keyword."""
        return {}

    def describe(self) -> str:
        """Describe the node in one line, as plans and messages show it."""
        parts = ", ".join(f"{key}=[{value}]" for key, value in self.details().items())
        return f"{self.name}({parts})"

    def describe_short(self) -> str:
        """Return the name in messages that refuse the changes of its input."""
        return f"StreamPhysical{self.name}"

    def __str__(self) -> str:
        return self.describe()


def walk(node: PhysicalNode) -> Iterator[PhysicalNode]:
    """Yield a node and all that it reads, directly or not."""
    yield node
    for each in node.inputs:
        yield from walk(each)
