"""The levels of a query: stages of a job, and the groups of rows that reach their subtasks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pyflink_on_spark._runtime.contract.plan import ExchangePlan, StagePlan, chain_name

TARGET, SUBTASK, CHANNEL, SEQ, PAYLOAD = range(5)
"""The columns of a row between two levels."""
SCHEMA = "target INT, subtask INT, channel INT, seq LONG, payload BINARY"
TICK = -1
"""The channel of rows without a payload, which begin a micro-batch in a slot."""

METRIC = -2
"""The subtask of rows for Spark's own progress on the first level; by one smaller on each
later one. The channel says what it is a number of, and ``seq`` is the number."""
RECORDS, STATE_ENTRIES, WATERMARK = range(3)
_KINDS = 3

_MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class Level:
    """Stages that run together, since rows between them stay in their slot.

    Args:
        stages: they follow each other.
        targets: for each slot the integer that its rows are grouped by.
    """

    stages: tuple[StagePlan, ...]
    targets: tuple[int, ...]

    @property
    def slots(self) -> range:
        """The indices of its subtasks."""
        return range(len(self.targets))

    @property
    def chains(self) -> list[str]:
        """The names of its chains for people, each once, in the order of the flow."""
        vertices = [vertex for stage in self.stages for vertex in stage.vertices]
        names = (chain_name(each, index) for each in vertices for index in range(len(each.chains)))
        return list(dict.fromkeys(names))


def metric_channel(chain: int, kind: int) -> int:
    """Return the channel of rows with a number for Spark's progress.

    Args:
        chain: which of the names of the level's chains.
        kind: RECORDS, STATE_ENTRIES or WATERMARK.
    """
    return chain * _KINDS + kind


@dataclass(frozen=True)
class Levels:
    """A job as a query runs it.

    Args:
        levels: each is an operator with state.
        partitions: how many tasks each operator has.
        driver: for each partition the integer that rows for the driver are grouped by: rows in the
            partition of their sender stay where they are.
    """

    levels: tuple[Level, ...]
    partitions: int
    driver: tuple[int, ...]
    routes: dict[int, int] = field(default_factory=dict)
    """The integer of the slot of each subtask of the job."""

    @classmethod
    def of(cls, stages: Sequence[StagePlan], most_partitions: int) -> Levels:
        """Divide a job.

        Args:
            stages: the job's.
            most_partitions: how many tasks can run at a time.
        """
        parts = list(_fused(stages))
        counts = [max(v.parallelism for stage in part for v in stage.vertices) for part in parts]
        partitions = min(max(counts), most_partitions)
        places = _Places(partitions)
        levels = tuple(
            Level(
                tuple(part), tuple(places.next(slot * partitions // count) for slot in range(count))
            )
            for part, count in zip(parts, counts, strict=True)
        )
        routes = {
            number: level.targets[index]
            for level in levels
            for stage in level.stages
            for number, _, index in stage.subtasks()
        }
        return cls(levels, partitions, tuple(map(places.next, range(partitions))), routes)


class _Places:
    """Gives integers that Spark's hash brings to a certain partition, each once."""

    def __init__(self, partitions: int) -> None:
        self._partitions = partitions
        self._waiting: dict[int, list[int]] = {place: [] for place in range(partitions)}
        self._numbers = itertools.count()

    def next(self, partition: int) -> int:
        """Return an integer for a partition."""
        while not self._waiting[partition]:
            number = next(self._numbers)
            self._waiting[spark_hash(number) % self._partitions].append(number)
        return self._waiting[partition].pop(0)


def spark_hash(value: int) -> int:
    """Compute Spark's SQL function ``hash`` of an INT: Murmur3 with the seed 42."""
    mixed = value * 0xCC9E2D51 & _MASK
    mixed = ((mixed << 15 | mixed >> 17) & _MASK) * 0x1B873593 & _MASK
    state = 42 ^ mixed
    state = ((state << 13 | state >> 19) & _MASK) * 5 + 0xE6546B64 & _MASK
    state ^= 4  # bytes
    state = (state ^ state >> 16) * 0x85EBCA6B & _MASK
    state = (state ^ state >> 13) * 0xC2B2AE35 & _MASK
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


def _fused(stages: Sequence[StagePlan]) -> Iterator[list[StagePlan]]:
    """Yield stages in groups, inside of which no element changes its slot."""
    group: list[StagePlan] = []
    for stage in stages:
        inside = {exchange.first_channel for each in group for exchange in _leaving(each)}
        inputs = (channel.exchange for vertex in stage.vertices for channel in vertex.inputs)
        if group and not all(_is_local(e) for e in inputs if e.first_channel in inside):
            yield group
            group = []
        group.append(stage)
    yield group


def _leaving(stage: StagePlan) -> Iterable[ExchangePlan]:
    for vertex in stage.vertices:
        for chain in vertex.chains:
            for output in chain.outputs:
                if isinstance(output.edge, ExchangePlan):
                    yield output.edge


def _is_local(exchange: ExchangePlan) -> bool:
    """True if each subtask sends only to the one with its own index."""
    senders, receivers = exchange.senders, exchange.receivers
    return all(
        list(exchange.partitioner.receivers(sender, senders, receivers)) == [sender]
        for sender in range(senders)
    )
