"""The stateful processor that Spark calls in a worker for the rows of each slot.

Spark also makes one in a new process of the driver whenever a query starts, only to see its state.
So this module imports nothing of the runtime, which only the processes of slots need.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from pyflink_on_spark._spark.structured.resident import Resident, Serve
from pyflink_on_spark._spark.structured.slot import (
    CHUNK_SCHEMA,
    HEAD,
    HEAD_SCHEMA,
    KEY_SCHEMA,
    LOG,
    StateLog,
)

if TYPE_CHECKING:
    from pyflink_on_spark._spark.jobs.stage_function import WorkerEnvironment
    from pyflink_on_spark._spark.structured.slot import LevelPlan, OutRow


class SlotProcessor(StatefulProcessor):
    """Processes the rows of the slots of one level; those for other levels pass.

    Args:
        plan: what the level runs.
        home: the URI of the query's folder.
        environment: of the user's functions.
    """

    def __init__(self, plan: LevelPlan, home: str, environment: WorkerEnvironment) -> None:
        self._home = home
        self._name = f"level {plan.number} of attempt {plan.attempt} of {home}"
        self._slots = {target: slot for slot, target in enumerate(plan.level.targets)}
        self._plan, self._environment = pickle.dumps(plan, 5), pickle.dumps(environment, 5)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state; the driver calls this as well, to know it."""
        self._head: Any = handle.getValueState(HEAD, HEAD_SCHEMA)
        self._chunks: Any = handle.getMapState(LOG, KEY_SCHEMA, CHUNK_SCHEMA)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Process the rows of a slot."""
        slot = self._slots.get(key[0])
        if slot is None:
            yield from rows
            return
        resident = Resident(f"slot {slot} in {self._name}", functools.partial(self._begin, slot))
        given = [
            (row["subtask"], row["channel"], row["seq"], bytes(row["payload"] or b""))
            for row in rows
        ]
        for target, subtask, channel, seq, payload in resident.run(given, self._head, self._chunks):
            yield Row(target=target, subtask=subtask, channel=channel, seq=seq, payload=payload)

    def close(self) -> None:
        """Do nothing: the slots live on."""

    def _begin(self, slot: int) -> tuple[Serve, Callable[[], bool]]:
        """Begin the life of a slot in its process."""
        from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
        from pyflink_on_spark._runtime.diagnosis.failure import SubtaskFailure
        from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow
        from pyflink_on_spark._runtime.user_code.user_function import install_classes
        from pyflink_on_spark._spark.jobs.stage_function import FAILURE_BEGINS, FAILURE_ENDS
        from pyflink_on_spark._spark.structured.batches import CONTROL, RUN, over
        from pyflink_on_spark._spark.structured.levels import TICK
        from pyflink_on_spark._spark.structured.worker import Worker

        environment: WorkerEnvironment = pickle.loads(self._environment)
        environment.active().__enter__()  # for the life of this process
        plan: LevelPlan = pickle.loads(self._plan)
        install_classes(plan.settings.classes)
        home = folder(self._home, plan.settings.configuration)
        control, worker = home.inside(CONTROL), Worker()

        def serve(given: list[Any], log: StateLog) -> list[OutRow]:
            rows = [ChannelRow(*row) for row in given]
            batch = next(row.seq for row in rows if row.channel == TICK)
            rows = [row for row in rows if row.channel != TICK]
            try:
                return worker.run(plan, slot, batch, rows, log, control.names())
            except SubtaskFailure as failure:
                raise SubtaskFailure(f"{FAILURE_BEGINS}{failure}{FAILURE_ENDS}") from None

        def is_over() -> bool:
            names = home.names()
            if RUN in names and over(plan.attempt) not in names:
                return False
            worker.leave_all()
            return True

        return serve, is_over
