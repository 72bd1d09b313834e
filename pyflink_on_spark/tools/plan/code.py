"""The Python code that runs for each element of a job."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pyflink_on_spark._job.submission.job import Job
from pyflink_on_spark._runtime.contract.plan import JobSettings, VertexPlan
from pyflink_on_spark._runtime.elements.clock import SystemClock
from pyflink_on_spark._runtime.operators.function_loop import FusableOperator, loop_texts
from pyflink_on_spark._runtime.task.subtask_builder import SubtaskBuilder, SubtaskContext


def code_of(job: Job) -> str:
    """The loops of a job's chains as text, in the order of the flow.

    User functions are loaded, but not opened.

    Args:
        job: a recorded job.
    """
    chains = [
        text
        for stage in job.stages
        for vertex in stage.vertices
        for text in _chains(vertex, job.settings)
    ]
    return "\n\n\n".join(chains)


def _chains(vertex: VertexPlan, settings: JobSettings) -> Iterator[str]:
    context = SubtaskContext(vertex, 0, settings, SystemClock(), lambda channel: _to_nobody)
    builder = SubtaskBuilder(context, _to_nobody, time.monotonic)
    built = builder.build()
    for plan, opened_with in built.contexts:
        if isinstance(plan.operator, FusableOperator):
            plan.operator.open(replace(opened_with, opens_functions=False))
    for described, chain in zip(builder.vertex.chains, built.chains, strict=True):
        names = dict.fromkeys(operator.name for operator in described.operators)
        shown = " -> ".join(name for name in names if not name.startswith("_"))
        timed = described.source is None or described.source.timestamped
        loops = list(loop_texts(chain.operators, timed))
        if loops:
            yield "\n".join([f"# {shown}", *loops])


def _to_nobody(_: Any) -> None:
    """Drop what nobody receives."""
