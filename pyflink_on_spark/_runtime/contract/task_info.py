"""The identity of a subtask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TaskInfo:
    """Who a subtask is.

    Args:
        task_name: the names of the chained operators, joined by `` -> ``.
        subtask_index: from 0.
        parallelism: how many subtasks the vertex has.
        max_parallelism: up to which the task's parallelism may grow.
        attempt: how often the job was restarted, from 0.
        job_id: 32 hexadecimal digits.
        job_parameters: the user's global job parameters.
        batch: whether the job runs with BATCH semantics.
    """

    task_name: str
    subtask_index: int
    parallelism: int
    max_parallelism: int = 128
    attempt: int = 0
    job_id: str = ""
    job_parameters: Mapping[str, str] = field(default_factory=dict)
    batch: bool = False

    @property
    def task_name_with_subtasks(self) -> str:
        """The name with the subtask from 1, the parallelism and the attempt."""
        return f"{self.task_name} ({self.subtask_index + 1}/{self.parallelism})#{self.attempt}"
