"""What Spark calls in a worker for the rows of each slot: a stateful processor."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from pyflink_on_spark._runtime.checkpoints.folder import folder
from pyflink_on_spark._runtime.task.exchange import ChannelRow
from pyflink_on_spark._runtime.user_code.failure import SubtaskFailure
from pyflink_on_spark._runtime.user_code.main_module import install_classes
from pyflink_on_spark._spark.jobs.stage_function import FAILURE_BEGINS, FAILURE_ENDS
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.structured.levels import CHANNEL, PAYLOAD, SEQ, SUBTASK, TICK
from pyflink_on_spark._spark.structured.slot import LevelPlan, OutRow
from pyflink_on_spark._spark.structured.state_log import (
    CHUNK_SCHEMA,
    HEAD,
    HEAD_SCHEMA,
    KEY_SCHEMA,
    LOG,
    StateLog,
)
from pyflink_on_spark._spark.structured.worker import Worker

CONTROL = "control"
"""The folder, in the home of a query, where the driver leaves what it wants."""


_plans: dict[tuple[str, int, int], LevelPlan] = {}
_worker = Worker()


class SlotProcessor(StatefulProcessor):
    """Processes the rows of the slots of one level; those for other levels pass.

    The subtasks stay in the worker from one micro-batch to the next one. They are restored from the
    state store where the store says that they are not what was committed last: after a failure, in
    another worker.

    Args:
        plan: the pickled LevelPlan, which is not looked into in the driver.
        name: which level of which attempt.
        home: the URI of the query's folder.
        environment: of the user's functions.
    """

    def __init__(
        self, plan: bytes, name: tuple[int, int], home: str, environment: WorkerEnvironment
    ) -> None:
        self._plan, self._home, self._environment = plan, home, environment
        self._attempt, self._level = name

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state; the driver calls this as well, to know it."""
        self._head: Any = handle.getValueState(HEAD, HEAD_SCHEMA)
        self._chunks: Any = handle.getMapState(LOG, KEY_SCHEMA, CHUNK_SCHEMA)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Process the rows of a slot."""
        with self._environment.active():
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
        name = self._home, self._attempt, self._level
        if name not in _plans:
            plan: LevelPlan = pickle.loads(self._plan)
            install_classes(plan.settings.classes)
            _plans[name] = plan
        return _plans[name]

    def _run(self, plan: LevelPlan, number: int, rows: list[Row]) -> list[OutRow]:
        batch = next(row[SEQ] for row in rows if row[CHANNEL] == TICK)
        given = [
            ChannelRow(row[SUBTASK], row[CHANNEL], row[SEQ], bytes(row[PAYLOAD]))
            for row in rows
            if row[CHANNEL] != TICK
        ]
        log = StateLog(self._head, self._chunks)
        return _worker.run(plan, self._home, number, batch, given, log, self._wishes(plan))

    def _wishes(self, plan: LevelPlan) -> list[str]:
        return folder(f"{self._home}/{CONTROL}", plan.settings.configuration).names()
