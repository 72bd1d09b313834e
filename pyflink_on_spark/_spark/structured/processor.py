"""The stateful processor that Spark calls in a worker for the rows of each slot.

Spark also makes one in a new process of the driver whenever a query starts, only to see its state.
So this module imports nothing of the runtime, which only workers need.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from pyflink_on_spark._spark.structured.resident import Resident
from pyflink_on_spark._spark.structured.state_log import (
    CHUNK_SCHEMA,
    HEAD,
    HEAD_SCHEMA,
    KEY_SCHEMA,
    LOG,
)

if TYPE_CHECKING:
    from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
    from pyflink_on_spark._spark.structured.slot import LevelPlan


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

    def handleInputRows(self, key: Any, rows: Any, timerValues: object) -> Iterator[Row]:  # noqa: N802, N803
        """Process the rows of a slot."""
        slot = self._slots.get(key[0])
        if slot is None:
            yield from rows
            return
        from pyflink_on_spark._spark.structured.slot_process import begin

        life = functools.partial(begin, slot, self._plan, self._home, self._environment)
        resident = Resident(f"slot {slot} in {self._name}", life)
        given = [
            (row["subtask"], row["channel"], row["seq"], bytes(row["payload"] or b""))
            for row in rows
        ]
        for target, subtask, channel, seq, payload in resident.run(given, self._head, self._chunks):
            yield Row(target=target, subtask=subtask, channel=channel, seq=seq, payload=payload)

    def close(self) -> None:
        """Do nothing: the slots live on."""
