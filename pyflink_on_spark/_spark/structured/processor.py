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
    from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder
    from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
    from pyflink_on_spark._spark.structured.slot import LevelPlan


class Runs:
    """Notes which micro-batches slots have run, where all machines see it.

    If Spark loses what a task has sent to others, it runs the task again. Another run reads other
    elements, and of two runs that succeed Spark keeps the state of the first with the rows of the
    second. Rows for the driver are never lost in that way.

    Args:
        plan: that of the level.
        home: the URI of the query's folder.
    """

    def __init__(self, plan: LevelPlan, home: str) -> None:
        self._needed = plan.limits.notes_runs and bool(plan.ticks)
        self._home, self._configuration = home, plan.settings.configuration
        self._level, self._attempt = plan.number, plan.attempt
        self._begun: list[tuple[int, int]] = []

    def begin(self, slot: int, batch: int) -> None:
        """Begin to run a micro-batch.

        Raises:
            RuntimeError: a task that has succeeded has run it before.
        """
        if not self._needed:
            return
        self._begun.append((slot, batch))
        if self._name(slot, batch) in self._control().names():
            raise RuntimeError(
                f"Spark has lost what slot {slot} of level {self._level} sent in micro-batch "
                f"{batch}, and runs it again: its elements would not fit the state of the first "
                "run. The next attempt, if the restart strategy allows one, runs all of it again."
            )

    def end(self) -> None:
        """Note what has begun; the task has processed all of its rows."""
        begun, self._begun = self._begun, []
        for slot, batch in begun:
            self._control().write(self._name(slot, batch), b"")
            self._control().remove(self._name(slot, batch - 2))

    def _name(self, slot: int, batch: int) -> str:
        from pyflink_on_spark._spark.structured.slot import RAN

        return f"{RAN}-{self._attempt}-{batch}-{self._level}-{slot}"

    def _control(self) -> Folder:
        from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
        from pyflink_on_spark._spark.structured.batches import CONTROL

        return folder(self._home, self._configuration).inside(CONTROL)


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
        self._runs = Runs(plan, home)
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
        from pyflink_on_spark._spark.structured.levels import TICK
        from pyflink_on_spark._spark.structured.slot_process import begin

        life = functools.partial(begin, slot, self._plan, self._home, self._environment)
        resident = Resident(f"slot {slot} in {self._name}", life)
        given = [
            (row["subtask"], row["channel"], row["seq"], bytes(row["payload"] or b""))
            for row in rows
        ]
        self._runs.begin(slot, next(seq for _, channel, seq, _ in given if channel == TICK))
        for target, subtask, channel, seq, payload in resident.run(given, self._head, self._chunks):
            yield Row(target=target, subtask=subtask, channel=channel, seq=seq, payload=payload)

    def close(self) -> None:
        """Note that a task has processed all of its rows; the slots live on."""
        self._runs.end()
