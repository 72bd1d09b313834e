"""Makes the chains of a subtask, and what their operators get when they are opened."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._options import python
from pyflink_on_spark._runtime.checkpoints.slot_state import OperatorSubtaskState, TaskStateSnapshot
from pyflink_on_spark._runtime.contract.operator import (
    OperatorContext,
    RuntimeContext,
    SplitTimes,
    TaskInfo,
)
from pyflink_on_spark._runtime.contract.plan import (
    JobSettings,
    LocalPlan,
    OperatorPlan,
    OutputPlan,
    VertexPlan,
)
from pyflink_on_spark._runtime.elements.bundle import Cursor
from pyflink_on_spark._runtime.elements.time import Clock
from pyflink_on_spark._runtime.key_groups import KeyGroups
from pyflink_on_spark._runtime.operators.function_loop import FusableOperator
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.disk import DiskStore
from pyflink_on_spark._runtime.state.operator_state import OperatorState
from pyflink_on_spark._runtime.task.exchange_writer import (
    ChannelRow,
    ExchangeWriter,
    FanOut,
    ForkOutput,
    LocalOutput,
    Output,
    SideOutput,
)
from pyflink_on_spark._runtime.task.operator_chain import (
    SOURCE_CHANNEL,
    NoOutput,
    OperatorChain,
    Pacing,
    WatermarkOutput,
    in_their_key_groups,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import DriverChannels


Ask = Callable[[int, int, int], None]
"""Asks the driver for splits: the number of the subtask, the chain of its source, how many."""


@dataclass(frozen=True)
class SubtaskContext:
    """The place of a subtask in its job, and the services that it uses.

    Args:
        vertex: what it runs.
        index: which subtask of the vertex, from 0.
        job: what is the same for the whole job.
        clock: processing time.
        driver: gives, for a channel's name, what sends to the driver.
        attempt: how often the job was restarted.
        restored: its share of a checkpoint; None for a fresh start.
        here: the subtasks in the same process, to which nothing has to be pickled.
        ask: asks the driver for splits; None if the driver has none.
        shares: whether event time comes combined for all channels whose senders reach all
            subtasks of the vertex.
    """

    vertex: VertexPlan
    index: int
    job: JobSettings
    clock: Clock
    driver: DriverChannels
    attempt: int = 0
    restored: TaskStateSnapshot | None = None
    here: Container[int] = ()
    ask: Ask | None = None
    shares: bool = False


@dataclass(frozen=True)
class Link:
    """An edge between two chains of a subtask.

    Args:
        output: the sender's end.
        sender: the index of the sending chain.
        receiver: the index of the receiving chain.
        port: which of its inputs.
        channel: the name of the edge there.
    """

    output: LocalOutput
    sender: int
    receiver: int
    port: int
    channel: int


@dataclass
class SubtaskParts:
    """The parts of a subtask: its chains, and their connections.

    Args:
        chains: in the order of the flow.
        contexts: each operator's plan, and what it is opened with, in the order of the flow.
        writers: the sending ends of all exchanges, each with the index of its chain.
        links: the edges between chains.
        channels: the chain and its input for each channel of an exchange that ends here.
        depths: how many chains lie before each, at most.
    """

    chains: list[OperatorChain]
    contexts: list[tuple[OperatorPlan, OperatorContext]]
    writers: list[tuple[int, ExchangeWriter]]
    links: list[Link]
    channels: dict[int, tuple[int, int]]
    depths: list[int] = field(default_factory=list)


class SubtaskBuilder:
    """Builds one subtask. Each place in it has an operator of its own.

    The operators of a plan are descriptions, which several places may have in common.

    Args:
        identity: which subtask.
        ship: takes the rows that leave.
        now: the time in seconds; any clock that never goes back.
    """

    def __init__(
        self,
        identity: SubtaskContext,
        ship: Callable[[ChannelRow | FanOut], None],
        now: Callable[[], float],
    ) -> None:
        self._identity, self._ship, self._now = identity, ship, now
        self.vertex = _copied(identity.vertex, identity.index)
        job = identity.job
        self._converted = python.STATE_CACHE_SIZE.read(job.configuration) == 0
        self._writers: list[tuple[int, ExchangeWriter]] = []
        self._links: list[Link] = []
        self._contexts: list[tuple[OperatorPlan, OperatorContext]] = []
        self._channels = self._incoming()
        self._split_times = SplitTimes()

    def build(self) -> SubtaskParts:
        """Return the parts, none of them opened."""
        built: dict[int, OperatorChain] = {}
        for index in reversed(range(len(self.vertex.chains))):
            built[index] = self._chain(index, built)
        chains = [built[index] for index in range(len(built))]
        return SubtaskParts(
            chains, self._contexts, self._writers, self._links, self._channels, self._depths()
        )

    def source_context(self) -> OperatorContext:
        """Return the context with which a source creates its reader."""
        return self._context(None, Cursor(), None)

    def _incoming(self) -> dict[int, tuple[int, int]]:
        channels: dict[int, tuple[int, int]] = {}
        for incoming in self.vertex.inputs:
            exchange, end = incoming.exchange, (incoming.chain, incoming.port)
            if exchange.reaches_all:
                channels.update(dict.fromkeys(exchange.channels, end))
                continue
            for sender, channel in enumerate(exchange.channels):
                reached = exchange.partitioner.receivers(
                    sender, exchange.senders, exchange.receivers
                )
                if self._identity.index in reached:
                    channels[channel] = end
        return channels

    def _depths(self) -> list[int]:
        depths = [0] * len(self.vertex.chains)
        for index, plan in enumerate(self.vertex.chains):
            for output in plan.outputs:
                if isinstance(output.edge, LocalPlan):
                    receiver = output.edge.chain
                    depths[receiver] = max(depths[receiver], depths[index] + 1)
        return depths

    def _chain(self, index: int, built: dict[int, OperatorChain]) -> OperatorChain:
        plan = self.vertex.chains[index]
        cursor = Cursor()
        sides: dict[str, list[Output]] = {}
        for output in plan.outputs:
            if output.side_tag is not None:
                sides.setdefault(output.side_tag, []).append(self._output(index, output, built))
        for each in plan.operators:
            if isinstance(each.operator, FusableOperator):
                each.operator.received_type = each.received_type
        chain = OperatorChain(
            [operator.operator for operator in plan.operators],
            cursor,
            self._main_output(index, built),
            {tag: SideOutput(outputs) for tag, outputs in sides.items()},
            self._channels_to(index),
            Pacing(self._now),
        )
        contexts: list[tuple[OperatorPlan, OperatorContext]] = []
        for operator in plan.operators:
            context = self._context(operator, cursor, chain)
            if operator.chained and contexts:
                before = contexts[-1][1]
                context.head_state = before.head_state or before.keyed_state
            contexts.append((operator, context))
        self._contexts = contexts + self._contexts
        return chain

    def _main_output(self, index: int, built: dict[int, OperatorChain]) -> Output:
        plan = self.vertex.chains[index]
        outputs = [self._output(index, o, built) for o in plan.outputs if o.side_tag is None]
        timestamped = any(o.edge.timestamped for o in plan.outputs if o.side_tag is None)
        main: Output = NoOutput()
        if outputs:
            main = outputs[0] if len(outputs) == 1 else ForkOutput(outputs, timestamped)
        last = plan.operators[-1].operator if plan.operators else None
        if isinstance(last, AssignTimestamps):
            return WatermarkOutput(last, main, self._identity.clock)
        return main

    def _channels_to(self, index: int) -> dict[object, int]:
        """Return the channels on which a chain gets event time, each with its input."""
        shared = self.vertex.combined_channels() if self._identity.shares else {}
        ports: dict[object, int] = {
            channel: port for (chain, port), channel in shared.items() if chain == index
        }
        for incoming in self.vertex.inputs:
            if incoming.chain == index and not (shared and incoming.exchange.combined):
                channels = [c for c in incoming.exchange.channels if c in self._channels]
                ports |= dict.fromkeys(channels, incoming.port)
        for plan in self.vertex.chains:
            for output in plan.outputs:
                if isinstance(output.edge, LocalPlan) and output.edge.chain == index:
                    ports[output.edge.channel] = output.edge.port
        if self.vertex.chains[index].source is not None:
            ports[SOURCE_CHANNEL] = 0
        return ports

    def _output(self, index: int, plan: OutputPlan, built: dict[int, OperatorChain]) -> Output:
        edge = plan.edge
        if not isinstance(edge, LocalPlan):
            identity = self._identity
            writer = ExchangeWriter(edge, identity.index, self._ship, identity.here)
            self._writers.append((index, writer))
            return writer
        chain = built[edge.chain]
        output = LocalOutput(
            chain.receive, edge.port, chain.take_event, edge.channel, edge.timestamped, edge.isolate
        )
        self._links.append(Link(output, index, edge.chain, edge.port, edge.channel))
        return output

    def _context(
        self, plan: OperatorPlan | None, cursor: Cursor, chain: OperatorChain | None
    ) -> OperatorContext:
        identity = self._identity
        job, restored = identity.job, identity.restored
        task = TaskInfo(
            plan.task_name if plan else self.vertex.name,
            identity.index,
            self.vertex.parallelism,
            plan.task_max_parallelism if plan else 128,
            identity.attempt,
            job.job_id,
            job.job_parameters,
            job.batch,
        )
        keyed = plan is not None and plan.operator.keyed
        backend = self._keyed_state(plan) if plan is not None and keyed else None
        data = OperatorSubtaskState()
        if restored is not None and plan is not None and plan.state_id is not None:
            data = restored.operators.get(plan.state_id, data)
        operator_state = OperatorState(self._converted)
        operator_state.restore(data.operator)
        if backend is not None:
            assert plan is not None
            key_groups = KeyGroups(plan.max_parallelism, plan.key_type)
            backend.restore(in_their_key_groups(plan, data.keyed.items(), key_groups))
        return OperatorContext(
            task=task,
            cursor=cursor,
            clock=identity.clock,
            side_output=_side_output(chain, plan),
            driver=identity.driver,
            keyed_state=backend,
            runtime_context=RuntimeContext(task, backend, identity.clock),
            operator_state=operator_state,
            restored=None if restored is None else restored.checkpoint_id,
            copied=restored is not None and restored.savepoint,
            checkpointed=job.checkpointed,
            split_times=self._split_times,
            asks=identity.ask is not None,
            configuration=job.configuration,
        )

    def _keyed_state(self, plan: OperatorPlan) -> KeyedStateBackend:
        settings = self._identity.job.state
        disk = settings.disk
        return KeyedStateBackend(
            self._identity.clock,
            max_parallelism=plan.max_parallelism,
            key_type=plan.key_type,
            track_changes=settings.track_changes,
            converted=self._converted,
            disk=None if disk is None else DiskStore(disk, self._identity.index),
            changed=settings.changed,
        )


def _copied(vertex: VertexPlan, index: int) -> VertexPlan:
    """Return a vertex of which a subtask may change everything; it has the subtask's splits only.

    A pickle keeps an object one that occurs several times in it, so each operator has a pickle of
    its own.
    """
    chains = tuple(
        replace(
            _unpickled(replace(chain, operators=(), splits=chain.splits[index : index + 1])),
            operators=tuple(map(_unpickled, chain.operators)),
        )
        for chain in vertex.chains
    )
    return replace(vertex, chains=chains)


def _unpickled(thing: object) -> Any:
    return pickle.loads(pickle.dumps(thing, 5))


def _side_output(
    chain: OperatorChain | None, plan: OperatorPlan | None
) -> Callable[[str, object], None]:
    if chain is None or plan is None:
        return _no_side_output
    node = plan.node
    return lambda tag, value: chain.side_output(f"{node}/{tag}", value)


def _no_side_output(tag: str, _: object) -> None:
    raise AssertionError(f"no side output {tag} here")
