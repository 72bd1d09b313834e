"""The result of a job that has finished."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common.job_id import JobID

__all__ = ["JobExecutionResult"]


@dataclass(frozen=True)
class JobOutcome:
    """An engine's record of a job that has finished.

    Args:
        job_id: 32 hexadecimal digits.
        net_runtime_ms: from the job's start to its end, in ms.
        accumulators: the job's accumulators by name.
    """

    job_id: str
    net_runtime_ms: int
    accumulators: Mapping[str, Any] = field(default_factory=dict)


class JobExecutionResult:
    """The result of a job: how long it took, and its accumulators.

    Args:
        j_job_execution_result: the engine's ``JobOutcome``.
    """

    def __init__(self, j_job_execution_result: object) -> None:
        call = "JobExecutionResult(j_job_execution_result)"
        self._outcome = own_handle(j_job_execution_result, JobOutcome, call)

    def get_job_id(self) -> JobID:
        """Return which job it was."""
        return JobID(self._outcome.job_id)

    def get_net_runtime(self) -> int:
        """Return how long the job took, in ms."""
        return self._outcome.net_runtime_ms

    def get_accumulator_result(self, accumulator_name: str) -> Any:
        """Return the value of an accumulator, or None if the job had none of that name."""
        return self._outcome.accumulators.get(accumulator_name)

    def get_all_accumulator_results(self) -> dict[str, Any]:
        """Return the values of all accumulators by name."""
        return dict(self._outcome.accumulators)

    def __str__(self) -> str:
        lines = [
            "Program execution finished",
            f"Job with JobID {self._outcome.job_id} has finished.",
            f"Job Runtime: {self._outcome.net_runtime_ms} ms",
        ]
        if self._outcome.accumulators:
            lines.append("Accumulator Results: ")
            lines += [_line(name, value) for name, value in self._outcome.accumulators.items()]
        return "\n".join(lines) + "\n"


def _line(name: str, value: Any) -> str:
    many = isinstance(value, Sized) and not isinstance(value, str | bytes)
    shown = f" [{len(value)} elements]" if many else f": {value}"
    return f"- {name} ({type(value).__name__}){shown}"


__getattr__ = missing_name(__name__)
