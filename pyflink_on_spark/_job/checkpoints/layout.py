"""The owners of state in a job."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pyflink_on_spark._runtime.checkpoints.restore_check import JobLayout
from pyflink_on_spark._runtime.contract.plan import OperatorPlan
from pyflink_on_spark._runtime.contract.state_meaning import Meanings
from pyflink_on_spark._runtime.operators.sink import SinkOperator


def sink_names(operators: Iterable[OperatorPlan]) -> dict[int, str]:
    """Return the stable names of a job's sinks by their numbers."""
    return {
        plan.operator.sink_id: plan.state_id or ""
        for plan in operators
        if isinstance(plan.operator, SinkOperator)
    }


def layout_of(
    operators: Collection[OperatorPlan],
    sources: Collection[str],
    of_sources: Meanings | None = None,
) -> JobLayout:
    """Return the owners of state in a job.

    Args:
        operators: all of the job.
        sources: the stable names of its sources.
        of_sources: what the positions of sources mean, by the stable name of each.
    """
    meanings = {
        plan.state_id: plan.meaning
        for plan in operators
        if plan.state_id is not None and plan.meaning is not None
    }
    return JobLayout(
        {plan.state_id: plan.max_parallelism for plan in operators if plan.state_id},
        sources,
        set(sink_names(operators).values()),
        {plan.state_id for plan in operators if plan.state_id and not plan.max_parallelism_set},
        {**(of_sources or {}), **meanings},
    )
