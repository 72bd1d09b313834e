"""Hosts that die, fail or hang, alone or with their machine.

A host that hangs leaves its call where it is: the call continues in a thread of its own when the
host wakes up. Only one thread works at any time.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.connector import LargeCommittable
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from tests.runtime.many_hosts import HostGone, ManyHosts

if TYPE_CHECKING:
    from tests.job.simulated_world import Driver

HEARTBEAT_TIMEOUT = 50_000
"""After so many milliseconds without an answer a host counts as lost."""
_NOTICED = 0.3
_LAST_TURNS = 6


class HostKilled(BaseException):
    """The host that does this is dead."""


class _Process:
    """The state of a host."""

    def __init__(self) -> None:
        self.state = "works"
        """The state: works, hangs, or is dead."""
        self.patient = False
        """True if the driver waits until the hanging host resumes."""
        self.error: Exception | None = None
        """The error of the host's next action."""
        self.waiting: list[Callable[[], Any]] = []
        """The actions that wait until the host resumes."""
        self.call: _SuspendableCall | None = None


class WorldHosts(ManyHosts):
    """The hosts of one attempt of a driver in the simulated world.

    Args:
        owner: the driver.
        options: of ``ManyHosts``.
    """

    def __init__(self, owner: Driver, *options: Any) -> None:
        self.owner, self._world = owner, owner.world
        self._processes: dict[int, _Process] = {}
        self._saving = False
        super().__init__(*options)

    @property
    def all(self) -> list[int]:
        """The numbers of all hosts."""
        return list(range(len(self.groups)))

    @property
    def machine(self) -> list[int]:
        """The numbers of the hosts on the first machine."""
        return self.all[: max(1, len(self.groups) - 1)]

    def is_dead(self, number: int) -> bool:
        """True for a dead host; a hanging one outlives its driver."""
        state = self._process(number).state
        return state == "is dead" or (state == "works" and self.owner.dead)

    def kill(self, *numbers: int) -> None:
        """Kill hosts, one of which may be the one that acts.

        Raises:
            HostKilled: it is.
        """
        for number in numbers:
            self._process(number).state = "is dead"
        if self._world.host in numbers:
            raise HostKilled

    def fail(self, number: int, error: Exception) -> None:
        """Let a host fail: now, if it acts, or when it does something."""
        if self._world.host == number:
            raise error
        self._process(number).error = error

    def hang(self, *numbers: int, patient: bool = False) -> None:
        """Let hosts hang, one of which may be the one that acts.

        Args:
            numbers: of the hosts.
            patient: whether the driver waits longer than they hang.
        """
        for number in numbers:
            process = self._process(number)
            process.state, process.patient = "hangs", patient
        if self not in self._world.hung:
            self._world.hung.append(self)
        if self._world.host in numbers:
            call = self._process(self._world.host).call
            assert call is not None
            call.suspend()

    def wake(self) -> None:
        """Let the hosts that hang continue; those that are lost end soon after."""
        self._world.hung.remove(self)
        for number, process in self._processes.items():
            if process.state == "hangs":
                with self._world.doing(self, number):
                    self._world.note(f"host {number} wakes up")
                    self._wake(number, process)

    def turn(self) -> None:
        """Let a host work, a row arrive, or the driver notice that a host is lost."""
        if self._world.chance.random() < _NOTICED:
            self._check()
        super().turn()

    def snapshot(self, *order: Any, **more: Any) -> Any:
        """Take a checkpoint, which takes too long if a host hangs that the driver waits for."""
        self._saving = True
        try:
            return super().snapshot(*order, **more)
        finally:
            self._saving = False

    def close_failed(self) -> list[Any]:
        """Close the hosts of a failed attempt; return what their sinks have prepared."""
        prepared: list[Any] = []
        for number, group in enumerate(self.groups):
            with contextlib.suppress(Exception):
                things = self._does(number, group.committables) or []
                prepared += [it for it in things if not isinstance(it[1], LargeCommittable)]
        with contextlib.suppress(Exception):
            self.close(failed=True)
        for process in self._processes.values():
            process.patient = False
            if process.state == "works":
                process.state = "is dead"
        return prepared

    def _process(self, number: int) -> _Process:
        return self._processes.setdefault(number, _Process())

    def _does(self, number: int, function: Callable[..., Any], *arguments: Any) -> Any:
        process = self._process(number)
        if process.state == "hangs":
            process.waiting.append(lambda: function(*arguments))
        if process.state != "works":
            return None
        error, process.error = process.error, None
        if error is not None:
            raise error
        with self._world.doing(self, number):
            try:
                if not self._world.suspendable:
                    return function(*arguments)
                return self._suspendable(process, function, arguments)
            except BaseException:
                if process.state == "is dead":  # which is all that can be seen of it
                    return None
                raise

    def _suspendable(
        self, process: _Process, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        process.call = _SuspendableCall(lambda: function(*arguments))
        process.call.resume()
        if process.call.suspended:
            return None
        call, process.call = process.call, None
        return call.result()

    def _check(self) -> None:
        hung = [process for process in self._processes.values() if process.state == "hangs"]
        if any(process.state == "is dead" for process in self._processes.values()):
            raise HostGone
        if not hung:
            return
        if not hung[0].patient:
            self._world.clock.time += HEARTBEAT_TIMEOUT
            raise HostGone
        if self._saving:
            raise TimeoutError("a host has not answered")
        self.wake()

    def _wake(self, number: int, process: _Process) -> None:
        if process.patient:
            process.state = "works"
            self._end_call(process)
            waiting, process.waiting = process.waiting, []
            for act in waiting:
                act()
            return
        with contextlib.suppress(Exception, HostKilled):
            self._end_call(process)
            for _ in range(self._world.chance.randrange(_LAST_TURNS)):
                self.groups[number].turn(self._time)
        process.state = "is dead"

    @staticmethod
    def _end_call(process: _Process) -> None:
        call, process.call = process.call, None
        if call is not None:
            call.resume()
            call.result()


class _SuspendableCall:
    """A call in a thread of its own, which works while the caller waits, and the other way round.

    Args:
        function: what to call.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._mine, self._callers = threading.Semaphore(0), threading.Semaphore(0)
        self._answer: Any = None
        self._error: BaseException | None = None
        self.suspended = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def resume(self) -> None:
        """Let the call begin or continue, until it ends or is suspended."""
        self.suspended = False
        self._mine.release()
        self._callers.acquire()

    def suspend(self) -> None:
        """Let the caller continue, until the caller lets the call continue."""
        self.suspended = True
        self._callers.release()
        self._mine.acquire()

    def result(self) -> Any:
        """Return the result of the function, or raise its exception."""
        if self._error is not None:
            raise self._error
        return self._answer

    def _run(self) -> None:
        self._mine.acquire()
        try:
            self._answer = self._function()
        except BaseException as error:  # noqa: BLE001 - raised in the thread of the caller
            self._error = error
        self._callers.release()


def failure() -> SubtaskFailure:
    """Return the error of a user's function."""
    return SubtaskFailure("the test wants an error here")
