"""The driver's end of all slot hosts of one attempt."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from multiprocessing import AuthenticationError
from multiprocessing.connection import Listener
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.failure import SubtaskFailure
from pyflink_on_spark._spark.continuous.host import Deployment
from pyflink_on_spark._spark.continuous.wire import Address, HostLost, Wire

_START_SECONDS = 120.0
_CLOSE_SECONDS = 10.0
_DONE, _FAILED = "done", "failed"
_FAILURES: dict[str, type[Exception]] = {_FAILED: SubtaskFailure, "unwritten": CheckpointError}


class Fleet:
    """Waits for slot hosts to call in, then tells all of them what to do.

    Args:
        address: where to listen, as the hosts reach it.
        slots: how many hosts there will be.
    """

    def __init__(self, address: str, slots: int) -> None:
        authkey = secrets.token_bytes(32)
        self._listener = Listener((address, 0), "AF_INET", slots + 8, authkey=authkey)
        self.control = Address(address, int(self._listener.address[1]), authkey)
        self.data: dict[int, Address] = {}
        self.processes: dict[int, int] = {}
        self._slots = slots
        self._wires: dict[int, Wire] = {}
        self._lock = threading.Lock()
        self._requests = 0
        self._unheard: set[int] = set()
        self._failure: BaseException | None = None

    def assemble(self, spawn: Callable[[], None]) -> None:
        """Start the hosts and wait until all have called in.

        Args:
            spawn: starts them.

        Raises:
            HostLost: if one does not come.
        """
        called_in = threading.Thread(target=self._take_calls, name="slot hosts", daemon=True)
        called_in.start()
        spawn()
        called_in.join(_START_SECONDS)
        self._listener.close()
        if self._failure is not None:
            raise self._failure
        if len(self._wires) < self._slots:
            missing = sorted(set(range(self._slots)) - set(self._wires))
            raise HostLost(f"the slot hosts {missing} did not start within {_START_SECONDS} s")

    def _take_calls(self) -> None:
        while len(self._wires) < self._slots:
            try:
                wire = Wire(self._listener.accept(), "a slot host")
                slot, address, process = wire.receive(_START_SECONDS)
            except AuthenticationError:
                continue  # of another attempt
            except (OSError, EOFError, HostLost) as error:
                self._failure = HostLost(f"a slot host failed to start: {error!r}")
                return
            if address is None:
                self._failure = HostLost(f"the host of slot {slot} ended with code {process}")
                return
            host, port = address
            self.data[slot] = Address(host, port, self.control.authkey)
            self.processes[slot] = process
            self._wires[slot] = wire

    def deploy(self, deployment: Deployment) -> None:
        """Let all hosts open their subtasks.

        Raises:
            SubtaskFailure: if a function's ``open`` fails.
        """
        self.tell("deploy", deployment)

    def tell(self, *message: Any, timeout: float | None = None) -> dict[int, Any]:
        """Send a command to all hosts at once; return what each answers, by slot.

        Raises:
            SubtaskFailure: the first failure of any, be it of what they were told before.
            CheckpointError: if one could not write its state.
            HostLost: if one is gone.
            TimeoutError: if one does not answer in time (s).
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._lock:
            self._send(message)
            answers: dict[int, Any] = {}
            failures: dict[str, str] = {}
            try:
                for slot, wire in self._wires.items():
                    kind, content = self._answer(wire, deadline)
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

    def _answer(self, wire: Wire, deadline: float | None) -> tuple[str, Any]:
        """Wait for the answer to the last request, past those to requests that were given up.

        What failed before, and nobody has waited for, has failed with this request.
        """
        failed: str | None = None
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            number, kind, content = wire.receive(left)
            if kind == _FAILED and number in self._unheard:
                failed = failed or content
            if number == self._requests:
                return (kind, content) if failed is None else (_FAILED, failed)

    def close(self, failed: bool) -> None:
        """Let all hosts close their subtasks and end.

        Raises:
            SubtaskFailure: if a function's ``close`` fails in a job that did not.
        """
        try:
            self.tell("close", failed, timeout=_CLOSE_SECONDS)
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
