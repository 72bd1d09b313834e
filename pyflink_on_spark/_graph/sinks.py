"""The sinks of a job in their places, where no two may have the same."""

from __future__ import annotations

from collections.abc import Iterable

from pyflink_on_spark._compat.errors import JobTranslationError
from pyflink_on_spark._graph.physical_graph import PhysicalNode
from pyflink_on_spark._runtime.contract.connector import Sink
from pyflink_on_spark._runtime.operators.sink import SinkOperator


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
