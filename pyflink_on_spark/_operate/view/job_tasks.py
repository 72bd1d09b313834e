"""A job's chains as Flink's job vertices: with ids, and with what they read from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from pyflink_on_spark._job.submission.job import Job
from pyflink_on_spark._runtime.contract.plan import (
    ExchangePlan,
    LocalPlan,
    OperatorPlan,
    VertexPlan,
    chain_name,
)


@dataclass(frozen=True)
class TaskEdge:
    """An edge that ends in a task.

    Args:
        source: the id of the task that it comes from.
        strategy: how elements are spread, for people.
    """

    source: str
    strategy: str


@dataclass(frozen=True)
class JobTask:
    """A chain of operators.

    Args:
        id: 32 hexadecimal digits, the same in each run of a script.
        name: the names of its operators.
        parallelism: how many subtasks.
        max_parallelism: how many key groups.
        operators: first to last.
        has_source: whether it begins with a source.
        inputs: the edges that end in it.
    """

    id: str
    name: str
    parallelism: int
    max_parallelism: int
    operators: tuple[OperatorPlan, ...]
    has_source: bool
    inputs: tuple[TaskEdge, ...]


def tasks_of(job: Job) -> tuple[JobTask, ...]:
    """Return the tasks of a job, in the order of the flow."""
    places = list(_places(job))
    ids = {place: _id(number, chain_name(*place_of)) for number, place, place_of in places}
    edges = _edges(job, ids)
    return tuple(
        _task(vertex, chain, ids[place], edges.get(place, ()))
        for _, place, (vertex, chain) in places
    )


Place = tuple[int, int]
"""The number of a vertex's first subtask, and of the chain in it."""


def _places(job: Job) -> Iterator[tuple[int, Place, tuple[VertexPlan, int]]]:
    number = 0
    for stage in job.stages:
        for vertex in stage.vertices:
            for chain in range(len(vertex.chains)):
                yield number, (vertex.first_subtask_id, chain), (vertex, chain)
                number += 1


def _edges(job: Job, ids: dict[Place, str]) -> dict[Place, tuple[TaskEdge, ...]]:
    receivers = {
        channel.exchange.first_channel: (vertex.first_subtask_id, channel.chain)
        for stage in job.stages
        for vertex in stage.vertices
        for channel in vertex.inputs
    }
    found: dict[Place, tuple[TaskEdge, ...]] = {}
    for _, place, (vertex, chain) in _places(job):
        for output in vertex.chains[chain].outputs:
            edge = output.edge
            target = (
                (vertex.first_subtask_id, edge.chain)
                if isinstance(edge, LocalPlan)
                else receivers[edge.first_channel]
            )
            found[target] = (*found.get(target, ()), TaskEdge(ids[place], _strategy(edge)))
    return found


def _strategy(edge: LocalPlan | ExchangePlan) -> str:
    if isinstance(edge, LocalPlan):
        return "FORWARD"
    name = type(edge.partitioner).__name__.removesuffix("Partitioner")
    return "HASH" if edge.keyed else name.upper()


def _task(vertex: VertexPlan, chain: int, task_id: str, inputs: tuple[TaskEdge, ...]) -> JobTask:
    plan = vertex.chains[chain]
    return JobTask(
        task_id,
        chain_name(vertex, chain),
        vertex.parallelism,
        max((operator.max_parallelism for operator in plan.operators), default=128),
        plan.operators,
        plan.source is not None,
        inputs,
    )


def _id(number: int, name: str) -> str:
    return hashlib.md5(f"{number} {name}".encode(), usedforsecurity=False).hexdigest()
