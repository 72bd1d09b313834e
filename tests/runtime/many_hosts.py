"""The hosts of an attempt in one process, whose rows travel as late as chance wants it."""

from __future__ import annotations

import pickle
import random
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.checkpoint_writer import HostSnapshot
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.checkpoints.checkpoint import restored_states
from pyflink_on_spark._runtime.checkpoints.slot_state import TaskStateSnapshot
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import WHOLE, SnapshotWriter
from pyflink_on_spark._runtime.contract.operator import DriverChannels
from pyflink_on_spark._runtime.contract.plan import StagePlan
from pyflink_on_spark._runtime.elements.time import Clock
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow, FanOut, encode
from pyflink_on_spark._runtime.task.subtask_group import SnapshotRequest, SubtaskGroup
from tests.runtime.pretend_threads import PretendThreads

_MOST_UNDER_WAY = 6
_MOST_TURNS = 20_000


class HostGone(Exception):
    """A host is lost."""


class _Outlet:
    """Sends the rows of one host, and counts those that are not processed."""

    def __init__(self, hosts: ManyHosts) -> None:
        self._hosts = hosts
        self.group: SubtaskGroup | None = None
        self.under_way: Counter[int] = Counter()

    def send(self, row: ChannelRow, stage: int) -> None:
        assert isinstance(row.payload, bytes)
        self.under_way[stage] += 1
        self._hosts.put(self._hosts.host_of[row.subtask_id], row, self)

    def spread(self, event: FanOut, stage: int) -> None:
        payload = encode(event.payload)
        for host in {self._hosts.host_of[number] for number in event.receivers}:
            if self._hosts.groups[host] is not self.group:
                self.under_way[stage] += 1
                self._hosts.put(host, FanOut(event.channel, event.seq, payload), self)

    def flush(self) -> None:
        pass

    def congested(self, stage: int) -> bool:
        return any(
            count > _MOST_UNDER_WAY for deep, count in self.under_way.items() if deep >= stage
        )

    def consumed(self, row: ChannelRow | FanOut, stage: int) -> None:
        assert self.group is not None
        name = self._hosts.name_of(row, self._hosts.groups.index(self.group))
        self._hosts.sender_of.pop(name).under_way[stage] -= 1


class ManyHosts:
    """All hosts of an attempt; see ``Hosts``.

    Args:
        job: what runs.
        count: how many hosts.
        clock: processing time.
        driver: gives, for a slot, what gives for a channel's name what sends to the driver.
        seed: of all that chance decides.
        attempt: how often the job was restarted.
        restore: the number of the checkpoint to begin with, and its folder or content.
        saved: is called with its slot whenever a subtask has written its state.
        threads: whether chance finds that functions wait, so that they get threads.
    """

    def __init__(
        self,
        job: Job,
        count: int,
        clock: Clock,
        driver: Callable[[int], DriverChannels],
        seed: int = 0,
        attempt: int = 0,
        restore: tuple[int, str | bytes] | None = None,
        saved: Callable[[int], None] = lambda slot: None,
        threads: bool = False,
    ) -> None:
        self._saved = saved
        self._random, self._turns, self._time = random.Random(seed), 0, 0.0
        stages: tuple[StagePlan, ...] = pickle.loads(pickle.dumps(job.stages))
        slots = max(vertex.parallelism for stage in stages for vertex in stage.vertices)
        count = min(count, slots)
        self.channels: dict[tuple[int, int], deque[tuple[ChannelRow | FanOut, _Outlet]]] = {}
        self.sender_of: dict[tuple[int, int, int], _Outlet] = {}
        self.refuses: int | None = None
        """The host that cannot write its state."""
        self.lost = False
        """True if a host is lost while it takes its next checkpoint."""
        self.late = False
        """True if the next checkpoint takes too long."""
        self._parts: dict[int, tuple[SnapshotWriter | None, SnapshotRequest]] = {}
        """Of the checkpoint under way: what each host writes with, once the host knows of it."""
        self.groups: list[SubtaskGroup] = []
        self._threads: list[PretendThreads] = []
        self._some_wait = threads
        self.host_of: dict[int, int] = {}
        slot_of = {
            vertex.first_subtask_id + index: index
            for stage in stages
            for vertex in stage.vertices
            for index in range(vertex.parallelism)
        }
        for number in range(count):
            mine = [slot for slot in range(slots) if slot * count // slots == number]
            settings = pickle.loads(pickle.dumps(job.settings))
            restored = None
            if restore is not None:
                restored = restored_states(restore, stages, mine, {})
            outlet = _Outlet(self)
            self._threads.append(PretendThreads(seed + number))
            self.groups.append(
                SubtaskGroup(
                    stages,
                    mine,
                    settings,
                    clock,
                    lambda number: driver(slot_of[number]),
                    attempt,
                    restored,
                    outlet,
                    now=self._now,
                    threads=self._threads[number],
                )
            )
            outlet.group = self.groups[-1]
            self.host_of |= {
                number: len(self.groups) - 1 for number in slot_of if slot_of[number] in mine
            }
        for number, group in enumerate(self.groups):
            self._does(number, group.open)

    # -- work ------------------------------------------------------------------------------------

    def turn(self) -> None:
        """Let a host work, or let a row arrive."""
        self._turns += 1
        assert self._turns < _MOST_TURNS, "the job is stuck"
        rows = [channel for channel, waiting in self.channels.items() if waiting]
        choice = self._random.randrange(len(self.groups) + len(rows))
        if choice < len(self.groups):
            until = self._time + self._random.choice([0.0, 0.0, 0.1])
            if self._some_wait:
                self._threads[choice].let_some_wait(self.groups[choice])
            self._does(choice, self.groups[choice].turn, until)
            return
        channel = rows[choice - len(self.groups)]
        row, outlet = self.channels[channel].popleft()
        number, _ = channel
        self.sender_of[self.name_of(row, number)] = outlet
        self._does(number, self.groups[number].receive, row)

    def name_of(self, row: ChannelRow | FanOut, host: int) -> tuple[int, int, int]:
        """Return the name of a row that has come to a host; an event of all comes once."""
        receiver = row.subtask_id if isinstance(row, ChannelRow) else -1 - host
        return row.channel, receiver, row.seq

    def put(self, host: int, row: ChannelRow | FanOut, outlet: _Outlet) -> None:
        """Let something be under way to a host; what comes on a channel stays in its order."""
        self.channels.setdefault((host, row.channel), deque()).append((row, outlet))

    def _does(self, number: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """Let a host do something; what is under way to a host that is lost has no effect."""
        return function(*arguments)

    def _check(self) -> None:
        """Raise what the driver raises that waits for hosts, of which one does not answer."""

    def _now(self) -> float:
        """Return the time: now and then something takes long."""
        self._time += self._random.choice([0.0] * 20 + [0.02])
        return self._time

    @property
    def ended(self) -> bool:
        return all(group.ended for group in self.groups)

    @property
    def paused(self) -> bool:
        """True if all sources wait for a checkpoint."""
        reading = [group for group in self.groups if group.reading]
        return bool(reading) and all(group.paused for group in reading)

    def close(self, failed: bool = False) -> None:
        for number, group in enumerate(self.groups):
            self._does(number, group.close, failed)
        if not failed:
            self._check()
            assert not any(self.channels.values())
            assert not self.sender_of

    # -- Hosts -----------------------------------------------------------------------------------

    def snapshot(
        self,
        checkpoint_id: int,
        where: str | None,
        contents: str = WHOLE,
        *,
        halt: bool = False,
        timeout: float | None = None,
    ) -> dict[int, HostSnapshot]:
        orders = list(range(len(self.groups)))
        self._random.shuffle(orders)
        order = (checkpoint_id, where, contents, halt)
        self._parts = {}
        try:
            while orders or not self._all_written():
                if orders and self._random.random() < 0.3:
                    number = orders.pop()
                    self._does(number, self._begin, number, *order)
                    if self.lost:
                        raise HostGone
                elif not orders and self.late and self._random.random() < 0.2:
                    raise TimeoutError("a host has not answered")
                self.turn()
            for _, request in self._parts.values():
                if request.error is not None:
                    raise request.error
            return {number: self._finished(number) for number in self._parts}
        except BaseException as error:
            for number in orders:  # their orders are under way, and come before what follows
                self._does(number, self._begin, number, *order)
            for number in range(len(self.groups)):
                self._does(number, self._abandon, number, error)
            raise

    def _all_written(self) -> bool:
        parts = self._parts.values()
        return len(parts) == len(self.groups) and all(request.done for _, request in parts)

    def _finished(self, number: int) -> HostSnapshot:
        writer, _ = self._parts[number]
        assert writer is not None
        written = self._does(number, writer.finish, self.groups[number].prepared)
        self._check()
        return HostSnapshot(*pickle.loads(pickle.dumps(written)))

    def _abandon(self, number: int, error: BaseException) -> None:
        writer, _ = self._parts.get(number, (None, None))
        if writer is not None:
            writer.abandon(error)

    def _begin(
        self, number: int, checkpoint_id: int, where: str | None, contents: str, halt: bool
    ) -> None:
        try:
            writer = SnapshotWriter(checkpoint_id, where, contents, number, {})
        except CheckpointError as error:
            refused = SnapshotRequest(checkpoint_id, lambda index, state: None)
            self._parts[number] = None, refused
            refused.fail(error)  # which lets the barriers of other hosts pass
            self.groups[number].begin_checkpoint(refused)
            return

        def write(index: int, state: TaskStateSnapshot) -> None:
            if number == self.refuses:
                raise CheckpointError("a host cannot write")
            writer.write(index, state)
            self._saved(index)

        request = SnapshotRequest(checkpoint_id, write, writer.taken, halt)
        self._parts[number] = writer, request
        self.groups[number].begin_checkpoint(request)

    def committables(self) -> list[Any]:
        prepared = []
        for number, group in enumerate(self.groups):
            things = self._does(number, group.committables)
            self._check()
            prepared += things
        return prepared

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        for number, group in enumerate(self.groups):
            self._does(number, group.notify_checkpoint_complete, checkpoint_id)
        self._check()

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        for number, group in enumerate(self.groups):
            self._does(number, group.abort_checkpoint, checkpoint_id)
            self._does(number, group.notify_checkpoint_aborted, checkpoint_id)

    def end_sources(self) -> None:
        for number, group in enumerate(self.groups):
            self._does(number, group.end_sources)
        self._check()
