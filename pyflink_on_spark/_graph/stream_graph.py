"""The user's program as a graph: parallelism, partitioning and chaining decided, as Flink does."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyflink_on_spark._compat.errors import JobTranslationError
from pyflink_on_spark._compat.own_frames import CallSite
from pyflink_on_spark._runtime.contract.connector import Sink, Source
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.plan import (
    ForwardPartitioner,
    Partitioner,
    RebalancePartitioner,
)
from pyflink_on_spark._runtime.contract.state_meaning import Counterpart, StateMeaning
from pyflink_on_spark._runtime.key_groups import default_max_parallelism

if TYPE_CHECKING:
    from pyflink_on_spark.common.typeinfo import TypeInformation


_REPARTITION = (
    "You must use another partitioning strategy, such as broadcast, rebalance, shuffle or global."
)
_KEYED_UNION = (
    "The streams of a union that is keyed need one parallelism: set it for each, or put a map() "
    "between union() and key_by()."
)
_numbers = itertools.count(1)


@dataclass(frozen=True)
class GraphSettings:
    """The settings of the environment that the translation uses.

    Args:
        parallelism: for operators that have none of their own.
        max_parallelism: the number of key groups; None for the default.
        chaining: whether Flink would chain operators.
        python_chaining: whether PyFlink would chain Python functions.
        batch: whether the job runs with BATCH semantics.
    """

    parallelism: int
    max_parallelism: int | None = None
    chaining: bool = True
    python_chaining: bool = True
    batch: bool = False


@dataclass(frozen=True)
class StreamEdge:
    """An edge with its partitioning decided.

    Args:
        edge: what the reading operator asked for.
        reader: the reading operator.
        partitioner: how elements are spread.
    """

    edge: Edge
    reader: Transformation
    partitioner: Partitioner

    @property
    def forward(self) -> bool:
        """True if subtask i only sends to subtask i."""
        return isinstance(self.partitioner, ForwardPartitioner)


class StreamGraph:
    """All operators that some transformations need, in the order of the flow.

    Args:
        transformations: what has to run; what they read is found from there.
        settings: the environment's.
        beside: what the program has, too, and what does not run: PyFlink fuses no Python function
            with its only reader of the job if others read it there.

    Raises:
        JobTranslationError: if a forward edge changes the parallelism.
    """

    def __init__(
        self,
        transformations: Iterable[Transformation],
        settings: GraphSettings,
        beside: Iterable[Transformation] = (),
    ) -> None:
        self.settings = settings
        self.nodes = _in_order(transformations)
        running = set(self.nodes)
        idle = (node for node in _in_order(beside) if node not in running)
        self._read_beside = {edge.upstream for node in idle for edge in node.edges}
        self.outputs: Mapping[Transformation, list[StreamEdge]] = {n: [] for n in self.nodes}
        self.inputs: Mapping[Transformation, list[StreamEdge]] = {n: [] for n in self.nodes}
        self._readers = {edge.upstream: n for n in reversed(self.nodes) for edge in n.edges}
        for node in self.nodes:
            for edge in node.edges:
                stream_edge = StreamEdge(edge, node, self._partitioner(edge, node))
                self.inputs[node].append(stream_edge)
                self.outputs[edge.upstream].append(stream_edge)
        self._unfused = self._find_unfused()
        self._chain_heads = self._find_chains()
        self._task_names: dict[Transformation, str] = {}

    def parallelism(self, node: Transformation) -> int:
        """Return how many subtasks an operator has."""
        if not node.parallel:
            return 1
        if node.aligned is Aligned.INPUT:
            return self.parallelism(node.edges[0].upstream)
        reader = self._readers.get(node)
        if node.aligned is Aligned.READER and reader and reader.aligned is not Aligned.INPUT:
            return self.parallelism(reader)
        return node.parallelism or self.settings.parallelism

    def max_parallelism(self, node: Transformation) -> int:
        """Return how many key groups an operator has."""
        parallelism = self.parallelism(node)
        chosen = self.max_parallelism_set(node) or default_max_parallelism(parallelism)
        if parallelism > chosen:
            raise JobTranslationError(
                f"{node.name}: the parallelism {parallelism} is above the maximum parallelism "
                f"{chosen}"
            )
        return chosen

    def max_parallelism_set(self, node: Transformation) -> int | None:
        """Return how many key groups the user wants an operator to have, if that was said."""
        if not node.parallel:
            return 1
        return node.max_parallelism or self.settings.max_parallelism

    def task_max_parallelism(self, node: Transformation) -> int:
        """Return the maximum parallelism of the task in which Flink would run an operator."""
        return self.max_parallelism(self._chain_heads[node])

    def task(self, node: Transformation) -> int:
        """Return the number of the first operator of the task in which Flink would run one."""
        return self._chain_heads[node].number

    def task_name(self, node: Transformation) -> str:
        """Return the name of the task in which Flink would run an operator."""
        head = self._chain_heads[node]
        if head not in self._task_names:
            self._task_names[head] = self._chain_name(head)
        return self._task_names[head]

    def python_chained(self, edge: StreamEdge) -> bool:
        """True if PyFlink runs both ends in one Python worker, so that no type has its effect."""
        return edge.reader not in self._unfused and self._could_fuse(edge)

    def _could_fuse(self, edge: StreamEdge) -> bool:
        upstream, reader = edge.edge.upstream, edge.reader
        return (
            self.settings.python_chaining
            and upstream.python
            and reader.python
            and edge.forward
            and edge.edge.side_tag is None
            and not edge.edge.united
            and len(reader.edges) == 1
            and len(self.outputs[upstream]) == 1
            and upstream not in self._read_beside
            and reader.chaining is Chaining.ALWAYS
            and upstream.chaining is not Chaining.NEVER
            and upstream.max_parallelism == reader.max_parallelism
            and self._same_place(upstream, reader)
        )

    def _partitioner(self, edge: Edge, reader: Transformation) -> Partitioner:
        same = self.parallelism(edge.upstream) == self.parallelism(reader)
        if edge.partitioner is None:
            return ForwardPartitioner() if same else RebalancePartitioner()
        if isinstance(edge.partitioner, ForwardPartitioner) and not same:
            advice = _KEYED_UNION if reader.aligned is Aligned.INPUT else _REPARTITION
            raise JobTranslationError(
                "Forward partitioning does not allow change of parallelism. "
                f"Upstream operation: {edge.upstream.name} parallelism: "
                f"{self.parallelism(edge.upstream)}, downstream operation: {reader.name} "
                f"parallelism: {self.parallelism(reader)} {advice}"
            )
        return edge.partitioner

    def _same_place(self, upstream: Transformation, reader: Transformation) -> bool:
        return self.parallelism(upstream) == (
            1 if reader.single else self.parallelism(reader)
        ) and (upstream.slot_sharing_group or "default") == (reader.slot_sharing_group or "default")

    def chained(self, edge: StreamEdge) -> bool:
        """True if Flink runs both ends in one task."""
        upstream, reader = edge.edge.upstream, edge.reader
        return (
            self.settings.chaining
            and edge.forward
            and len(reader.edges) == 1
            and reader.chaining is Chaining.ALWAYS
            and upstream.chaining is not Chaining.NEVER
            and self._same_place(upstream, reader)
        )

    def _find_unfused(self) -> set[Transformation]:
        """Return the operators that PyFlink does not fuse with the one before them."""
        return {
            node
            for edges in self.inputs.values()
            for edge in edges
            if edge.edge.unfused
            for node in self._fusable_before(edge.edge.upstream)
        }

    def _fusable_before(self, node: Transformation) -> Iterator[Transformation]:
        while len(self.inputs[node]) == 1 and self._could_fuse(self.inputs[node][0]):
            yield node
            node = self.inputs[node][0].edge.upstream

    def _find_chains(self) -> dict[Transformation, Transformation]:
        heads: dict[Transformation, Transformation] = {}
        for node in self.nodes:
            edges = self.inputs[node]
            if len(edges) == 1 and (self.chained(edges[0]) or self.python_chained(edges[0])):
                heads[node] = heads[edges[0].edge.upstream]
            else:
                heads[node] = node
        return heads

    def _chain_name(self, node: Transformation) -> str:
        group = self.python_group(node)
        following = [
            self._chain_name(edge.reader)
            for edge in self.outputs[group[-1]]
            if self._chain_heads[edge.reader] is self._chain_heads[node]
        ]
        name = ", ".join(display_name(member) for member in group)
        if not following:
            return name
        rest = following[0] if len(following) == 1 else f"({', '.join(following)})"
        return f"{name} -> {rest}"

    def python_group(self, node: Transformation) -> list[Transformation]:
        """Return the operators that PyFlink fuses into one Python operator, from this one on."""
        group = [node]
        while True:
            outputs = self.outputs[group[-1]]
            if len(outputs) != 1 or not self.python_chained(outputs[0]):
                return group
            group.append(outputs[0].reader)


def display_name(node: Transformation) -> str:
    """Return a name as Flink shows it: sources and sinks say what they are."""
    if node.source is not None:
        return f"Source: {node.name}"
    if node.sink is not None:
        return f"Sink: {node.name}"
    return node.name


def _in_order(transformations: Iterable[Transformation]) -> list[Transformation]:
    found: dict[Transformation, None] = {}
    stack = list(transformations)
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            stack += [edge.upstream for edge in node.edges]
    return sorted(found, key=lambda node: node.number)


class Chaining(enum.Enum):
    """The chaining of an operator to the one before it."""

    ALWAYS = "always"
    HEAD = "head"
    NEVER = "never"


class Aligned(enum.Enum):
    """The source of an added operator's parallelism: the operator before or after it."""

    INPUT = "input"
    READER = "reader"


@dataclass(frozen=True, eq=False)
class Edge:
    """The input of an operator.

    Args:
        upstream: the transformation that emits it.
        type_info: the declared type of the elements; None if there is none.
        partitioner: how elements are spread; None to forward, or to rebalance where the
            parallelism changes.
        side_tag: the side output it is; None for the main output.
        port: which input of the reading operator it feeds.
        collected: whether the elements go to the driver's program, and not to another function.
        united: whether a union lies between, also one of a single stream: PyFlink fuses no Python
            functions across it.
        unfused: whether PyFlink fuses no Python functions that lead directly to it, since what is
            collected is a union or a partitioning, and no operator.
    """

    upstream: Transformation
    type_info: TypeInformation | None = None
    partitioner: Partitioner | None = None
    side_tag: str | None = None
    port: int = 0
    collected: bool = False
    united: bool = False
    unfused: bool = False


@dataclass(eq=False)
class Transformation:
    """One operator of the user's program. Only the mirror may still change its settings.

    Args:
        name: as in the execution plan.
        operator: what it does; None for a source.
        edges: what it reads.
        parallelism: None for the job's default.
        call_site: where the user added it.
        type_info: the declared type of what it emits, or None.
        python: whether PyFlink runs it in its Python worker: such operators, one directly after the
            other, hand elements over without applying declared types.
        source: where it reads from, if it is a source.
        sink: where it writes to, if it is a sink.
        single: whether Flink has one subtask of it, and so names its task for itself where the
            operator before it has several.
        state_meaning: the meaning of the state; None where the operator's kind does not tell it.
        counterpart: the operator of Flink whose state it takes over, if it is one of tables.
    """

    name: str
    operator: Operator | None
    edges: tuple[Edge, ...]
    parallelism: int | None
    call_site: CallSite | None
    type_info: TypeInformation | None = None
    python: bool = False
    source: Source | None = None
    sink: Sink | None = None
    max_parallelism: int | None = None
    uid: str | None = None
    uid_hash: str | None = None
    description: str | None = None
    chaining: Chaining = Chaining.ALWAYS
    slot_sharing_group: str | None = None
    parallel: bool = True
    aligned: Aligned | None = None
    single: bool = False
    state_meaning: StateMeaning | None = None
    counterpart: Counterpart | None = None
    side_types: dict[str, object] = field(default_factory=dict)
    """The declared type of each side output that something reads, by its id."""
    number: int = field(default_factory=lambda: next(_numbers))
