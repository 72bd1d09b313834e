"""The plan of a job: operators in chains, chains in vertices, vertices in stages."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

from pyflink_on_spark._compat.errors import JobTranslationError
from pyflink_on_spark._graph.physical_graph import PhysicalEdge, PhysicalNode
from pyflink_on_spark._runtime.contract.connector import Sink
from pyflink_on_spark._runtime.contract.plan import (
    ExchangePlan,
    ForwardPartitioner,
    GlobalPartitioner,
    InputChannel,
    LocalPlan,
    OperatorChainPlan,
    OutputPlan,
    StagePlan,
    VertexPlan,
)
from pyflink_on_spark._runtime.operators.stateless import SinkOperator

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
