"""The driver's end of all hosts of one attempt."""

from __future__ import annotations

import concurrent.futures
import contextlib
import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from pyflink_on_spark._cluster.hosts.host import Deployment, HostReport
from pyflink_on_spark._cluster.transport.handshake import (
    HEARTBEAT,
    SAMPLE,
    Address,
    Endpoint,
    HostLost,
    Listener,
    NetworkSettings,
    RpcConnection,
)
from pyflink_on_spark._cluster.transport.stream import MessageConnection
from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.checkpoint_writer import HostSnapshot, SlowCheckpoint
from pyflink_on_spark._job.restarts import SplitDistribution
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import WHOLE
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._runtime.task.stacks import Samples
from pyflink_on_spark._runtime.task.subtask_threads import TaskProgress

_CALL_SECONDS = 20.0
_HEARTBEAT_NUMBER = 0
_CLOSE_SECONDS = 10.0
_LOOK_SECONDS = 0.2
_PEER_SECONDS = 5.0
_TELL_SECONDS = 30.0
_SAMPLE_SECONDS = 5.0
_STUCK_SAMPLES, _STUCK_SECONDS = 3, 0.3
_LONGEST_LOOK_SECONDS = 1.0
_LEAST_START_SECONDS = 20.0
"""A Python process takes some seconds to start on a busy machine."""
_log = logging.getLogger("pyflink_on_spark")
_DEFAULTS = NetworkSettings()
_ERRORS: dict[str, type[Exception]] = {"failed": SubtaskFailure, "unwritten": CheckpointError}


class NamedWait:
    """A wait of the driver, which the log names and which has an end.

    Args:
        job: the job's name.
        limit: after how long the wait fails, in s.
        now: a monotonic clock, in s.
    """

    def __init__(self, job: str, limit: float, now: Callable[[], float] = time.monotonic) -> None:
        self._job, self._limit, self._now = job, limit, now
        self._begun = now()
        self._tell_after = _TELL_SECONDS

    def look(self, what: str) -> None:
        """Log the wait if it lasts; twice as rarely each time.

        Args:
            what: what is awaited, for people.

        Raises:
            TimeoutError: the wait has lasted too long.
        """
        waited = self._now() - self._begun
        if waited >= self._limit:
            raise TimeoutError(f"the driver has waited {self._limit:g} s for {what}")
        if waited >= self._tell_after:
            self._tell_after *= 2
            _log.warning("the job %r waits for %s, since %.0f s", self._job, what, waited)


class SilentStart:
    """Notices tasks that Spark has started, and whose hosts do not call in.

    Time during which the driver itself did not look does not count.

    Args:
        now: a monotonic clock, in s.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._looked, self._called, self._silent = now(), 0, 0.0

    def look(self, started: int, called: int) -> float:
        """The time for which a started task has been silent, in s.

        Args:
            started: how many tasks Spark runs.
            called: how many hosts have called in.
        """
        now = self._now()
        passed, self._looked = min(now - self._looked, _LONGEST_LOOK_SECONDS), now
        if started <= called or called != self._called:
            self._called, self._silent = called, 0.0
        else:
            self._silent += passed
        return self._silent


class _HostConnection:
    """The connection to one host, read by a thread of its own.

    Args:
        number: the number of the host.
        address: where it listens.
        connection: the connection.
        changed: is notified of everything that the host says.
        silence: after how long a silence it counts as lost, in s.
        ask: takes its requests for splits: the host's number, the subtask's, the chain, how many.
    """

    def __init__(
        self,
        number: int,
        address: Address,
        connection: RpcConnection,
        changed: threading.Condition,
        silence: float,
        ask: Callable[[int, int, int, int], None],
    ) -> None:
        self.number, self.address, self._silence = number, address, silence
        self._ask = ask
        self._connection, self._changed = connection, changed
        self._requests: dict[int, Future[object]] = {}
        self._number = 0
        self.report = HostReport(False, False, None)
        self.progress: tuple[TaskProgress, ...] = ()
        self.failure: Exception | None = None
        self.lost_peer: tuple[float, int] | None = None
        threading.Thread(target=self._read, name=f"host {number}", daemon=True).start()

    def call(self, *message: object) -> Future[Any]:
        """Send a command; return what will have the answer."""
        future: Future[object] = Future()
        with self._changed:
            self._number += 1
            self._requests[self._number] = future
            number, failure = self._number, self.failure
        try:
            if isinstance(failure, HostLost):
                raise failure
            self._connection.send(number, *message)
        except HostLost as error:
            self._fail(error)
        return future

    def beat(self) -> None:
        """Ask whether the host is alive."""
        with contextlib.suppress(HostLost):  # which the thread that reads notices, too
            self._connection.send(_HEARTBEAT_NUMBER, HEARTBEAT)

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _read(self) -> None:
        try:
            while True:
                number, kind, content = self._connection.receive(self._silence)
                if kind == "ask":
                    self._ask(self.number, *content)
                    continue
                if number is None:
                    self._note(kind, content)
                    continue
                with self._changed:
                    future = self._requests.pop(number, None)
                    if future is None:  # a call that failed to be sent has ended all others
                        continue
                    if kind == "done":
                        future.set_result(content)
                    else:
                        error = _ERRORS[kind](content)
                        future.set_exception(error)
                        if kind == "failed":
                            self.failure = self.failure or error
                    self._changed.notify_all()
        except HostLost as error:
            self._fail(error)
        except TimeoutError:
            self._fail(
                HostLost(
                    f"host {self.number} was silent for {self._silence:g} s, which is the "
                    "heartbeat.timeout: its process or its machine is stuck"
                )
            )
            self.close()

    def _note(self, kind: str, content: Any) -> None:
        """Note a message of a host that nobody requested."""
        with self._changed:
            if kind == "report":
                self.report = content
                if content.progress is not None:
                    self.progress = content.progress
            elif kind == HEARTBEAT:
                if content:
                    self.progress = _with_calls(self.progress, content)
                return
            elif kind == "peer lost":
                self.lost_peer = time.monotonic(), content
            else:
                self.failure = self.failure or _ERRORS[kind](content)
            self._changed.notify_all()

    def _fail(self, error: Exception) -> None:
        with self._changed:
            self.failure = self.failure or error
            for future in self._requests.values():
                future.set_exception(error)
            self._requests.clear()
            self._changed.notify_all()


class HostPool:
    """Waits for the hosts of an attempt to call in, then has them do things; see ``Hosts``.

    Args:
        endpoint: where to listen.
        count: how many hosts there will be.
        network: how hosts connect.
        interrupt: called while answers are awaited; what it raises ends that.
        job: the job's name, for people.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        count: int,
        network: NetworkSettings = _DEFAULTS,
        interrupt: Callable[[], None] = lambda: None,
        job: str = "",
    ) -> None:
        self._job = job
        self._count, self._network, self._interrupt = count, network, interrupt
        self._hosts: dict[int, _HostConnection] = {}
        self._copies: list[_HostConnection] = []
        self._changed = threading.Condition()
        self._ending, self._closed = False, threading.Event()
        self._splits: SplitDistribution | None = None
        self._readers: dict[int, int] = {}
        self._listener = Listener(endpoint, secrets.token_bytes(32), self._take_call, "hosts")
        self.control = self._listener.address
        threading.Thread(target=self._beat, name="heartbeats", daemon=True).start()

    def assemble(
        self, seconds: float, check: Callable[[], None], started: Callable[[], int] = lambda: 0
    ) -> None:
        """Wait until all hosts have called in.

        Args:
            seconds: how long at most.
            check: called while it waits; what it raises ends that.
            started: how many of them Spark has started.

        Raises:
            TimeoutError: if one does not call.
            HostLost: if one was started, and is silent for longer than the heartbeat's timeout.
        """
        deadline = time.monotonic() + seconds
        wait, start = NamedWait(self._job, math.inf), SilentStart()
        limit = max(self._network.heartbeat_timeout, _LEAST_START_SECONDS)
        while (called := len(self._hosts)) < self._count:
            check()
            with self._changed:
                if self._changed.wait_for(self._complete, _LOOK_SECONDS):
                    return
            wait.look(f"{self._count - called} of {self._count} hosts to call in")
            if start.look(running := started(), called + len(self._copies)) >= limit:
                raise HostLost(
                    f"Spark has started {running} hosts, and {called} have called in within "
                    f"{limit:g} s: the Python process of another one is stuck, or its machine"
                )
            if time.monotonic() >= deadline:
                raise TimeoutError(
                    f"{called} of {self._count} task slots were free within "
                    f"{seconds:g} s: other jobs have the rest, or Spark has fewer executors"
                )

    def _complete(self) -> bool:
        return len(self._hosts) >= self._count

    def deploy(self, deployment: Deployment, splits: SplitDistribution | None = None) -> None:
        """Let all hosts open their subtasks, then connect with each other and begin to work.

        Args:
            deployment: what they run.
            splits: hands out the splits that readers ask for.

        Raises:
            SubtaskFailure: if a function's ``open`` fails.
        """
        self._splits = splits
        self._call_all("deploy", deployment, awaited="open their functions")
        addresses = {number: host.address for number, host in self._hosts.items()}
        futures = [
            host.call("connect", {n: a for n, a in addresses.items() if n != number})
            for number, host in self._hosts.items()
        ]
        self._answers(futures, "connect with each other")
        if splits is not None:
            splits.search_in_background()

    def add_splits(
        self, subtask_id: int, chain: int, splits: Sequence[object], *, at_once: bool
    ) -> None:
        """Send splits to the subtask that has asked for them."""
        host = self._hosts[self._readers[subtask_id]]
        answer = host.call("splits", subtask_id, chain, list(splits), at_once)
        answer.add_done_callback(_note_nothing)

    def _request_splits(self, host: int, subtask_id: int, chain: int, count: int) -> None:
        self._readers[subtask_id] = host
        if self._splits is not None:
            try:
                self._splits.request(subtask_id, chain, count)
            except Exception as error:  # noqa: BLE001 - `check` raises it in the driver's thread
                self._splits.fail(error)

    def check(self) -> None:
        """See whether all hosts work.

        Raises:
            SubtaskFailure: if a user's function has failed.
            HostLost: if a host, or the connection between two of them, is gone.
            Exception: if the driver cannot find the input of a source.
        """
        if self._splits is not None:
            self._splits.check()
        failures = [host.failure for host in self._hosts.values() if host.failure is not None]
        for failure in sorted(failures, key=lambda found: isinstance(found, HostLost)):
            raise failure
        for host in self._hosts.values():
            if host.lost_peer is not None and time.monotonic() - host.lost_peer[0] > _PEER_SECONDS:
                raise HostLost(f"host {host.number} has lost host {host.lost_peer[1]}")

    def wait(self, seconds: float) -> None:
        """Wait until a host says something, or the time is over."""
        with self._changed:
            self._changed.wait(seconds)

    @property
    def ended(self) -> bool:
        """True once the subtasks of all hosts have processed all their input."""
        return all(host.report.ended for host in self._hosts.values())

    @property
    def paused(self) -> bool:
        """True if the sources of all hosts wait for the next checkpoint, or have ended."""
        reports = [host.report for host in self._hosts.values()]
        reading = [report for report in reports if not report.ended and report.paused is not None]
        return bool(reading) and all(report.paused for report in reading)

    def progress(self) -> list[TaskProgress]:
        """Return how far each chain of each subtask is."""
        return [part for host in list(self._hosts.values()) for part in host.progress]

    def sample(self, samples: int, pause: float) -> list[Samples]:
        """Look at the threads of all hosts; hosts that do not answer are left out.

        Args:
            samples: how often.
            pause: the time between two samples, in s.
        """
        with self._changed:
            hosts = list(self._hosts.values())
        futures = [host.call(SAMPLE, samples, pause) for host in hosts]
        done, _ = concurrent.futures.wait(futures, samples * pause + _SAMPLE_SECONDS)
        return [each.result() for each in done if each.exception() is None]

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
        """Take a checkpoint; return the part of each host, by its number."""
        for host in self._hosts.values():
            paused = None if host.report.paused is None else False
            host.report = HostReport(host.report.ended, paused, None)
        order = checkpoint_id, where, contents, halt
        ordering: Any = (
            contextlib.nullcontext({}) if self._splits is None else self._splits.checkpoint()
        )
        with ordering as positions:
            futures = {
                number: host.call("snapshot", *order, {} if number else positions)
                for number, host in self._hosts.items()
            }
        try:
            return self._results(futures, f"write checkpoint {checkpoint_id}", timeout)
        except TimeoutError as error:
            raise SlowCheckpoint(self._stuck()) from error

    def _stuck(self) -> str:
        """The functions that stay with an element, for people; empty if none is seen."""
        stuck = (
            each
            for samples in self.sample(_STUCK_SAMPLES, _STUCK_SECONDS)
            for each in samples.current
            if each.unchanged
        )
        return "; ".join(
            f"{each.stack.operator or each.stack.task!r}, subtask {each.stack.subtask}, "
            f"is at {each.element} in {each.stack.frames[-1]}"
            for each in stuck
            if each.stack.frames
        )

    def committables(self) -> list[object]:
        """Return, once, what sinks have prepared: pairs of a sink's number and a thing."""
        answers = self._call_all("committables", awaited="give what their sinks have prepared")
        return [thing for number in sorted(answers) for thing in answers[number]]

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify all subtasks that a checkpoint is complete, and wait for them."""
        what = f"notify functions of checkpoint {checkpoint_id}"
        self._call_all("complete", checkpoint_id, awaited=what)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify all subtasks that a checkpoint was aborted, without waiting for them."""
        for host in self._hosts.values():
            host.call("aborted", checkpoint_id).add_done_callback(_note_nothing)

    def end_sources(self) -> None:
        """Let all sources end, as if there were nothing more to read."""
        self._call_all("end sources", awaited="end their sources")

    # -- the end ---------------------------------------------------------------------------------

    def close(self, failed: bool, abandoned: Callable[[], bool] = lambda: False) -> list[Any]:
        """Let all hosts close their subtasks and end.

        Functions of a job that did not fail may take any time, because they may write their last
        results.

        Args:
            failed: whether the job did.
            abandoned: whether the caller has stopped waiting.

        Returns:
            What sinks have prepared that no checkpoint has, if the job failed.

        Raises:
            SubtaskFailure: if a sink's ``close`` fails in a job that did not.
            HostLost: if one is gone before it has closed all of a job that did not fail.
            TimeoutError: if the caller stopped waiting before the end.
        """
        self._ending = True
        self._listener.close()
        if self._splits is not None:
            self._splits.close()
        futures = [host.call("close", failed) for host in self._hosts.values()]
        copies = [host.call("close", True) for host in self._copies]
        deadline = time.monotonic() + _CLOSE_SECONDS
        prepared: list[object] = []
        try:
            for future in futures:
                prepared += self._await_close(future, deadline, failed, abandoned)
            for future in copies:
                self._await_close(future, deadline, True, abandoned)
        finally:
            self._closed.set()
            for host in [*self._hosts.values(), *self._copies]:
                host.close()
        return prepared

    def _await_close(
        self, future: Future[Any], deadline: float, failed: bool, abandoned: Callable[[], bool]
    ) -> list[object]:
        wait = NamedWait(self._job, self._network.command_timeout)
        try:
            while not failed and not abandoned() and not future.done():
                wait.look("a host to close its functions")
                with contextlib.suppress(TimeoutError):
                    future.exception(_LOOK_SECONDS)
            answer: list[object] = future.result(max(0.0, deadline - time.monotonic()))
            return answer
        except (HostLost, TimeoutError, SubtaskFailure):
            if not failed:
                raise
            return []

    def _take_call(self, wire: MessageConnection) -> None:
        control = RpcConnection(wire, "a host")
        try:
            number, (host, port) = control.receive(_CALL_SECONDS)
        except (HostLost, TimeoutError):
            control.close()
            return
        if self._ending:
            control.close()
            return
        control.peer = f"host {number}"
        place = replace(self.control, host=host, port=port)
        silence = self._network.heartbeat_timeout
        with self._changed:
            called = _HostConnection(
                number, place, control, self._changed, silence, self._request_splits
            )
            if number in self._hosts:
                self._copies.append(called)  # which Spark has started beside: it waits for the end
            else:
                self._hosts[number] = called
            self._changed.notify_all()

    def _beat(self) -> None:
        """Ask all hosts again and again whether they are alive, until the pool is closed."""
        while not self._closed.wait(self._network.heartbeat_interval):
            with self._changed:
                hosts = [*self._hosts.values(), *self._copies]
            for host in hosts:
                host.beat()

    def _call_all(self, *message: object, awaited: str) -> dict[int, Any]:
        """Send a command to all hosts at once; return what each answers."""
        futures = {number: host.call(*message) for number, host in self._hosts.items()}
        return self._results(futures, awaited)

    def _results(
        self, futures: Mapping[int, Future[object]], awaited: str, timeout: float | None = None
    ) -> dict[int, Any]:
        """Wait for the answers of hosts, and return them."""
        self._answers(futures.values(), awaited, timeout)
        return {number: future.result() for number, future in futures.items()}

    def _answers(
        self, futures: Iterable[Future[object]], awaited: str, timeout: float | None = None
    ) -> None:
        """Wait for answers.

        Args:
            futures: have the answers.
            awaited: what the hosts are to do, for people.
            timeout: how long to wait, in s; None for ``pyflink-on-spark.command-timeout``.

        Raises:
            SubtaskFailure: the first failure of any host, also of what it was not asked.
            CheckpointError: if one could not write its state, once all have answered.
            HostLost: if one is gone.
            TimeoutError: if one does not answer in time.
        """
        waiting = list(futures)
        unwritten: CheckpointError | None = None
        limit = self._network.command_timeout if timeout is None else timeout
        wait = NamedWait(self._job, limit)
        while waiting:
            with self._changed:
                if not any(future.done() for future in waiting):
                    self._changed.wait(_LOOK_SECONDS)
            self.check()
            self._interrupt()
            for future in [future for future in waiting if future.done()]:
                waiting.remove(future)
                error = future.exception()
                if isinstance(error, CheckpointError):
                    unwritten = unwritten or error
                elif error is not None:
                    raise error
            if waiting:
                wait.look(f"{len(waiting)} of {len(self._hosts)} hosts to {awaited}")
        if unwritten is not None:
            raise unwritten


def _with_calls(
    known: Sequence[TaskProgress], working: Iterable[TaskProgress]
) -> tuple[TaskProgress, ...]:
    """The progress of a host, with the time that calls have taken which have not returned."""
    busy = {(each.name, each.subtask): each.busy for each in working}
    return tuple(
        replace(each, busy=max(each.busy, busy.get((each.name, each.subtask), 0.0)))
        for each in known
    )


def _note_nothing(future: Future[object]) -> None:
    future.exception()
