"""The plan of a parallel subtask, with its partitioners: plain picklable data."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from pyflink_on_spark._compat.own_frames import CallSite
from pyflink_on_spark._runtime.contract.connector import Source
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.state_meaning import StateMeaning
from pyflink_on_spark._runtime.state.disk import StateSettings


@dataclass(frozen=True)
class OperatorPlan:
    """One operator in its place.

    Args:
        node: the number of the operator in the job.
        name: as in the execution plan.
        operator: the operator, not opened.
        task_name: the name of the task in which Flink would run it.
        max_parallelism: its number of key groups.
        max_parallelism_set: whether the user has set that number.
        task_max_parallelism: the maximum parallelism of that task, which its first operator gives.
        call_site: where the user's script added it; None for the engine's own.
        state_id: the stable name of its state; None for an operator of the engine, which has none.
        chained: whether PyFlink runs it in one worker with the operator before.
        key_type: the declared type of the keys of its keyed state, or None.
        meaning: what its state means, or None if nobody knows.
        task: the number of the first operator of the task in which Flink would run it.
        received_type: the declared type to which all elements that it gets were converted, or None.
    """

    node: int
    name: str
    operator: Operator
    task_name: str
    max_parallelism: int = 128
    max_parallelism_set: bool = False
    task_max_parallelism: int = 128
    call_site: CallSite | None = None
    state_id: str | None = None
    chained: bool = False
    key_type: object = None
    meaning: StateMeaning | None = None
    task: int = 0
    received_type: object = None


@dataclass(frozen=True)
class ExchangePlan:
    """One edge of the graph that leaves its subtask.

    Args:
        first_channel: the number of the channel of sending subtask 0; the others follow.
        first_subtask_id: the number of receiving subtask 0; the others follow.
        senders: the parallelism upstream.
        receivers: the parallelism downstream.
        max_parallelism: the number of key groups downstream.
        partitioner: how elements are spread.
        keyed: whether elements are pairs of key and value.
        timestamped: whether timestamps do.
        isolate: whether the sender may change an element after it was emitted.
        alike: whether the senders of all channels of the same input reach all receivers.
    """

    first_channel: int
    first_subtask_id: int
    senders: int
    receivers: int
    max_parallelism: int
    partitioner: Partitioner
    keyed: bool
    timestamped: bool
    isolate: bool
    alike: bool = True

    @property
    def reaches_all(self) -> bool:
        """True if each sender reaches all receivers: the first and the last one do."""
        senders, receivers = self.senders, self.receivers
        return all(
            self.partitioner.receivers(sender, senders, receivers) == range(receivers)
            for sender in (0, senders - 1)
        )

    @property
    def combined(self) -> bool:
        """True if a process combines the event time of the input for all receivers that it has.

        With one receiver there is nothing to be saved. What counts of a channel depends on all
        channels of its input, so it takes all of them.
        """
        return self.receivers > 1 and self.alike and self.reaches_all

    @property
    def channels(self) -> range:
        """The channels of the senders, in their order."""
        return range(self.first_channel, self.first_channel + self.senders)


@dataclass(frozen=True)
class LocalPlan:
    """An edge to another chain of the same subtask.

    Args:
        chain: the index of the receiving chain.
        port: which of its inputs.
        channel: the channel's name there.
        timestamped: whether timestamps go along.
        isolate: whether the sender may change an element after it was emitted.
    """

    chain: int
    port: int
    channel: int
    timestamped: bool
    isolate: bool


@dataclass(frozen=True)
class OutputPlan:
    """An edge that leaves a chain: its main output, or the side output with a tag."""

    edge: LocalPlan | ExchangePlan
    side_tag: str | None = None


@dataclass(frozen=True)
class OperatorChainPlan:
    """A straight line of operators.

    Args:
        operators: first to last; the first may have two inputs.
        outputs: all edges that leave it.
        source: what its elements are read from, if it begins with a source.
        splits: the source's splits, for each subtask.
        source_id: the stable name of the source's positions.
        source_meaning: what these mean, or None if nobody knows.
    """

    operators: tuple[OperatorPlan, ...]
    outputs: tuple[OutputPlan, ...] = ()
    source: Source | None = None
    splits: tuple[tuple[object, ...], ...] = ()
    source_id: str = ""
    source_meaning: StateMeaning | None = None


@dataclass(frozen=True)
class InputChannel:
    """An exchange that ends in a chain."""

    exchange: ExchangePlan
    chain: int
    port: int


@dataclass(frozen=True)
class VertexPlan:
    """A part of the job that needs no exchange inside; run by ``parallelism`` subtasks.

    Args:
        name: for people.
        parallelism: how many subtasks.
        first_subtask_id: the number of subtask 0 in the whole job; the others follow.
        chains: in the order of the flow.
        inputs: the exchanges that end here.
    """

    name: str
    parallelism: int
    first_subtask_id: int
    chains: tuple[OperatorChainPlan, ...]
    inputs: tuple[InputChannel, ...] = ()

    def combined_channels(self) -> dict[tuple[int, int], int]:
        """Return the inputs, by chain and port, whose event time is combined.

        With each comes the channel that stands for all of its channels.
        """
        found: dict[tuple[int, int], int] = {}
        for incoming in self.inputs:
            if incoming.exchange.combined:
                end = incoming.chain, incoming.port
                found.setdefault(end, incoming.exchange.first_channel)
        return found


@dataclass(frozen=True)
class StagePlan:
    """All vertices with the same number of exchanges before them."""

    vertices: tuple[VertexPlan, ...]

    def subtasks(self) -> Iterator[tuple[int, VertexPlan, int]]:
        """Yield each subtask: its number in the whole job, its vertex and its index there."""
        for vertex in self.vertices:
            for index in range(vertex.parallelism):
                yield vertex.first_subtask_id + index, vertex, index


def chain_name(vertex: VertexPlan, index: int) -> str:
    """Return the name of a chain of a vertex for people: those of its operators."""
    names = dict.fromkeys(plan.name for plan in vertex.chains[index].operators)
    return " -> ".join(names) or vertex.name


def source_names(stages: Iterable[StagePlan]) -> set[str]:
    """Return the stable names of a job's sources."""
    return {
        chain.source_id
        for stage in stages
        for vertex in stage.vertices
        for chain in vertex.chains
        if chain.source is not None
    }


def source_meanings(stages: Iterable[StagePlan]) -> dict[str, StateMeaning]:
    """Return the meaning of the source positions in a job, by the stable name of each source."""
    return {
        chain.source_id: chain.source_meaning
        for stage in stages
        for vertex in stage.vertices
        for chain in vertex.chains
        if chain.source is not None and chain.source_meaning is not None
    }


@dataclass(frozen=True)
class JobSettings:
    """The settings of a job that every subtask has.

    Args:
        job_id: 32 hexadecimal digits.
        batch: whether it runs with BATCH semantics.
        checkpointed: whether it makes checkpoints.
        checkpoint_elements: how many elements a source subtask reads between two checkpoints, of
            which one begins when all have; None for any number.
        job_parameters: the user's global job parameters.
        configuration: the job's whole configuration.
        classes: the script's own classes, as ``main_module.capture_classes`` gives them.
        state: how keyed state is kept.
    """

    job_id: str
    batch: bool = False
    checkpointed: bool = False
    checkpoint_elements: int | None = None
    job_parameters: dict[str, str] = field(default_factory=dict)
    configuration: dict[str, str] = field(default_factory=dict)
    classes: dict[str, bytes] = field(default_factory=dict, repr=False)
    state: StateSettings = field(default_factory=StateSettings)


@dataclass(frozen=True)
class Partitioner:
    """The receivers that one sender can reach, and the choice among them.

    ``strategy`` is the name of it in an execution plan.
    """

    strategy: ClassVar[str] = ""

    def receivers(self, sender: int, senders: int, receivers: int) -> range:
        """Return the indices of the subtasks that a sending subtask can reach."""
        return range(receivers)


@dataclass(frozen=True)
class ForwardPartitioner(Partitioner):
    """Subtask i sends to subtask i."""

    strategy: ClassVar[str] = "FORWARD"

    def receivers(self, sender: int, senders: int, receivers: int) -> range:
        """Return the range of the one subtask that has the sender's index."""
        return range(sender, sender + 1)


@dataclass(frozen=True)
class RebalancePartitioner(Partitioner):
    """Round robin over all subtasks."""

    strategy: ClassVar[str] = "REBALANCE"


@dataclass(frozen=True)
class RescalePartitioner(Partitioner):
    """Round robin over the sender's share of the subtasks."""

    strategy: ClassVar[str] = "RESCALE"

    def receivers(self, sender: int, senders: int, receivers: int) -> range:
        """Return the sender's share: neighbours, as even as possible."""
        if senders >= receivers:
            only = sender * receivers // senders
            return range(only, only + 1)
        first = -(-sender * receivers // senders)
        last = -(-(sender + 1) * receivers // senders)
        return range(first, last)


@dataclass(frozen=True)
class ShufflePartitioner(Partitioner):
    """A random subtask for each element; the same ones when a task is run again."""

    strategy: ClassVar[str] = "SHUFFLE"

    def generator(self, sender: int) -> random.Random:
        """Return the sender's random numbers."""
        return random.Random(sender)


@dataclass(frozen=True)
class BroadcastPartitioner(Partitioner):
    """Every element to every subtask."""

    strategy: ClassVar[str] = "BROADCAST"


@dataclass(frozen=True)
class GlobalPartitioner(Partitioner):
    """Everything to the first subtask."""

    strategy: ClassVar[str] = "GLOBAL"

    def receivers(self, sender: int, senders: int, receivers: int) -> range:
        """Return the first subtask."""
        return range(1)


@dataclass(frozen=True)
class HashPartitioner(Partitioner):
    """By the key group of the element's key; elements are pairs of key and value.

    ``key_type`` is the declared type of the keys, or None.
    """

    strategy: ClassVar[str] = "HASH"
    key_type: object = None


@dataclass(frozen=True)
class CustomPartitioner(Partitioner):
    """To the subtask that the user has chosen; elements are pairs of its index and the value."""

    strategy: ClassVar[str] = "CUSTOM"
