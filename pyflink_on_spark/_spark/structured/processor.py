"""What Spark calls in a worker for the rows of each slot: a stateful processor.

Spark also makes one in a new process of the driver whenever a query starts, only to see its state.
So this module imports nothing of the runtime before there are rows.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from pyflink_on_spark._spark.structured.state_log import (
    CHUNK_SCHEMA,
    HEAD,
    HEAD_SCHEMA,
    KEY_SCHEMA,
    LOG,
    StateLog,
)

if TYPE_CHECKING:
    from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
    from pyflink_on_spark._spark.structured.slot import LevelPlan, OutRow
    from pyflink_on_spark._spark.structured.worker import Worker

_plans: dict[tuple[str, int, int], LevelPlan] = {}
_workers: list[Worker] = []


class SlotProcessor(StatefulProcessor):
    """Processes the rows of the slots of one level; those for other levels pass.

    Args:
        plan: the LevelPlan.
        home: the URI of the query's folder.
        environment: of the user's functions.
    """

    def __init__(self, plan: LevelPlan, home: str, environment: WorkerEnvironment) -> None:
        self._name = home, plan.attempt, plan.number
        self._plan, self._environment = pickle.dumps(plan, 5), pickle.dumps(environment, 5)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state; the driver calls this as well, to know it."""
        self._head: Any = handle.getValueState(HEAD, HEAD_SCHEMA)
        self._chunks: Any = handle.getMapState(LOG, KEY_SCHEMA, CHUNK_SCHEMA)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Process the rows of a slot."""
        from pyflink_on_spark._runtime.diagnosis.failure import SubtaskFailure
        from pyflink_on_spark._spark.jobs.stage_function import FAILURE_BEGINS, FAILURE_ENDS

        environment: WorkerEnvironment = pickle.loads(self._environment)
        with environment.active():
            plan = self._level_plan()
            if key[0] not in plan.level.targets:
                yield from rows
                return
            try:
                leaving = self._run(plan, plan.level.targets.index(key[0]), list(rows))
            except SubtaskFailure as failure:
                raise SubtaskFailure(f"{FAILURE_BEGINS}{failure}{FAILURE_ENDS}") from None
            for target, subtask, channel, seq, payload in leaving:
                yield Row(target=target, subtask=subtask, channel=channel, seq=seq, payload=payload)

    def close(self) -> None:
        """Do nothing: the subtasks live on."""

    def _level_plan(self) -> LevelPlan:
        from pyflink_on_spark._runtime.user_code.user_function import install_classes

        if self._name not in _plans:
            plan: LevelPlan = pickle.loads(self._plan)
            install_classes(plan.settings.classes)
            _plans[self._name] = plan
        return _plans[self._name]

    def _run(self, plan: LevelPlan, number: int, rows: list[Row]) -> list[OutRow]:
        from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
        from pyflink_on_spark._runtime.task.exchange import ChannelRow
        from pyflink_on_spark._spark.structured.batches import CONTROL
        from pyflink_on_spark._spark.structured.levels import CHANNEL, PAYLOAD, SEQ, SUBTASK, TICK
        from pyflink_on_spark._spark.structured.worker import Worker

        if not _workers:
            _workers.append(Worker())
        batch = next(row[SEQ] for row in rows if row[CHANNEL] == TICK)
        given = [
            ChannelRow(row[SUBTASK], row[CHANNEL], row[SEQ], bytes(row[PAYLOAD]))
            for row in rows
            if row[CHANNEL] != TICK
        ]
        home = self._name[0]
        wishes = folder(f"{home}/{CONTROL}", plan.settings.configuration).names()
        log = StateLog(self._head, self._chunks)
        return _workers[0].run(plan, home, number, batch, given, log, wishes)
