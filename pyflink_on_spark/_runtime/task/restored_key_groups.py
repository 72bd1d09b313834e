"""The numbers of key groups of a job that begins with a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.contract.plan import (
    ExchangePlan,
    OperatorChainPlan,
    StagePlan,
    VertexPlan,
)

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
