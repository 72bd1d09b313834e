"""The process of a slot host. It does not import pyspark."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._compat.import_hook import install
from pyflink_on_spark._job.state_settings import keyed_operators, state_settings
from pyflink_on_spark._runtime.checkpoints.changelog import BASE, DELTA, WHOLE, file_name
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    find_checkpoint,
    read_metadata,
    read_states,
    write_state,
)
from pyflink_on_spark._runtime.checkpoints.folder import folder
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState, records_of, shares
from pyflink_on_spark._runtime.clock import SystemClock
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.task.gc_tuning import tune_garbage_collection
from pyflink_on_spark._runtime.task.hosted_subtasks import HostedSubtasks
from pyflink_on_spark._runtime.user_code.main_module import install_classes
from pyflink_on_spark._runtime.user_code.refused_exit import refused_exit
from pyflink_on_spark._runtime.user_code.worker_dependencies import import_from, working_folder
from pyflink_on_spark._spark.transport.handshake import Address, Listener
from pyflink_on_spark._spark.transport.result_sender import ChannelAddress, ChannelClosed, Sender
from pyflink_on_spark._spark.transport.result_sender import connect as connect_channel
from pyflink_on_spark._spark.transport.rpc import HostLost, RpcConnection, connect

_TAKEN: dict[str, Callable[[KeyedStateBackend], Any]] = {
    WHOLE: KeyedStateBackend.pieces,
    BASE: KeyedStateBackend.base_pieces,
    DELTA: KeyedStateBackend.change_pieces,
}


@dataclass(frozen=True)
class Deployment:
    """What a slot host runs.

    Args:
        plan: the pickled levels and JobSettings.
        attempt: how often the job was restarted.
        restore: the folder of the checkpoint to begin with, or its content; None for a fresh start.
        results: how to reach the driver's result channels; None if there are none.
        channels: the driver's name of each channel.
    """

    plan: bytes
    attempt: int
    restore: tuple[int, str | bytes] | None
    results: ChannelAddress | None
    channels: dict[str, str]


class SlotHost:
    """Runs the subtasks of one slot.

    Args:
        slot: which one.
        control: the connection to the driver.
        authkey: what Spark's tasks have to know.
    """

    def __init__(self, slot: int, control: RpcConnection, authkey: bytes) -> None:
        self._slot, self._control = slot, control
        self._orders: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._subtasks: HostedSubtasks | None = None
        self._prepared: list[Any] = []
        self._senders: dict[tuple[str, int], Sender] = {}
        self._failure: str | None = None
        door = Listener(control.own_address(), authkey, self._serve, "tasks")
        self.address = (door.address.host, door.address.port)
        threading.Thread(target=self._listen, name="driver", daemon=True).start()

    def run(self) -> None:
        """Do what the driver says until it says no more."""
        commands: dict[str, Callable[..., Any]] = {
            "deploy": self._deploy,
            "snapshot": self._snapshot,
            "complete": self._complete,
            "aborted": self._aborted,
            "close": self._close,
        }
        while True:
            number, name, *arguments = self._orders.get()
            try:
                with self._lock:
                    result = commands[name](*arguments)
            except CheckpointError as error:
                self._control.send(number, "unwritten", str(error))
            except Exception as error:  # noqa: BLE001 - the driver decides what it means
                self._control.send(number, "failed", _text(error))
            else:
                self._control.send(number, "done", result)
            if name == "close":
                return

    def _listen(self) -> None:
        """Take the driver's orders; without a driver end at once, whatever is going on."""
        try:
            while True:
                self._orders.put(self._control.receive())
        except HostLost:
            os._exit(1)

    def _deploy(self, deployment: Deployment) -> None:
        levels, job = pickle.loads(deployment.plan)
        install_classes(job.classes)
        restored = None
        if deployment.restore is not None:
            number, where = deployment.restore
            restored = shares(levels, self._slot, _load(where, job.configuration), number)
        self._deployment = deployment
        self._configuration = job.configuration
        state = state_settings(job.configuration, keyed_operators(levels, self._slot))
        self._subtasks = HostedSubtasks(
            levels,
            self._slot,
            replace(job, state=state),
            SystemClock(),
            self._drivers,
            deployment.attempt,
            restored,
        )
        self._subtasks.open()

    def _snapshot(
        self, checkpoint_id: int, where: str | None, contents: str = WHOLE
    ) -> tuple[Any, list[Any]]:
        """Write the state; return the file, or the content if it is to go nowhere.

        With it goes what the sinks have prepared since the last checkpoint that is complete.
        """
        assert self._subtasks is not None
        states, committables = self._subtasks.snapshot(checkpoint_id, _TAKEN[contents])
        self._prepared += committables
        for sender in self._senders.values():
            sender.flush()
        records = (record for state in states.values() for record in records_of(self._slot, state))
        with _without_collector():
            if where is None:
                state = SlotState()
                for record in records:
                    state.take(*record)
                return state.to_bytes(), self._prepared
            name = file_name(contents, checkpoint_id, self._slot)
            place = folder(where, self._configuration)
            file = write_state(place, name, records, shared=contents != WHOLE)
        return file, self._prepared

    def _complete(self, checkpoint_id: int) -> None:
        assert self._subtasks is not None
        self._prepared = []
        self._subtasks.notify_checkpoint_complete(checkpoint_id)

    def _aborted(self, checkpoint_id: int) -> None:
        assert self._subtasks is not None
        self._subtasks.notify_checkpoint_aborted(checkpoint_id)

    def _close(self, failed: bool) -> None:
        if self._subtasks is not None:
            self._subtasks.close(failed)
        for sender in self._senders.values():
            with contextlib.suppress(ChannelClosed):
                sender.close()
        sys.stdout.flush()
        sys.stderr.flush()

    def _drivers(self, target: int) -> Callable[[str], Callable[[list[Any]], None]]:
        def of_channel(channel: str) -> Callable[[list[Any]], None]:
            return lambda things: self._sender(channel, target).send(things)

        return of_channel

    def _sender(self, channel: str, target: int) -> Sender:
        sender = self._senders.get((channel, target))
        if sender is None:
            deployment = self._deployment
            assert deployment.results is not None
            name = deployment.channels[channel]
            producer = f"{target}#{deployment.attempt}"
            sender = connect_channel(deployment.results, name, producer)
            self._senders[channel, target] = sender
        return sender

    def _serve(self, connection: Connection) -> None:
        wire = RpcConnection(connection, "a Spark task")
        requests: dict[str, Callable[..., None]] = {
            "poll": self._poll,
            "begin": self._begin,
            "rows": self._rows,
            "finish": self._finish,
        }
        try:
            while True:
                name, *arguments = wire.receive()
                with self._lock:
                    self._answer(wire, requests[name], arguments)
        except HostLost:
            wire.close()

    def _answer(
        self, wire: RpcConnection, request: Callable[..., None], arguments: list[Any]
    ) -> None:
        """Do what a task asks; what failed once stays failed, with the reason of the first time.

        Spark runs a task that failed again, and tells of the last time only.
        """
        if self._failure is None:
            try:
                request(wire, *arguments)
            except HostLost:
                raise
            except Exception as error:  # noqa: BLE001 - the driver decides what it means
                self._failure = _text(error)
        if self._failure is not None:
            wire.send("failed", self._failure)

    def _poll(
        self, wire: RpcConnection, targets: list[int], seconds: float, draining: bool
    ) -> None:
        assert self._subtasks is not None
        for rows in self._subtasks.poll(targets, seconds, draining):
            wire.send("rows", rows)
        wire.send("rows", [])

    def _begin(self, wire: RpcConnection, target: int, epoch: int) -> None:
        assert self._subtasks is not None
        self._subtasks.begin(target, epoch)
        wire.send("done", None)

    def _rows(self, wire: RpcConnection, target: int, rows: list[Any]) -> None:
        assert self._subtasks is not None
        wire.send("rows", self._subtasks.receive(target, rows))

    def _finish(self, wire: RpcConnection, target: int) -> None:
        assert self._subtasks is not None
        rows, report = self._subtasks.finish(target)
        wire.send("done", (rows, report))


def _load(where: str | bytes, configuration: Mapping[str, str]) -> SlotState:
    if isinstance(where, bytes):
        return SlotState.from_bytes(where)
    place = find_checkpoint(where, configuration)
    return read_states(place, read_metadata(place))


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Spare the garbage collector: much is made at once, and all of it is needed."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _text(error: BaseException) -> str:
    return str(error) if type(error).__name__ == "SubtaskFailure" else f"{error!r}"


def main() -> None:
    """Connect to the driver that standard input names, and work for it."""
    tune_garbage_collection()
    slot, driver, sys_path, aliased, folders = pickle.load(sys.stdin.buffer)
    for entry in sys_path:
        if entry not in sys.path:
            sys.path.append(entry)
    if aliased:
        install()
    import_from(folders)
    archives = working_folder(folders)
    if archives is not None:
        os.chdir(archives)
    address: Address = driver
    control = connect(address, "the driver")
    host = SlotHost(slot, control, address.authkey)
    control.send(slot, host.address, os.getpid())
    code = 0
    try:
        with refused_exit():
            host.run()
    except HostLost:
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # a function that hangs in another thread holds nothing up


if __name__ == "__main__":
    main()
