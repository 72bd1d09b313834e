"""The physical graph: the user's operators and the engine's own, their stages and state names."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyflink_on_spark._compat.errors import JobTranslationError
from pyflink_on_spark._graph.stream_graph import (
    StreamEdge,
    StreamGraph,
    Transformation,
    display_name,
)
from pyflink_on_spark._runtime.contract.connector import Sink
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.plan import (
    CustomPartitioner,
    ExchangePlan,
    ForwardPartitioner,
    GlobalPartitioner,
    HashPartitioner,
    InputChannel,
    LocalPlan,
    OperatorChainPlan,
    OperatorPlan,
    OutputPlan,
    Partitioner,
    StagePlan,
    VertexPlan,
)
from pyflink_on_spark._runtime.contract.state_meaning import StateMeaning
from pyflink_on_spark._runtime.elements.time import WatermarkRhythm
from pyflink_on_spark._runtime.operators.rolling import BatchKeyedInput, RollingOperator
from pyflink_on_spark._runtime.operators.stateless import (
    ConvertOperator,
    CopyMutableOperator,
    FilterOperator,
    KeyedFilterOperator,
    PartitionOperator,
    SelectKeyOperator,
    SinkOperator,
)
from pyflink_on_spark._runtime.types.converters import boundary_converter

if TYPE_CHECKING:
    from pyflink_on_spark.common.typeinfo import TypeInformation


@dataclass(eq=False)
class PhysicalNode:
    """One operator, the user's or the engine's, in its place.

    Args:
        plan: the operator; None for a bare source.
        origin: the user's operator that it belongs to.
        parallelism: how many subtasks it has.
        state_id: the stable name of the user's operator's state.
        stage: the largest number of exchanges on a path from a source.
        timestamped: whether what it emits has timestamps.
        fresh: whether nothing else can hold on to what it emits.
        already_typed: the type to which what it emits was converted already, or None.
        surely_typed: the same where a conversion of the engine, or a source, made sure of it.
    """

    plan: OperatorPlan | None
    origin: Transformation
    parallelism: int
    state_id: str = ""
    stage: int = 0
    timestamped: bool = False
    fresh: bool = False
    already_typed: TypeInformation | None = None
    surely_typed: object = None
    inputs: list[PhysicalEdge] = field(default_factory=list)
    outputs: list[PhysicalEdge] = field(default_factory=list)

    @property
    def emits_pairs(self) -> bool:
        """True if the operator emits pairs of key and value."""
        return self.operator is not None and self.operator.emits_pairs

    @property
    def operator(self) -> Operator | None:
        """The operator, or None for a bare source."""
        return self.plan.operator if self.plan else None


@dataclass(eq=False)
class PhysicalEdge:
    """An edge between two steps.

    Args:
        sender: from where.
        receiver: to where.
        partitioner: how they are spread, if they leave the subtask.
        port: which input of the receiver.
        side_tag: which side output of the sender; None for its main output.
    """

    sender: PhysicalNode
    receiver: PhysicalNode
    partitioner: Partitioner
    port: int = 0
    side_tag: str | None = None

    @property
    def could_be_local(self) -> bool:
        """True if no element has to leave its subtask."""
        return self.could_be_local_with(self.receiver.parallelism)

    def could_be_local_with(self, receivers: int) -> bool:
        """True if no element has to leave its subtask, for a receiver of that parallelism."""
        if isinstance(self.partitioner, CustomPartitioner):
            return False
        if self.sender.parallelism == receivers == 1:
            return True
        forward = isinstance(self.partitioner, ForwardPartitioner)
        return forward and self.sender.parallelism == receivers

    @property
    def local(self) -> bool:
        """True if the edge stays inside its subtask."""
        return self.could_be_local and self.sender.stage == self.receiver.stage


def build_physical_graph(graph: StreamGraph, rhythm: WatermarkRhythm) -> list[PhysicalNode]:
    """Return all nodes of a program, in the order of the flow, with their stages.

    Args:
        graph: the program.
        rhythm: how often watermarks are emitted.

    Raises:
        JobTranslationError: if two operators were given one uid.
    """
    builder = _Builder(graph, rhythm)
    for node in graph.nodes:
        builder.add(node)
    return builder.steps


class _Builder:
    def __init__(self, graph: StreamGraph, rhythm: WatermarkRhythm) -> None:
        self._graph, self._rhythm = graph, rhythm
        self._of: dict[Transformation, PhysicalNode] = {}
        self._state_names = state_names(graph)
        self.steps: list[PhysicalNode] = []

    def add(self, node: Transformation) -> None:
        links = [self._prepare(edge) for edge in self._graph.inputs[node]]
        state_id = self._state_names[node]
        operator = node.operator
        plan = None
        if operator is not None:
            timestamped = any(link.sender.timestamped for link in links)
            plan = self._plan(node, self._for_job(operator, timestamped), state_id)
        if plan is not None and any(map(self._graph.python_chained, self._graph.inputs[node])):
            plan = replace(plan, chained=True)
        if plan is not None and len(links) == 1 and links[0].side_tag is None:
            plan = replace(plan, received_type=links[0].sender.surely_typed)
        step = PhysicalNode(plan, node, self._graph.parallelism(node), state_id)
        for link in links:
            link.receiver = step
            step.inputs.append(link)
            link.sender.outputs.append(link)
        self._place(step)
        self._of[node] = step

    def _for_job(self, operator: Operator, timestamped: bool) -> Operator:
        """Return an operator as configured for the job."""
        operator = operator.for_job(self._rhythm)
        if not self._graph.settings.batch or not operator.keyed or not operator.sorted_in_batch:
            return operator
        return operator if operator.mixes_keys and not timestamped else BatchKeyedInput(operator)

    def _prepare(self, edge: StreamEdge) -> PhysicalEdge:
        """Add the sender's part of an edge; return the last link, open-ended."""
        asked = edge.edge
        sender = self._of[asked.upstream]
        if sender.plan is not None and isinstance(sender.operator, PartitionOperator):
            receivers = self._graph.parallelism(edge.reader)
            sender.plan = replace(sender.plan, operator=sender.operator.among(receivers))
        tag = None if asked.side_tag is None else f"{asked.upstream.number}/{asked.side_tag}"
        link = PhysicalEdge(sender, sender, edge.partitioner, asked.port, tag)
        if self._graph.python_chained(edge):
            return link
        declared = asked.type_info
        if declared is not None and boundary_converter(declared) is not None:
            if sender.already_typed == declared and not asked.collected:
                return link
            timestamped = sender.timestamped or tag is not None
            convert = ConvertOperator(declared, sender.emits_pairs, asked.collected, timestamped)
            return self._insert(link, convert, fresh=True, already_typed=declared)
        stays = link.could_be_local_with(self._graph.parallelism(edge.reader))
        sealed = asked.collected  # by the sink, as soon as they come
        if asked.side_tag is not None or sender.fresh or sealed or not stays:
            return link
        return self._insert(
            link, CopyMutableOperator(sender.emits_pairs), fresh=True, already_typed=None
        )

    def _insert(
        self,
        link: PhysicalEdge,
        operator: Operator,
        fresh: bool,
        already_typed: TypeInformation | None,
    ) -> PhysicalEdge:
        """Put an engine's operator on the sender's side of an open link."""
        sender = link.sender
        plan = self._plan(_declarer(sender), operator)
        plan = replace(plan, task=self._graph.task(sender.origin))
        step = PhysicalNode(plan, sender.origin, sender.parallelism)
        inner = PhysicalEdge(sender, step, ForwardPartitioner(), 0, link.side_tag)
        sender.outputs.append(inner)
        step.inputs.append(inner)
        self._place(step)
        step.fresh, step.already_typed = fresh, already_typed
        step.surely_typed = already_typed
        return PhysicalEdge(step, step, link.partitioner, link.port, None)

    def _place(self, step: PhysicalNode) -> None:
        step.stage = max(
            (link.sender.stage + (not link.could_be_local) for link in step.inputs), default=0
        )
        operator = step.operator
        step.timestamped = (
            any(link.sender.timestamped for link in step.inputs)
            or (operator is not None and operator.emits_timestamps)
            or (self._graph.settings.batch and isinstance(operator, RollingOperator))
            or (step.origin.source is not None and step.origin.source.timestamped)
        )
        if operator is None:
            source = step.origin.source
            step.fresh = True
            step.already_typed = source.produced_type if source and source.already_typed else None
            step.surely_typed = step.already_typed
        elif operator.preserves_elements:
            before = [link.sender for link in step.inputs]
            step.fresh = all(
                # The output of a chain that ends with an assigner makes sure of its elements.
                sender.fresh or (sender.operator is not None and sender.operator.ends_chain)
                for sender in before
            )
            step.already_typed = before[0].already_typed if len(before) == 1 else None
            step.surely_typed = before[0].surely_typed if len(before) == 1 else None
        else:
            step.fresh = operator.emits_immutable
            step.already_typed = operator.already_typed
        self.steps.append(step)

    def _plan(
        self, node: Transformation, operator: Operator, state_id: str | None = None
    ) -> OperatorPlan:
        return OperatorPlan(
            node=node.number,
            name=node.name,
            operator=operator,
            task_name=self._graph.task_name(node),
            max_parallelism=self._graph.max_parallelism(node),
            max_parallelism_set=self._graph.max_parallelism_set(node) is not None,
            task_max_parallelism=self._graph.task_max_parallelism(node),
            call_site=node.call_site,
            state_id=state_id,
            key_type=_key_type(node),
            meaning=None if state_id is None else _meaning(node),
            task=self._graph.task(node),
        )


def _declarer(step: PhysicalNode) -> Transformation:
    """Return the user's operator that has made the elements which a step emits."""
    while _keeps_elements(step.operator) and len(step.inputs) == 1:
        step = step.inputs[0].sender
    return step.origin


def _keeps_elements(operator: Operator | None) -> bool:
    """Return whether an operator emits only elements that it receives."""
    if operator is None:
        return False
    return operator.preserves_elements or isinstance(operator, FilterOperator | KeyedFilterOperator)


def _meaning(node: Transformation) -> StateMeaning | None:
    """Return the meaning of an operator's keyed state, as far as it is known here."""
    operator = node.operator
    if node.state_meaning is not None or operator is None or not operator.keyed:
        return node.state_meaning
    key_type = _key_type(node)
    content = operator.state_parts()
    content["key type"] = "not declared" if key_type is None else str(key_type)
    selectors = {
        edge.upstream.operator.selects
        for edge in node.edges
        if isinstance(edge.upstream.operator, SelectKeyOperator)
    }
    if len(selectors) == 1 and (selector := selectors.pop()) is not None:
        content["key"] = selector
    return StateMeaning(content)


def _key_type(node: Transformation) -> object:
    """Return the declared type of the keys by which an operator's input is spread."""
    partitioners = [edge.partitioner for edge in node.edges]
    return next((p.key_type for p in partitioners if isinstance(p, HashPartitioner)), None)


def state_names(graph: StreamGraph) -> Mapping[Transformation, str]:
    """Return the name of each operator's state: the user's, or one by its place in the program.

    Of Python operators that PyFlink fuses, it looks at the first one's uid only. So that of another
    one counts here, unless it is taken.

    Raises:
        JobTranslationError: if two operators were given one uid.
    """
    names: dict[Transformation, str] = {}
    fused = _fused(graph)
    uids: dict[str, Transformation] = {}
    taken: dict[str, Transformation] = {}
    for node in graph.nodes:
        if node not in fused:
            _take(uids, node.uid, node)
            _take(taken, node.uid_hash or node.uid, node)
    for place, node in enumerate(graph.nodes):
        given = node.uid_hash or node.uid
        if given and taken.setdefault(given, node) is node:
            names[node] = given
        else:
            names[node] = f"{place}:{node.name}"
    return names


def demand_uids(graph: StreamGraph) -> None:
    """See that the user has named all operators that can be named; of fused ones, the first.

    Raises:
        JobTranslationError: if one has neither a uid nor a uid hash.
    """
    fused = _fused(graph)
    for node in graph.nodes:
        nameless = node.aligned is not None  # added by the API, for keys: nobody can name it
        if node not in fused and not nameless and not (node.uid_hash or node.uid):
            raise JobTranslationError(
                "Auto generated UIDs have been disabled but no UID or hash has been assigned to "
                f"operator {node.name}: give it one, with uid()"
            )


def _fused(graph: StreamGraph) -> set[Transformation]:
    return {node for node in graph.nodes if any(map(graph.python_chained, graph.inputs[node]))}


def _take(taken: dict[str, Transformation], name: str | None, node: Transformation) -> None:
    other = taken.setdefault(name, node) if name else node
    if other is not node:
        raise JobTranslationError(
            f'Hash collision on user-specified ID "{name}". Most likely cause is a non-unique ID: '
            f"the operators {other.name!r} and {node.name!r} both have it. Please check that all "
            "IDs specified via uid() and set_uid_hash() are unique."
        )


def execution_plan_json(graph: StreamGraph) -> str:
    """Return the plan: a node for each operator, Python functions that run as one in one node."""
    groups = _groups(graph)
    of = {member: group for group in groups for member in group}
    nodes = [_node(graph, group, of) for group in groups]
    nodes.sort(key=lambda node: (node["pact"] != "Data Source", node["pact"] == "Data Sink"))
    return json.dumps({"nodes": nodes}, indent=2)


def _groups(graph: StreamGraph) -> list[list[Transformation]]:
    groups: list[list[Transformation]] = []
    grouped: set[Transformation] = set()
    for node in graph.nodes:
        if node not in grouped:
            groups.append(graph.python_group(node))
            grouped.update(groups[-1])
    return groups


def _node(
    graph: StreamGraph,
    group: list[Transformation],
    of: dict[Transformation, list[Transformation]],
) -> dict[str, object]:
    head = group[0]
    label = ", ".join(display_name(member) for member in group)
    node: dict[str, object] = {
        "id": group[-1].number,
        "type": label,
        "pact": _pact(head),
        "contents": head.description or label,
        "parallelism": graph.parallelism(head),
    }
    predecessors = [
        {
            "id": of[edge.edge.upstream][-1].number,
            "ship_strategy": edge.partitioner.strategy,
            "side": "second",
        }
        for edge in graph.inputs[head]
    ]
    if predecessors:
        node["predecessors"] = predecessors
    return node


def _pact(node: Transformation) -> str:
    if node.source is not None:
        return "Data Source"
    return "Operator" if node.sink is None else "Data Sink"


Splits = Callable[[PhysicalNode], tuple[tuple[object, ...], ...]]


def plan_stages(steps: list[PhysicalNode], splits: Splits) -> tuple[StagePlan, ...]:
    """Return the plan of a job.

    Args:
        steps: all steps in the order of the flow.
        splits: gives a source step's splits, for each subtask.
    """
    return _Planner(steps, splits).plan()


class _Chain:
    """Consecutive operators without an exchange between them."""

    def __init__(self, first: PhysicalNode) -> None:
        self.steps = [first]
        self.vertex: _Vertex
        self.index = -1

    @property
    def inputs(self) -> list[PhysicalEdge]:
        return self.steps[0].inputs

    def outputs(self) -> Iterator[PhysicalEdge]:
        """The links that leave it: main ones of the last step, side outputs of any."""
        inside = set(map(id, self.steps))
        for step in self.steps:
            yield from (link for link in step.outputs if id(link.receiver) not in inside)


class _Vertex:
    """Chains that run in the same subtasks."""

    def __init__(self) -> None:
        self.chains: list[_Chain] = []
        self.first_subtask_id = -1

    @property
    def head(self) -> PhysicalNode:
        return self.chains[0].steps[0]


class _Planner:
    def __init__(self, steps: list[PhysicalNode], splits: Splits) -> None:
        self._steps, self._splits = steps, splits
        self._chain_of: dict[PhysicalNode, _Chain] = {}
        self._exchanges: dict[PhysicalEdge, ExchangePlan] = {}
        self._local_channels = itertools.count()

    def plan(self) -> tuple[StagePlan, ...]:
        chains = self._chains()
        vertices = self._vertices(chains)
        self._number(vertices)
        deepest = max(vertex.head.stage for vertex in vertices)
        return tuple(
            StagePlan(tuple(self._vertex_plan(r) for r in vertices if r.head.stage == stage))
            for stage in range(deepest + 1)
        )

    def _chains(self) -> list[_Chain]:
        chains = []
        for step in self._steps:
            before = self._continues(step)
            if before is None:
                chains.append(_Chain(step))
                self._chain_of[step] = chains[-1]
            else:
                before.steps.append(step)
                self._chain_of[step] = before
        return chains

    def _continues(self, step: PhysicalNode) -> _Chain | None:
        if len(step.inputs) != 1:
            return None
        link = step.inputs[0]
        sender = link.sender
        mains = [output for output in sender.outputs if output.side_tag is None]
        straight = link.local and link.side_tag is None and len(mains) == 1
        if not straight or (sender.operator is not None and sender.operator.ends_chain):
            return None
        return self._chain_of[sender]

    def _vertices(self, chains: list[_Chain]) -> list[_Vertex]:
        """Join the chains that local edges connect; they have one stage and one parallelism."""
        group = {chain: chain for chain in chains}

        def root(chain: _Chain) -> _Chain:
            while group[chain] is not chain:
                chain = group[chain]
            return chain

        for chain in chains:
            for link in chain.inputs:
                if link.local:
                    group[root(chain)] = root(self._chain_of[link.sender])
        vertices: dict[_Chain, _Vertex] = {}
        for chain in chains:
            chain.vertex = vertices.setdefault(root(chain), _Vertex())
            chain.index = len(chain.vertex.chains)
            chain.vertex.chains.append(chain)
        return list(vertices.values())

    def _number(self, vertices: list[_Vertex]) -> None:
        subtask_ids = 0
        for vertex in sorted(vertices, key=lambda r: r.head.stage):
            vertex.first_subtask_id = subtask_ids
            subtask_ids += vertex.head.parallelism
        channels = 0
        for step in self._steps:
            for link in step.outputs:
                if not link.local:
                    self._exchanges[link] = self._exchange(link, channels)
                    channels += step.parallelism
        self._note_mixed_inputs()

    def _note_mixed_inputs(self) -> None:
        """Note which exchanges share their input with edges that do not reach all receivers."""
        mixed = {
            (link.receiver, link.port)
            for step in self._steps
            for link in step.outputs
            if link.local or not self._exchanges[link].reaches_all
        }
        self._exchanges = {
            link: replace(plan, alike=(link.receiver, link.port) not in mixed)
            for link, plan in self._exchanges.items()
        }

    def _exchange(self, link: PhysicalEdge, first_channel: int) -> ExchangePlan:
        sender, receiver = link.sender, link.receiver
        partitioner = link.partitioner
        if isinstance(partitioner, ForwardPartitioner) and (
            sender.parallelism != receiver.parallelism
        ):
            partitioner = GlobalPartitioner()
        return ExchangePlan(
            first_channel=first_channel,
            first_subtask_id=self._chain_of[receiver].vertex.first_subtask_id,
            senders=sender.parallelism,
            receivers=receiver.parallelism,
            max_parallelism=receiver.plan.max_parallelism if receiver.plan else 128,
            partitioner=partitioner,
            keyed=sender.emits_pairs,
            timestamped=sender.timestamped or link.side_tag is not None,
            isolate=_may_change(link),
        )

    def _vertex_plan(self, vertex: _Vertex) -> VertexPlan:
        inputs = tuple(
            InputChannel(self._exchanges[link], chain.index, link.port)
            for chain in vertex.chains
            for link in chain.inputs
            if not link.local
        )
        return VertexPlan(
            name=" -> ".join(_names(vertex)),
            parallelism=vertex.head.parallelism,
            first_subtask_id=vertex.first_subtask_id,
            chains=tuple(map(self._chain_plan, vertex.chains)),
            inputs=inputs,
        )

    def _chain_plan(self, chain: _Chain) -> OperatorChainPlan:
        head = chain.steps[0]
        source = head.origin.source if head.plan is None else None
        return OperatorChainPlan(
            operators=tuple(step.plan for step in chain.steps if step.plan is not None),
            outputs=tuple(self._output_plan(link) for link in chain.outputs()),
            source=source,
            splits=self._splits(head) if source is not None else (),
            source_id=head.state_id,
            source_meaning=head.origin.state_meaning,
        )

    def _output_plan(self, link: PhysicalEdge) -> OutputPlan:
        if not link.local:
            return OutputPlan(self._exchanges[link], link.side_tag)
        edge = LocalPlan(
            chain=self._chain_of[link.receiver].index,
            port=link.port,
            channel=-1 - next(self._local_channels),
            timestamped=link.sender.timestamped or link.side_tag is not None,
            isolate=_may_change(link),
        )
        return OutputPlan(edge, link.side_tag)


def _may_change(link: PhysicalEdge) -> bool:
    """True if the edge has to protect its elements; a fork does so for all its edges."""
    mains = [output for output in link.sender.outputs if output.side_tag is None]
    return not link.sender.fresh and link.side_tag is None and len(mains) == 1


def _names(vertex: _Vertex) -> list[str]:
    names: list[str] = []
    for chain in vertex.chains:
        for step in chain.steps:
            name = step.origin.name
            if not names or names[-1] != name:
                names.append(name)
    return names


def place_sinks(steps: Iterable[PhysicalNode], job: str) -> dict[int, Sink]:
    """Place each sink in the job; return the sinks by number.

    Args:
        steps: all of the job.
        job: its name.

    Raises:
        JobTranslationError: two sinks want what only one may have.
    """
    sinks: dict[int, Sink] = {}
    owners: dict[str, PhysicalNode] = {}
    for step in steps:
        operator = step.operator
        if not isinstance(operator, SinkOperator):
            continue
        sink = operator.place(job, step.state_id)
        sinks[step.origin.number] = sink
        for claim in sorted(sink.claims):
            other = owners.setdefault(claim, step)
            if other is not step:
                raise JobTranslationError(
                    f"two sinks of one job cannot both have {claim}: {_shown(other)} and "
                    f"{_shown(step)}. Give each its own, or unite the streams in front of one sink."
                )
    return sinks


def _shown(step: PhysicalNode) -> str:
    where = step.origin.call_site
    return repr(step.origin.name) + (f" ({where})" if where is not None else "")
