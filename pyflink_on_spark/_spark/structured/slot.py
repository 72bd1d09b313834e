"""The subtasks of a level in one slot, as they live in a worker from micro-batch to micro-batch."""

from __future__ import annotations

import io
import itertools
import operator
import pickle
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._job.checkpoints.checkpoint_settings import keyed_operators, state_settings
from pyflink_on_spark._runtime.checkpoints.checkpoint import Restore, restored_states
from pyflink_on_spark._runtime.checkpoints.slot_state import (
    SlotState,
    TaskStateSnapshot,
    own_states,
    records_of,
)
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import without_collector
from pyflink_on_spark._runtime.checkpoints.state_file import KEYED, Record, RecordHead, write_record
from pyflink_on_spark._runtime.contract.plan import JobSettings
from pyflink_on_spark._runtime.diagnosis import LOGS, install_function_log
from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP, Barrier
from pyflink_on_spark._runtime.elements.immutability import serialize
from pyflink_on_spark._runtime.elements.time import Clock
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.task.barriers import SnapshotRequest
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow, FanOut, encode
from pyflink_on_spark._runtime.task.subtask_group import SubtaskGroup
from pyflink_on_spark._runtime.task.subtask_threads import TaskProgress, combine
from pyflink_on_spark._spark.structured.levels import (
    METRIC,
    RECORDS,
    STATE_ENTRIES,
    TICK,
    WATERMARK,
    Level,
    Levels,
    metric_channel,
)
from pyflink_on_spark._spark.structured.pace import BUSY, OVER, Bell, Idleness, rest_of
from pyflink_on_spark._spark.structured.state_log import Head, StateLog

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import DriverChannels, SendItems


_SLICE_SECONDS = 0.05
_REST_SECONDS = 0.005
_LONG_REST_SECONDS = 0.02
_REPORT_BYTES = 1 << 20
ENDS, DRAINS = "end", "drain"
"""The driver's requests to all slots: to close, or to end their sources."""
RAN = "ran"
"""The beginning of the names beside these requests that say which slot has run what."""

OutRow = tuple[int, int, int, int, bytes]


@dataclass(frozen=True)
class Limits:
    """The time for which a slot reads its sources in a micro-batch.

    Args:
        seconds: at most.
        idle: so many seconds it waits for something to read.
        patient: whether it waits for more when it has read something.
        bytes: about how much is sent to other slots at most, and as much to the driver.
        rests: whether it waits longer in a job without input, as ``Pace`` has it.
        notes_runs: whether it notes each run of a micro-batch, since executors may be lost.
    """

    seconds: float = 1.0
    idle: float = 0.2
    patient: bool = False
    bytes: int = 64 << 20
    rests: bool = False
    notes_runs: bool = False

    @classmethod
    def of(cls, bounded: bool, interval: int | None) -> Limits:
        """Return the limits of a job.

        Args:
            bounded: whether every source ends: the sources are read without a pause.
            interval: that of its checkpoints (ms), or None.
        """
        if not bounded:
            return cls(rests=interval is None)
        seconds = 10.0 if interval is None else interval / 1000
        return cls(seconds, idle=max(0.2, min(seconds, 10.0)), patient=True)


@dataclass(frozen=True)
class LevelPlan:
    """The plan of a level, for its tasks.

    Args:
        number: which level.
        level: its stages.
        settings: those of the job.
        routes: the integer of the slot of each subtask of the job.
        ticks: the integers of all slots of later levels, which the first level lets begin.
        driver: for each partition the integer of rows for the driver.
        attempt: how often the job was restarted.
        before: the number of the checkpoint that the job began with, or 0.
        restore: that checkpoint.
        limits: of reading.
    """

    number: int
    level: Level
    settings: JobSettings
    routes: dict[int, int]
    ticks: tuple[int, ...]
    driver: tuple[int, ...]
    attempt: int = 0
    before: int = 0
    restore: Restore | None = None
    limits: Limits = Limits()


def level_plans(
    levels: Levels,
    settings: JobSettings,
    attempt: int,
    restore: Restore | None,
    limits: Limits,
) -> list[LevelPlan]:
    """Return the plan of each level, for its tasks.

    Args:
        levels: those of the job.
        settings: those of the job.
        attempt: how often the job was restarted.
        restore: the checkpoint that the job begins with.
        limits: of reading.
    """
    targets = [level.targets for level in levels.levels]
    return [
        LevelPlan(
            number,
            level,
            settings,
            levels.routes,
            tuple(target for deeper in targets[number + 1 :] for target in deeper),
            levels.driver,
            attempt,
            0 if restore is None else restore.checkpoint_id,
            restore,
            limits,
        )
        for number, level in enumerate(levels.levels)
    ]


@dataclass(frozen=True)
class SlotReport:
    """The report of a slot to the driver at the end of a micro-batch.

    Args:
        level: its level.
        slot: which slot.
        closed: whether all its subtasks have ended and are closed.
        progress: how far each chain of each subtask is.
        committables: what its sinks have prepared.
        stored: the bytes of its log.
        idleness: the report on its input.
    """

    level: int
    slot: int
    closed: bool
    progress: tuple[TaskProgress, ...]
    committables: list[Any]
    stored: int
    idleness: Idleness = BUSY


class QuerySlot:
    """The subtasks of one level in one slot.

    Args:
        plan: what the level runs.
        slot: which slot.
        log: where its state is; read now, written at the end of each micro-batch.
        clock: processing time.
        batch: the micro-batch that comes first.
        now: the time in seconds; any clock that never goes back.
        rest: waits for some seconds.
    """

    def __init__(
        self,
        plan: LevelPlan,
        slot: int,
        log: StateLog,
        clock: Clock,
        batch: int,
        now: Callable[[], float] = time.monotonic,
        rest: Callable[[float], None] = time.sleep,
    ) -> None:
        self._plan, self._slot = plan, slot
        self._now, self._rest, self._clock = now, rest, clock
        self._written: dict[RecordHead, bytes] = {}
        self._sent: list[bytes] = []
        self._sent_bytes = 0
        self._outlet = _Outlet(plan.routes, plan.level)
        self._metrics = _Metrics(plan.level, METRIC - plan.number)
        self.head = log.head() or Head()
        self._done = False
        self._drained = self._ended = self._ending = False
        self._batch: int | None = None
        configuration = plan.settings.configuration
        self._log = install_function_log(configuration)
        state = state_settings(configuration, keyed_operators(plan.level.stages, slot))
        settings = replace(
            plan.settings, state=replace(state, track_changes=True), checkpointed=True
        )
        restored, runtime = self._restored(log, batch)
        self._group = SubtaskGroup(
            plan.level.stages,
            [slot],
            settings,
            clock,
            self._driver,
            plan.attempt,
            restored,
            self._outlet,
            now=now,
            shares=False,
        )
        self._done = bool(runtime.get("done"))
        if not self._done:
            try:
                self._group.open()
                for number, subtask in enumerate(self._group):
                    if runtime:
                        subtask.load_time(runtime["times"][number])
            except BaseException:
                self.close(failed=True)
                raise

    def _restored(
        self, log: StateLog, batch: int
    ) -> tuple[dict[int, TaskStateSnapshot] | None, dict[str, Any]]:
        plan, stages = self._plan, self._plan.level.stages
        if self.head.version == 0:
            if plan.restore is None:
                return None, {}
            found = restored_states(plan.restore, stages, [self._slot], plan.settings.configuration)
            return found, {}
        whole = SlotState.from_bytes(log.read(self.head))
        return (
            own_states(stages, self._slot, whole, plan.before + batch),
            pickle.loads(self.head.runtime),
        )

    def run(
        self,
        batch: int,
        rows: Iterable[ChannelRow],
        log: StateLog,
        wishes: Collection[str] = (),
        bell: Bell | None = None,
    ) -> list[OutRow]:
        """Process a micro-batch, write the state after it, and return what leaves the level.

        Args:
            batch: its number.
            rows: what came in for subtasks of this slot.
            log: where the state is.
            wishes: what the driver wants, as ``wish`` and ``Pace`` name it.
            bell: ends the waiting for input of all slots; without it nobody waits long.
        """
        checkpoint_id = self._plan.before + batch + 1
        if self._done:
            self._group.pass_barriers_on(checkpoint_id)
            return self._leaving(batch, checkpoint_id, idleness=OVER)
        self._ending = _wanted(ENDS, batch, wishes)
        self._group.read_on(not self._ending)
        if self._batch is not None:
            self._group.notify_checkpoint_complete(checkpoint_id - 1)
        if _wanted(DRAINS, batch, wishes) and not self._drained:
            self._drained = True
            self._group.end_sources()
        barrier = encode(Barrier(checkpoint_id))
        found = in_turns(rows)
        for row in found:
            if row.payload != barrier:
                self._group.receive(row)
        rests = bell is not None and self._plan.limits.rests
        idleness = self._work(rest_of(wishes) if rests else 0.0, bell)
        records = self._cut(checkpoint_id, [row for row in found if row.payload == barrier])
        prepared = self._group.committables()
        if self._group.ended or self._ending:
            told, self._ended = self._ended, True
            if told or self._ending or not self._hears:
                self._group.close()
                self._done = True
        self._batch = batch
        self._save(records, log)
        return self._leaving(batch, checkpoint_id, prepared, idleness)

    @property
    def _hears(self) -> bool:
        return any(subtask.hears_of_checkpoints for subtask in self._group)

    def _work(self, rest: float, bell: Bell | None) -> Idleness:
        """Process the queued rows, and read sources for a while.

        Args:
            rest: how long (s) to wait for something to read, if that is longer than usual.
            bell: ends this waiting.
        """
        group, limits, now = self._group, self._plan.limits, self._now
        begun = now()
        found = False
        idle = max(rest, limits.idle)
        while True:
            worked = group.turn(now() + _SLICE_SECONDS)
            if not found and (worked or self._outlet.bytes or self._sent):
                found, begun = True, now() if rest else begun
            passed = now() - begun
            most = limits.seconds if found else max(rest, limits.seconds)
            reading = group.reading and not group.paused and not self._ending
            if not reading and not group.busy and not worked:
                break
            sent = max(self._outlet.bytes, self._sent_bytes)
            if reading and (passed >= most or sent >= limits.bytes):
                break
            if not worked:
                if found and not limits.patient:
                    break
                if passed >= idle and not (found and limits.patient):
                    break
                longer = passed >= limits.idle and not limits.patient
                if longer and bell is not None and bell.rung():
                    break
                self._rest(_LONG_REST_SECONDS if longer else _REST_SECONDS)
        if found and rest and bell is not None:
            bell.ring()
        group.flush()
        return self._idleness(found)

    def _idleness(self, found: bool) -> Idleness:
        if not self._plan.limits.rests:
            return BUSY
        due = self._group.next_processing_time()
        return Idleness(found, None if due is None else max(0, due - self._clock.now()))

    def _cut(self, checkpoint_id: int, barriers: Iterable[ChannelRow]) -> list[Record]:
        """Let the barrier of a checkpoint pass all subtasks; return their state."""
        records: list[Record] = []
        group = self._group

        def write(index: int, state: TaskStateSnapshot) -> None:
            records.extend(records_of(index, state))
            state.note_taken()

        self._whole = self.head.wants_base
        taken = KeyedStateBackend.base_pieces if self._whole else KeyedStateBackend.change_pieces
        request = SnapshotRequest(checkpoint_id, write, taken, halt=True)
        with without_collector():
            group.begin_checkpoint(request)
            for row in barriers:
                shared = group.shares(row.channel)
                event = FanOut(row.channel, row.seq, Barrier(checkpoint_id))
                group.receive(event if shared else row)
            while not request.done:
                if not group.turn(self._now() + _SLICE_SECONDS) and not request.done:
                    raise RuntimeError(f"barriers of checkpoint {checkpoint_id} are missing")
        if request.error is not None:
            raise request.error
        return records

    def _save(self, records: list[Record], log: StateLog) -> None:
        """Write the changes, if there are any."""
        # After a stop whose savepoint cannot be written, the next attempt continues from here.
        done = self._done and not self._ending
        runtime = pickle.dumps(
            {"times": [subtask.save_time() for subtask in self._group], "done": done}, 5
        )
        written = self._written
        if self._whole:
            written.clear()
        changed = io.BytesIO()
        for head, content in records:
            if head.kind != KEYED:
                if written.get(head) == content:
                    continue
                written[head] = content
            write_record(changed, (head, content))
        content = changed.getvalue()
        writer = uuid.uuid4().hex
        if self._whole:
            self.head = log.replace(self.head, content, writer, runtime)
        elif content or runtime != self.head.runtime:
            self.head = log.append(self.head, content, writer, runtime)

    def _driver(self, _: int) -> DriverChannels:
        def of_channel(channel: str) -> SendItems:
            return lambda things: self._send(serialize((channel, things)))

        return of_channel

    def _send(self, part: bytes) -> None:
        self._sent.append(part)
        self._sent_bytes += len(part)

    def _leaving(
        self,
        batch: int,
        checkpoint_id: int,
        prepared: list[object] | None = None,
        idleness: Idleness = BUSY,
    ) -> list[OutRow]:
        """Return, once, the rows for other levels and for the driver."""
        plan = self._plan
        leaving = self._outlet.take()
        if plan.number == 0 and self._slot == 0:
            leaving += [(target, -1, TICK, batch, b"") for target in plan.ticks]
        if entries := self._log.take():
            self._sent.append(serialize((LOGS, entries)))
        progress = tuple(self._group.progress())
        stored = self.head.base + self.head.changes
        report = SlotReport(
            plan.number, self._slot, self._done, progress, prepared or [], stored, idleness
        )
        target = plan.driver[self._slot * len(plan.driver) // len(plan.level.targets)]
        for seq, part in enumerate([*_packed(self._sent), serialize(report)]):
            leaving.append((target, plan.number, self._slot, seq, part))
        self._sent.clear()
        self._sent_bytes = 0
        leaving += self._metrics.rows(target, progress)
        return leaving

    def close(self, failed: bool = False) -> None:
        """Close the subtasks, unless they are."""
        if not self._done:
            self._done = True
            self._group.close(failed)


def in_turns(rows: Iterable[ChannelRow]) -> list[ChannelRow]:
    """Return rows in their order on each channel; the channels take turns.

    The numbers of rows of different channels do not compare: a channel numbers those for all of
    its receivers, and all that came in earlier micro-batches.
    """
    ordered = sorted(rows, key=operator.attrgetter("channel", "seq"))
    channels = itertools.groupby(ordered, key=operator.attrgetter("channel"))
    turns = [(turn, row) for _, channel in channels for turn, row in enumerate(channel)]
    return [row for _, row in sorted(turns, key=operator.itemgetter(0))]


def wish(what: str, batch: int) -> str:
    """Return the name of the driver's request from a micro-batch on.

    Args:
        what: ENDS or DRAINS.
        batch: which micro-batch; none has begun that comes after the one before.
    """
    return f"{what}-{batch}"


def _wanted(what: str, batch: int, wishes: Collection[str]) -> bool:
    kinds = (name.partition("-") for name in wishes)
    return any(kind == what and int(first) <= batch for kind, _, first in kinds)


class _Outlet:
    """Keeps the rows for subtasks of later levels until the end of the micro-batch.

    Args:
        routes: the integer of the slot of each subtask.
        level: the level that the rows leave.
    """

    def __init__(self, routes: dict[int, int], level: Level) -> None:
        self._routes = routes
        self._here = {number for stage in level.stages for number, _, _ in stage.subtasks()}
        self._rows: list[OutRow] = []
        self.bytes = 0

    def send(self, row: ChannelRow, _: int) -> None:
        """Take a row."""
        payload = row.payload
        assert isinstance(payload, bytes)
        self.bytes += len(payload)
        self._rows.append(
            (self._routes[row.subtask_id], row.subtask_id, row.channel, row.seq, payload)
        )

    def spread(self, event: FanOut, _: int) -> None:
        """Take an event as a row for each receiver of another level: each slot has one."""
        for row in event.for_each():
            if row.subtask_id not in self._here:
                self.send(row, 0)

    def flush(self) -> None:
        """Do nothing: rows leave with the micro-batch."""

    def congested(self, _: int) -> bool:
        """False: there is always room."""
        return False

    def consumed(self, _: ChannelRow | FanOut, __: int) -> None:
        """Do nothing: no sender waits."""

    def take(self) -> list[OutRow]:
        """Return, once, the sent rows."""
        rows, self._rows, self.bytes = self._rows, [], 0
        return rows


class _Metrics:
    """Makes rows of what Spark's progress of a micro-batch is to have of a slot.

    Args:
        level: the level of the slot.
        subtask: the subtask of these rows.
    """

    def __init__(self, level: Level, subtask: int) -> None:
        self._places = {name: place for place, name in enumerate(level.chains)}
        self._subtask, self._records = subtask, dict.fromkeys(self._places, 0)

    def rows(self, target: int, progress: Iterable[TaskProgress]) -> Iterator[OutRow]:
        """Yield the rows of a micro-batch.

        Args:
            target: the integer of the driver.
            progress: that of the chains.
        """
        for task in combine(progress):
            place, before = self._places[task.name], self._records[task.name]
            self._records[task.name] = task.records
            numbers = {
                RECORDS: task.records - before,
                STATE_ENTRIES: task.state_entries,
                WATERMARK: MIN_TIMESTAMP if task.watermark is None else task.watermark,
            }
            for kind, number in numbers.items():
                yield target, self._subtask, metric_channel(place, kind), number, b""


def _packed(parts: list[bytes]) -> Iterator[bytes]:
    """Yield pickled lists of parts, each of about a megabyte."""
    some: list[bytes] = []
    size = 0
    for part in parts:
        some.append(part)
        size += len(part)
        if size >= _REPORT_BYTES:
            yield pickle.dumps(some, 5)
            some, size = [], 0
    if some:
        yield pickle.dumps(some, 5)
