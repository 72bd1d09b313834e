"""A host: the process that has the subtasks of some slots for an attempt."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._cluster.transport.data_plane import DataPlane, PeerLost
from pyflink_on_spark._cluster.transport.handshake import (
    HANDSHAKE_SECONDS,
    HEARTBEAT,
    SAMPLE,
    Address,
    Endpoint,
    HostLost,
    Listener,
    NetworkSettings,
    RpcConnection,
    dial,
)
from pyflink_on_spark._cluster.transport.result_channel import (
    ChannelAddress,
    ChannelClosed,
    ChannelFailed,
    Sender,
    connect,
)
from pyflink_on_spark._cluster.transport.stream import MessageConnection
from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.checkpoint_settings import keyed_operators, state_settings
from pyflink_on_spark._job.checkpoints.checkpoint_writer import HostSnapshot
from pyflink_on_spark._runtime.checkpoints.checkpoint import Restore, restored_states
from pyflink_on_spark._runtime.checkpoints.slot_state import DRIVER, TaskStateSnapshot
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import FEW_ENTRIES, SnapshotWriter
from pyflink_on_spark._runtime.contract.connector import LargeCommittable
from pyflink_on_spark._runtime.contract.plan import StagePlan
from pyflink_on_spark._runtime.diagnosis import LOGS, FunctionLog, install_function_log
from pyflink_on_spark._runtime.elements.time import SystemClock, step
from pyflink_on_spark._runtime.task.barriers import SnapshotRequest
from pyflink_on_spark._runtime.task.stacks import sample
from pyflink_on_spark._runtime.task.subtask_group import SubtaskGroup
from pyflink_on_spark._runtime.task.subtask_threads import (
    SubtaskThreads,
    TaskProgress,
    thread_usage,
)
from pyflink_on_spark._runtime.user_code import install_classes

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import SendItems


_SLICE_SECONDS = 0.01
_SHORTEST_REST, _USUAL_REST, _LONGEST_REST = 0.001, 0.02, 0.1
_GROWTH = 1.02
"""How rests grow beyond the usual one: after some seconds without work they are the longest."""
_REPORT_SECONDS, _IDLE_REPORT_SECONDS = 0.5, 2.0
_leave = os._exit  # which is refused while functions run
_LATER = object()


class DriverChannels:
    """Connects with a channel when something is sent there for the first time.

    Args:
        deployment: what the host runs; it has the addresses of the channels.
    """

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._senders: dict[tuple[str, int], Sender] = {}
        self._connecting = threading.Lock()

    def of_subtask(self, subtask_id: int) -> Callable[[str], SendItems]:
        """Return a function that returns, for a channel, what sends there."""

        def of_channel(channel: str) -> SendItems:
            return lambda things: self.sender(channel, subtask_id).send(things)

        return of_channel

    def sender(self, channel: str, subtask_id: int) -> Sender:
        """Return the sender of a subtask to a channel."""
        sender = self._senders.get((channel, subtask_id))
        return sender or self._connect(channel, subtask_id)

    def _connect(self, channel: str, subtask_id: int) -> Sender:
        with self._connecting:  # parts of a subtask may come here at the same time
            sender = self._senders.get((channel, subtask_id))
            if sender is not None:
                return sender
            name = self._deployment.channels[channel]
            producer = f"{subtask_id}#{self._deployment.attempt}"
            sender = connect(self._deployment.results, name, producer)
            self._senders[channel, subtask_id] = sender
            return sender

    def flush(self) -> None:
        """Wait until the driver has everything."""
        for sender in self._senders.values():
            sender.flush()

    def close(self, failed: bool) -> None:
        """Close all channels.

        Args:
            failed: whether the job did, so that a channel may be gone.
        """
        expected = (ChannelClosed, ChannelFailed) if failed else (ChannelClosed,)
        for sender in self._senders.values():
            with contextlib.suppress(*expected):
                sender.close()


@dataclass(frozen=True)
class HostReport:
    """The progress of a host.

    Args:
        ended: whether all its subtasks have processed all their input.
        paused: whether its sources wait for the next checkpoint.
        progress: of each chain of each subtask; None if only the rest has changed.
    """

    ended: bool
    paused: bool | None
    progress: tuple[TaskProgress, ...] | None


class Host:
    """Runs the subtasks of some slots, in the thread that calls ``run``.

    Args:
        number: which host.
        control: the connection to the driver.
        driver: the driver's address, whose secret is that of all hosts.
        network: how hosts connect.
    """

    def __init__(
        self, number: int, control: RpcConnection, driver: Address, network: NetworkSettings
    ) -> None:
        self._number, self._control = number, control
        self._silence = network.heartbeat_timeout
        self._orders: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._commands: dict[str, Callable[..., object]] = {
            "deploy": self._deploy,
            "connect": self._connect,
            "snapshot": self._snapshot,
            "committables": self._committables,
            "complete": self._complete,
            "aborted": self._aborted,
            "end sources": self._end_sources,
            "splits": self._add_splits,
            "close": self._close,
        }
        self._data = DataPlane(self._receive)
        self._group: SubtaskGroup | None = None
        self._channels: DriverChannels | None = None
        self._running = self._closed = False
        self._pending: tuple[int, SnapshotRequest, SnapshotWriter | None] | None = None
        self._callers: dict[int, MessageConnection] = {}
        self._called = threading.Condition()
        self._log: FunctionLog | None = None
        self._told = HostReport(False, False, None)
        self._next_report = 0.0
        self._rest = _SHORTEST_REST
        here = control.own_address()
        place = Endpoint(here, here, network.host_ports, driver.identity)
        self._listener = Listener(place, driver.authkey, self._greet, "peers")
        self.address = (here, self._listener.address.port)
        threading.Thread(target=self._listen, name="driver", daemon=True).start()

    def run(self) -> None:
        """Carry out the driver's orders, and process elements, until the driver ends the host."""
        try:
            while not self._closed:
                self._obey(wait=not self._running)
                if self._running:
                    self._work()
        finally:
            self._listener.close()
            self._data.close()

    def release(self) -> None:
        """Free what the subtasks leave, after ``run``.

        A search for cycles would take longer, and a thread that is about to end may still refer to
        the host then.
        """
        group, self._group = self._group, None
        for subtask in group or ():
            subtask.release()

    # -- the driver ------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Take the driver's orders; without a driver end at once, whatever the host does."""
        try:
            while True:
                order = self._control.receive(self._silence)
                if order[1] == HEARTBEAT:
                    self._control.send(None, HEARTBEAT, self._working())
                elif order[1] == SAMPLE:
                    threading.Thread(target=self._sample, args=order, daemon=True).start()
                else:
                    self._orders.put(order)
                    self._data.wake()
        except (HostLost, TimeoutError) as error:
            if not self._closed:
                closed = isinstance(error.__cause__, EOFError)
                why = "its attempt is over, or the driver is gone" if closed else error
                sys.stderr.write(f"host {self._number} ends: {why}\n")
                sys.stderr.flush()
                _leave(1)

    def _working(self) -> list[TaskProgress] | None:
        """The progress of functions that keep the thread of the host from reporting theirs."""
        late, group = time.monotonic() >= self._next_report + _REPORT_SECONDS, self._group
        return group.working() if group is not None and late else None

    def _sample(self, number: int, _: str, samples: int, pause: float) -> None:
        """Send samples of the threads to the driver, also while one of them is stuck."""
        with contextlib.suppress(HostLost):
            self._control.send(number, "done", sample(samples, pause))

    def _obey(self, wait: bool) -> None:
        """Carry out the driver's orders.

        Args:
            wait: whether to wait for an order.
        """
        with contextlib.suppress(queue.Empty):
            while not self._closed:
                number, name, *arguments = self._orders.get(wait)
                wait = False
                self._answer(number, self._commands[name], arguments)

    def _answer(self, number: int, command: Callable[..., object], arguments: list[object]) -> None:
        try:
            result = command(number, *arguments)
        except Exception as error:  # noqa: BLE001 - the driver decides what it means
            self._fail(number, error)
        else:
            if result is not _LATER:
                self._control.send(number, "done", result)

    def _fail(self, number: int | None, error: Exception) -> None:
        self._running = False
        if isinstance(error, PeerLost):
            self._control.send(None, "peer lost", error.host)
        else:
            self._control.send(number, "failed", _text(error))

    # -- work ------------------------------------------------------------------------------------

    def _work(self) -> None:
        assert self._group is not None
        try:
            worked = self._group.turn(time.monotonic() + _SLICE_SECONDS)
            self._finish_snapshot()
            self._report()
            worked = self._data.pump() or worked
            if not worked:
                self._data.pump(self._rest)
                self._rest = _longer(self._rest)
            else:
                if self._rest >= _LONGEST_REST:
                    self._next_report = 0.0
                self._rest = _SHORTEST_REST
        except Exception as error:  # noqa: BLE001 - the driver decides what it means
            self._fail(None, error)

    def _receive(self, row: Any) -> None:
        assert self._group is not None
        self._group.receive(row)

    def _report(self) -> None:
        """Report the host's progress to the driver, regularly and at changes of its state."""
        assert self._group is not None
        now = time.monotonic()
        ended = self._group.ended
        paused = None
        if self._group.reading:
            paused = self._pending is None and self._group.paused
        timely = now >= self._next_report
        if timely or (ended, paused) != (self._told.ended, self._told.paused):
            progress = tuple(self._group.progress()) if timely or ended else None
            self._told = HostReport(ended, paused, progress)
            self._control.send(None, "report", self._told)
            if timely:
                self._data.check(self._silence, now)
                self._send_log()
                quiet = self._rest >= _LONGEST_REST
                self._next_report = now + (_IDLE_REPORT_SECONDS if quiet else _REPORT_SECONDS)

    def _send_log(self) -> None:
        """Send what functions have logged to the driver, which may want no more."""
        entries = [] if self._log is None else self._log.take()
        if entries and self._channels is not None:
            with contextlib.suppress(ChannelClosed, ChannelFailed):
                self._channels.sender(LOGS, self._number).send(entries)

    # -- commands --------------------------------------------------------------------------------

    def _deploy(self, _: int, deployment: Deployment) -> None:
        stages, job = pickle.loads(deployment.plan)
        install_classes(job.classes)
        self._deployment, self._stages = deployment, stages
        self._channels = DriverChannels(deployment)
        self._log = install_function_log(job.configuration)
        self._configuration = job.configuration
        slots = slots_of(stages)
        mine = [s for s in range(slots) if host_of_slot(s, slots, deployment.hosts) == self._number]
        restored = None
        if deployment.restore is not None:
            restored = restored_states(deployment.restore, stages, mine, job.configuration)
        state = state_settings(job.configuration, keyed_operators(stages, mine[0]))
        self._group = SubtaskGroup(
            stages,
            mine,
            replace(job, state=state),
            SystemClock(),
            self._channels.of_subtask,
            deployment.attempt,
            restored,
            None if deployment.hosts == 1 else self._data,
            ask=self._ask_for_splits,
            usage=thread_usage(),
            threads=SubtaskThreads(self._data.wake),
        )
        self._group.open()
        step("host: its subtasks are open")

    def _connect(self, _: int, addresses: Mapping[int, Address]) -> None:
        """Connect with all other hosts, and begin to work."""
        peers: dict[int, MessageConnection] = {}
        for number, address in addresses.items():
            if number < self._number:
                peers[number] = _call(self._number, number, address)
        with self._called:
            awaited = {number for number in addresses if number > self._number}
            if not self._called.wait_for(lambda: awaited <= self._callers.keys(), 60.0):
                missing = sorted(awaited - self._callers.keys())
                raise HostLost(f"host {self._number} was not reached by the hosts {missing}")
            peers |= self._callers
        hosts = self._deployment.hosts
        self._data.connect(
            peers, hosts_of_subtasks(self._stages, hosts), hosts_of_channels(self._stages, hosts)
        )
        self._running = True
        self._report()  # the first call of a function may take any time
        step("host: it is connected")

    def _ask_for_splits(self, subtask_id: int, chain: int, count: int) -> None:
        self._control.send(None, "ask", (subtask_id, chain, count))

    def _add_splits(
        self, _: int, subtask_id: int, chain: int, splits: list[object], at_once: bool
    ) -> None:
        assert self._group is not None
        self._group.add_splits(subtask_id, chain, splits, at_once=at_once)

    def _snapshot(
        self,
        number: int,
        checkpoint_id: int,
        where: str | None,
        contents: str,
        halt: bool,
        positions: dict[str, list[object]],
    ) -> object:
        assert self._group is not None
        try:
            writer = SnapshotWriter(
                checkpoint_id, where, contents, self._number, self._configuration, FEW_ENTRIES
            )
            if positions:
                writer.write(DRIVER, TaskStateSnapshot(checkpoint_id, sources=positions))
        except CheckpointError as error:
            request = SnapshotRequest(checkpoint_id, _write_nothing)
            request.fail(error)  # which lets the barriers of other hosts pass
            self._pending = number, request, None
        else:
            request = SnapshotRequest(checkpoint_id, writer.write, writer.taken, halt)
            self._pending = number, request, writer
        self._group.begin_checkpoint(request)
        step("host: a checkpoint begins")
        self._finish_snapshot()
        return _LATER

    def _finish_snapshot(self) -> None:
        """Answer the driver once all subtasks have given their state and the state is written."""
        if self._pending is None or not self._pending[1].done:
            return
        assert self._group is not None
        number, request, writer = self._pending
        try:
            if request.error is not None:
                raise request.error
            assert writer is not None
            if not writer.finishing:
                assert self._channels is not None
                self._channels.flush()
                writer.finish_later(self._data.wake, list(self._group.prepared))
            if not writer.finished:
                return
            snapshot = HostSnapshot(*writer.result())
        except CheckpointError as error:
            self._abandon_snapshot(error)
            self._control.send(number, "unwritten", str(error))
        else:
            step("host: its part of a checkpoint is written")
            self._control.send(number, "done", snapshot)
        self._pending = None

    def _abandon_snapshot(self, error: BaseException) -> None:
        if self._pending is not None:
            _, _, writer = self._pending
            self._pending = None
            if writer is not None:
                writer.abandon(error)

    def _committables(self, _: int) -> list[object]:
        assert self._group is not None
        assert self._channels is not None
        self._channels.flush()
        return self._group.committables()

    def _complete(self, _: int, checkpoint_id: int) -> None:
        assert self._group is not None
        step("host: a checkpoint is complete")
        self._group.notify_checkpoint_complete(checkpoint_id)

    def _aborted(self, _: int, checkpoint_id: int) -> None:
        assert self._group is not None
        self._abandon_snapshot(TimeoutError())
        self._group.abort_checkpoint(checkpoint_id)
        self._group.notify_checkpoint_aborted(checkpoint_id)

    def _end_sources(self, _: int) -> None:
        assert self._group is not None
        self._group.end_sources()

    def _close(self, _: int, failed: bool) -> list[object]:
        """Close all subtasks; return the committables of a failed job that are to be removed."""
        self._running, self._closed = False, True
        self._abandon_snapshot(TimeoutError())
        prepared: list[Any] = []
        if self._group is not None:
            if failed:
                with contextlib.suppress(Exception):
                    found = self._group.committables()
                    prepared = [it for it in found if not isinstance(it[1], LargeCommittable)]
            step("host: its subtasks close")
            self._group.close(failed)
        if self._channels is not None:
            self._send_log()
            self._channels.close(failed)
        sys.stdout.flush()
        sys.stderr.flush()
        return prepared

    def _greet(self, wire: MessageConnection) -> None:
        """Take the call of another host, which says its number."""
        try:
            number = int.from_bytes(wire.recv_bytes(HANDSHAKE_SECONDS), "big")
        except (OSError, EOFError):
            wire.close()
            return
        with self._called:
            self._callers[number] = wire
            self._called.notify_all()


def _write_nothing(index: int, state: TaskStateSnapshot) -> None:
    """Take the state of a subtask, and do nothing with it."""


def _call(number: int, other: int, address: Address) -> MessageConnection:
    try:
        wire = dial(address)
        wire.send_bytes(number.to_bytes(4, "big"))
    except (OSError, EOFError) as error:
        place = f"{address.host}:{address.port}"
        raise HostLost(f"host {number} cannot reach host {other} at {place} ({error!r})") from error
    return wire


def _text(error: BaseException) -> str:
    told = isinstance(error, HostLost) or type(error).__name__ == "SubtaskFailure"
    return str(error) if told else f"{error!r}"


def _longer(rest: float) -> float:
    """Return how long to wait (s) after a wait in which nothing came."""
    if rest < _USUAL_REST:
        return min(2 * rest, _USUAL_REST)
    return min(_GROWTH * rest, _LONGEST_REST)


@dataclass(frozen=True)
class Deployment:
    """The deployment of an attempt on its hosts.

    Args:
        plan: the pickled stages and JobSettings.
        hosts: how many hosts there are.
        attempt: how often the job was restarted.
        restore: the checkpoint to begin with; None for a fresh start.
        results: how to reach the driver's result channels.
        channels: the driver's name of each channel.
    """

    plan: bytes
    hosts: int
    attempt: int
    restore: Restore | None
    results: ChannelAddress
    channels: dict[str, str]


def slots_of(stages: tuple[StagePlan, ...]) -> int:
    """Return how many slots a job has: as many as its most parallel vertex has subtasks."""
    return max(vertex.parallelism for stage in stages for vertex in stage.vertices)


def host_of_slot(slot: int, slots: int, hosts: int) -> int:
    """Return the host of a slot; neighbours share one."""
    return slot * hosts // slots


def hosts_of_subtasks(stages: tuple[StagePlan, ...], hosts: int) -> Mapping[int, int]:
    """Return the host of each subtask of a job."""
    slots = slots_of(stages)
    return {
        number: host_of_slot(index, slots, hosts)
        for stage in stages
        for number, _, index in stage.subtasks()
    }


def hosts_of_channels(stages: tuple[StagePlan, ...], hosts: int) -> Mapping[int, int]:
    """Return the host that sends on each channel of a job."""
    slots = slots_of(stages)
    return {
        incoming.exchange.first_channel + sender: host_of_slot(sender, slots, hosts)
        for stage in stages
        for vertex in stage.vertices
        for incoming in vertex.inputs
        for sender in range(incoming.exchange.senders)
    }
