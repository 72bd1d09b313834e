"""Checks that restored keys are in the key groups to which the job assigns them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.contract.plan import (
    ExchangePlan,
    OperatorChainPlan,
    OperatorPlan,
    StagePlan,
    VertexPlan,
)
from pyflink_on_spark._runtime.elements.keys import unwrap_key
from pyflink_on_spark._runtime.key_groups.assignment import KeyGroups
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState, Piece


def in_their_key_groups(
    plan: OperatorPlan, pieces: Iterable[tuple[int, Piece]], key_groups: KeyGroups
) -> Iterator[Piece]:
    """Yield pieces of keyed state; the first key of each is looked at.

    Args:
        plan: the operator that the pieces belong to.
        pieces: with the key group of each.
        key_groups: the key groups of the operator's keys in this job.

    Raises:
        CheckpointError: the keys are in other key groups than before, because their declared type
            is another one.
    """
    for group, piece in pieces:
        for key in _first_key(piece):
            if not is_in(key_groups, key, group):
                raise CheckpointError(misplaced(plan, key))
        yield piece


def misplaced(plan: OperatorPlan, key: Any) -> str:
    """Return a sentence about an operator's key that the job would not find."""
    typed = "no key_type" if plan.key_type is None else f"the key_type {plan.key_type}"
    return (
        f"the checkpoint has the key {unwrap_key(key)!r} of {plan.state_id!r} in another key group "
        f"than a job with {typed} would look in: give key_by the key_type with which the state was "
        "written."
    )


def is_in(key_groups: KeyGroups, key: Any, group: int) -> bool:
    """True if a key, in the engine's form, belongs to a key group."""
    try:
        return key_groups.of(key) == group
    except (TypeError, ValueError, AttributeError, OverflowError):
        return False  # a key that does not even have the declared type


def _first_key(piece: Piece) -> Iterator[Any]:
    if isinstance(piece, KeyGroupState):
        for namespaces in piece.tables.values():
            for entries in namespaces.values():
                for key in entries:
                    yield key
                    return
        if piece.timers:
            yield piece.timers[0][2]
    elif piece.entries:
        yield piece.entries[0][2]


Stages = tuple[StagePlan, ...]


def with_key_groups(stages: Stages, counts: Mapping[str, int]) -> Stages:
    """Return a job's stages, with other numbers of key groups.

    Args:
        stages: all of the job.
        counts: how many key groups operators have in the checkpoint, by the stable name of each.

    Raises:
        CheckpointError: if an operator has more subtasks than it has key groups there.
    """
    exchanges: dict[int, int] = {}
    for stage in stages:
        for vertex in stage.vertices:
            _check(vertex, counts)
            for channel in vertex.inputs:
                head = vertex.chains[channel.chain].operators[0]
                if head.state_id is not None and head.state_id in counts:
                    exchanges[channel.exchange.first_channel] = counts[head.state_id]

    def exchange(plan: ExchangePlan) -> ExchangePlan:
        count = exchanges.get(plan.first_channel, plan.max_parallelism)
        return replace(plan, max_parallelism=count)

    def chain(plan: OperatorChainPlan) -> OperatorChainPlan:
        return replace(
            plan,
            operators=tuple(
                replace(one, max_parallelism=counts.get(one.state_id or "", one.max_parallelism))
                for one in plan.operators
            ),
            outputs=tuple(
                replace(output, edge=exchange(output.edge))
                if isinstance(output.edge, ExchangePlan)
                else output
                for output in plan.outputs
            ),
        )

    def with_counts(plan: VertexPlan) -> VertexPlan:
        return replace(
            plan,
            chains=tuple(map(chain, plan.chains)),
            inputs=tuple(
                replace(channel, exchange=exchange(channel.exchange)) for channel in plan.inputs
            ),
        )

    return tuple(
        replace(stage, vertices=tuple(map(with_counts, stage.vertices))) for stage in stages
    )


def _check(vertex: VertexPlan, counts: Mapping[str, int]) -> None:
    for chain in vertex.chains:
        for operator in chain.operators:
            count = counts.get(operator.state_id or "", vertex.parallelism)
            if count < vertex.parallelism:
                raise CheckpointError(
                    f"{operator.name}: the checkpoint has {count} key groups, and a parallelism of "
                    f"{vertex.parallelism} needs as many at least"
                )
