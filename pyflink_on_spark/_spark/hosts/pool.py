"""The driver's end of all slot hosts of one attempt."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.user_code.failure import SubtaskFailure
from pyflink_on_spark._spark.hosts.host import Deployment
from pyflink_on_spark._spark.transport.handshake import Address, Listener
from pyflink_on_spark._spark.transport.rpc import HostLost, RpcConnection

_START_SECONDS = 120.0
_CLOSE_SECONDS = 10.0
_LOOK_SECONDS = 0.2
_DONE, _FAILED = "done", "failed"
_FAILURES: dict[str, type[Exception]] = {_FAILED: SubtaskFailure, "unwritten": CheckpointError}


class HostPool:
    """Waits for slot hosts to call in, then tells all of them what to do.

    Args:
        address: where to listen, as the hosts reach it.
        slots: how many hosts there will be.
    """

    def __init__(self, address: str, slots: int) -> None:
        self.data: dict[int, Address] = {}
        self.processes: dict[int, int] = {}
        self._slots = slots
        self._wires: dict[int, RpcConnection] = {}
        self._lock = threading.Lock()
        self._requests = 0
        self._unheard: set[int] = set()
        self._failure: BaseException | None = None
        self._called = threading.Condition()
        self._door = Listener(address, secrets.token_bytes(32), self._take_call, "slot hosts")
        self.control = self._door.address

    def assemble(self, spawn: Callable[[], None]) -> None:
        """Start the hosts and wait until all have called in.

        Args:
            spawn: starts them.

        Raises:
            HostLost: if one does not come.
        """
        try:
            spawn()
            with self._called:
                self._called.wait_for(self._all_here, _START_SECONDS)
        finally:
            self._door.close()
        if self._failure is not None:
            raise self._failure
        if len(self._wires) < self._slots:
            missing = sorted(set(range(self._slots)) - set(self._wires))
            raise HostLost(f"the slot hosts {missing} did not start within {_START_SECONDS} s")

    def _all_here(self) -> bool:
        return self._failure is not None or len(self._wires) == self._slots

    def _take_call(self, connection: Connection) -> None:
        wire = RpcConnection(connection, "a slot host")
        failure: HostLost | None = None
        try:
            slot, address, process = wire.receive(_START_SECONDS)
            wire.set_unacked_timeout()
            if address is None:
                failure = HostLost(f"the host of slot {slot} ended with code {process}")
        except (HostLost, TimeoutError) as error:
            failure = HostLost(f"a slot host failed to start: {error!r}")
        with self._called:
            if failure is not None:
                wire.close()
                self._failure = self._failure or failure
            else:
                host, port = address
                self.data[slot] = Address(host, port, self.control.authkey)
                self.processes[slot] = process
                wire.peer = f"the host of slot {slot}"
                self._wires[slot] = wire
            self._called.notify_all()

    def check(self) -> None:
        """See whether all hosts are there still.

        Raises:
            HostLost: if one is gone.
        """
        for wire in list(self._wires.values()):
            wire.check()

    def deploy(self, deployment: Deployment) -> None:
        """Let all hosts open their subtasks.

        Raises:
            SubtaskFailure: if a function's ``open`` fails.
        """
        self.tell("deploy", deployment)

    def tell(
        self,
        *message: Any,
        timeout: float | None = None,
        patient: Callable[[], bool] = lambda: False,
    ) -> dict[int, Any]:
        """Send a command to all hosts at once; return what each answers, by slot.

        Args:
            message: the command.
            timeout: how long to wait (s); None for as long as it takes.
            patient: asked again and again; while it says so, the timeout does not count.

        Raises:
            SubtaskFailure: the first failure of any, be it of what they were told before.
            CheckpointError: if one could not write its state.
            HostLost: if one is gone.
            TimeoutError: if one does not answer in time.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._lock:
            self._send(message)
            answers: dict[int, Any] = {}
            failures: dict[str, str] = {}
            try:
                for slot, wire in self._wires.items():
                    kind, content = self._answer(wire, deadline, patient)
                    if kind == _DONE:
                        answers[slot] = content
                    else:
                        failures.setdefault(kind, content)
            except TimeoutError:
                self._unheard.add(self._requests)
                raise
        for kind, error in _FAILURES.items():
            if kind in failures:
                raise error(failures[kind])
        return answers

    def notify(self, *message: Any) -> None:
        """Send a command to all hosts at once, without waiting for them.

        Raises:
            HostLost: if one is gone.
        """
        with self._lock:
            self._send(message)
            self._unheard.add(self._requests)

    def _send(self, message: tuple[Any, ...]) -> None:
        self._requests += 1
        for wire in self._wires.values():
            wire.send(self._requests, *message)

    def _answer(
        self, wire: RpcConnection, deadline: float | None, patient: Callable[[], bool]
    ) -> tuple[str, Any]:
        """Wait for the answer to the last request, past those to requests that were given up.

        What failed before, and nobody has waited for, has failed with this request.
        """
        failed: str | None = None
        while True:
            number, kind, content = _next(wire, deadline, patient)
            if kind == _FAILED and number in self._unheard:
                failed = failed or content
            if number == self._requests:
                return (kind, content) if failed is None else (_FAILED, failed)

    def close(self, failed: bool, given_up: Callable[[], bool] = lambda: False) -> None:
        """Let all hosts close their subtasks and end.

        Functions of a job that did not fail may take their time: what they write last, nobody else
        will.

        Args:
            failed: whether the job did.
            given_up: whether nobody wants to wait for that any more.

        Raises:
            SubtaskFailure: if a sink's ``close`` fails in a job that did not.
            HostLost: if one is gone before it has closed all of a job that did not fail.
            TimeoutError: if it was given up before that.
        """

        def patient() -> bool:
            return not failed and not given_up()

        try:
            self.tell("close", failed, timeout=_CLOSE_SECONDS, patient=patient)
        except (HostLost, TimeoutError):
            if not failed:
                raise
        except SubtaskFailure:
            if not failed:
                raise
        finally:
            for wire in self._wires.values():
                wire.close()
            self._wires.clear()


def _next(wire: RpcConnection, deadline: float | None, patient: Callable[[], bool]) -> Any:
    while patient():
        with contextlib.suppress(TimeoutError):
            return wire.receive(_LOOK_SECONDS)
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    return wire.receive(left)
