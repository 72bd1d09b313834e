"""The life of a slot in a process of its own.

A worker imports this before it starts such a process, which is a copy of the worker: so the runtime
is loaded once, and not by each slot of each query.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow
from pyflink_on_spark._runtime.user_code import install_classes
from pyflink_on_spark._spark.jobs.worker_environment import FAILURE_BEGINS, FAILURE_ENDS
from pyflink_on_spark._spark.structured.batches import CONTROL, RUN, over
from pyflink_on_spark._spark.structured.levels import TICK
from pyflink_on_spark._spark.structured.pace import Bell
from pyflink_on_spark._spark.structured.resident import Serve
from pyflink_on_spark._spark.structured.state_log import StateLog
from pyflink_on_spark._spark.structured.worker import Worker

if TYPE_CHECKING:
    from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
    from pyflink_on_spark._spark.structured.slot import LevelPlan, OutRow


def begin(
    slot: int, pickled_plan: bytes, home_uri: str, pickled_environment: bytes
) -> tuple[Serve, Callable[[], bool]]:
    """Begin the life of a slot; for the result see ``Begin``.

    Args:
        slot: which slot.
        pickled_plan: what its level runs.
        home_uri: the URI of the query's folder.
        pickled_environment: of the user's functions.
    """
    environment: WorkerEnvironment = pickle.loads(pickled_environment)
    environment.active().__enter__()  # for the life of this process
    plan: LevelPlan = pickle.loads(pickled_plan)
    install_classes(plan.settings.classes)
    home = folder(home_uri, plan.settings.configuration)
    control, worker = home.inside(CONTROL), Worker()
    bell = Bell(control)

    def serve(given: list[Any], log: StateLog) -> list[OutRow]:
        rows = [ChannelRow(*row) for row in given]
        batch = next(row.seq for row in rows if row.channel == TICK)
        rows = [row for row in rows if row.channel != TICK]
        try:
            return worker.run(plan, slot, batch, rows, log, control.names(), bell)
        except SubtaskFailure as failure:
            raise SubtaskFailure(f"{FAILURE_BEGINS}{failure}{FAILURE_ENDS}") from None

    def is_over() -> bool:
        names = home.names()
        if RUN in names and over(plan.attempt) not in names:
            return False
        worker.leave_all()
        return True

    return serve, is_over
