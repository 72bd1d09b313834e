"""The attempts of a job: control from outside, distribution of splits, restarts after failures."""

from __future__ import annotations

import datetime
import os
import random
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from pyflink_on_spark._compat.errors import CheckpointError, JobExecutionError
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.checkpoints.checkpoint_writer import Hosts
from pyflink_on_spark._job.checkpoints.coordinator import CheckpointCoordinator
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._options import checkpointing as options
from pyflink_on_spark._options.secrets import masked_text
from pyflink_on_spark._runtime.checkpoints.checkpoint import Restore, restored_positions
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder
from pyflink_on_spark._runtime.contract.connector import SplitEnumerator, UnreadSplit
from pyflink_on_spark._runtime.contract.plan import JobSettings, StagePlan
from pyflink_on_spark._runtime.elements.time import Clock, step
from pyflink_on_spark.common.configuration import Configuration
from pyflink_on_spark.common.restart_strategy import read_restart_strategy

_EXPONENTIAL = ("exponential-delay", "exponentialdelay")
_ALREADY_COLLECTED = (
    "Job restarted: execute_and_collect() may have returned elements of the failed attempt, and "
    "the next attempt would return them again. Call env.enable_checkpointing(...), or write the "
    "stream to a sink."
)
_Reader = tuple[int, int]
"""The number of a subtask, and that of the chain whose source it reads."""


class RestartStrategy(Protocol):
    """Decides after each failure."""

    def delay(self, now: int) -> int | None:
        """Return how long to wait (ms) after a failure now (ms), or None for no restart."""
        ...


class NoRestart:
    """Never restarts a job."""

    def delay(self, now: int) -> int | None:
        """Return None."""
        return None


class FixedDelay:
    """Restarts a job a limited number of times.

    Args:
        attempts: how many times.
        delay_ms: how long to wait before.
    """

    def __init__(self, attempts: int, delay_ms: int) -> None:
        self._left, self._delay = attempts, delay_ms

    def delay(self, now: int) -> int | None:
        """Return how long to wait (ms), or None for no restart."""
        self._left -= 1
        return self._delay if self._left >= 0 else None


class FailureRate:
    """Starts a job again unless it fails too often.

    Args:
        failures: how many failures are allowed in the interval.
        interval_ms: the interval.
        delay_ms: how long to wait before.
    """

    def __init__(self, failures: int, interval_ms: int, delay_ms: int) -> None:
        self._interval, self._delay = interval_ms, delay_ms
        self._times: deque[int] = deque(maxlen=failures)

    def delay(self, now: int) -> int | None:
        """Return how long to wait (ms), or None for no restart."""
        full = len(self._times) == self._times.maxlen
        too_often = full and now - self._times[0] <= self._interval
        self._times.append(now)
        return None if too_often else self._delay


class ExponentialDelay:
    """Starts a job again after times that become longer.

    Args:
        initial_ms: the first time.
        maximum_ms: the longest time.
        multiplier: by what a time is longer than the one before.
        reset_ms: the time without a failure after which the delay is reset.
        jitter: by which part a time may vary, so that jobs do not start all at once.
        attempts: the number of failures after which the job is not restarted.
    """

    def __init__(
        self,
        initial_ms: int,
        maximum_ms: int,
        multiplier: float,
        reset_ms: int,
        jitter: float,
        attempts: int,
    ) -> None:
        self._initial, self._maximum, self._multiplier = initial_ms, maximum_ms, multiplier
        self._reset, self._jitter, self._attempts = reset_ms, jitter, attempts
        self._current: float = initial_ms
        self._failures = 0
        self._last: int | None = None

    def delay(self, now: int) -> int | None:
        """Return how long to wait (ms), or None for no restart."""
        if self._last is not None and now - self._last >= self._reset + self._current:
            self._current, self._failures = self._initial, 0
        self._last = now
        self._failures += 1
        if self._failures > self._attempts:
            return None
        wait, self._current = self._current, min(self._current * self._multiplier, self._maximum)
        return round(wait * random.uniform(1 - self._jitter, 1 + self._jitter))


def check_may_restart(job: Job, failure: Exception) -> None:
    """Let a job restart, unless the program has received elements that would come again.

    Args:
        job: the job.
        failure: why its attempt failed.

    Raises:
        JobExecutionError: the job collects elements, and has no checkpoint to continue from.
    """
    if job.collected is not None and not job.settings.checkpointed:
        raise JobExecutionError(f"{failure}\n\n{_ALREADY_COLLECTED}") from failure.__cause__


def names_restart_strategy(settings: Mapping[str, str]) -> bool:
    """Return whether a job's configuration itself says when the job restarts."""
    return options.STRATEGY.is_set(settings)


def restart_strategy(job: JobSettings) -> RestartStrategy:
    """Return the strategy that a job's configuration asks for.

    As in Flink, a job with checkpoints is restarted without limit, with growing delays, if nothing
    else is said; one without fails. A job with BATCH semantics has no checkpoints.

    Args:
        job: the job's settings.

    Raises:
        ValueError: if an option cannot be read.
    """
    settings = job.configuration
    name = (options.STRATEGY.read(settings) or "").lower()
    if not name:
        name = _EXPONENTIAL[0] if job.checkpointed else "none"
    if name in _EXPONENTIAL:
        return ExponentialDelay(
            options.BACKOFF_INITIAL.read(settings),
            options.BACKOFF_MAXIMUM.read(settings),
            options.BACKOFF_MULTIPLIER.read(settings),
            options.BACKOFF_RESET.read(settings),
            options.BACKOFF_JITTER.read(settings),
            options.BACKOFF_ATTEMPTS.read(settings),
        )
    if name in ("none", "off", "disable"):
        return NoRestart()
    spec = read_restart_strategy(Configuration.from_dict(dict(settings)))._spec
    if spec.kind == "fixed-delay":
        return FixedDelay(spec.attempts, spec.delay_ms)
    return FailureRate(spec.attempts, spec.interval_ms, spec.delay_ms)


@dataclass(eq=False)
class SavepointRequest:
    """A savepoint that was asked for.

    Args:
        directory: where to write it; None for where the configuration says.
        stop: whether the job ends with it.
        drain: whether event time ends before.
        checkpoint: whether a checkpoint of the job itself is asked for; the path is its number.
        path: gets the savepoint's path, or the error.
    """

    directory: str | None
    stop: bool = False
    drain: bool = False
    checkpoint: bool = False
    path: Future[str] = field(default_factory=Future)


class SavepointRequests(list[SavepointRequest]):
    """The savepoints that were asked for and are not begun, the oldest first.

    Other threads than that of the job may append.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._refusal = ""

    def append(self, request: SavepointRequest) -> None:
        """Add a request.

        Raises:
            CheckpointError: no request is taken now.
        """
        with self._lock:
            if self._refusal:
                raise CheckpointError(self._refusal)
            super().append(request)

    @contextmanager
    def refused(self, why: str) -> Iterator[None]:
        """Refuse all requests, also those that wait, in the block.

        Args:
            why: the text of the error.
        """
        with self._lock:
            self._refusal = why
            waiting, self[:] = self[:], []
        for request in waiting:
            request.path.set_exception(CheckpointError(why))
        try:
            yield
        finally:
            self._refusal = ""


def nothing_to_save(job: Job, failure: str, delay_ms: int) -> str:
    """Explain why a job has no state to save while it waits for its restart.

    Args:
        job: the job.
        failure: the line that names what it failed with.
        delay_ms: how long it waits (ms).
    """
    kept = CheckpointSettings.of(job.settings.configuration).kept_when_cancelled
    records = (job.history.last_completed(savepoint=False), job.history.restored)
    last = next((each.path for each in records if each is not None and each.path), None)
    then = (
        f"or end it now: cancel {'keeps' if kept else 'removes'} its checkpoints, and SIGTERM to "
        f"the driver (process {os.getpid()}) keeps the last one, {last}"
        if last
        else "or cancel it; it has no checkpoint on disk"
    )
    begins = datetime.datetime.now(datetime.UTC) + datetime.timedelta(milliseconds=delay_ms)
    return (
        f"the job {job.name!r} is RESTARTING, because of {masked_text(failure)}: until it begins "
        f"again at {begins:%Y-%m-%d %H:%M:%S} UTC no task has state to save. Ask again when it is "
        f"RUNNING, {then}"
    )


def check_may_be_saved(job: Job, call: str) -> None:
    """Raise if a job has BATCH semantics; ``call`` is what would save its state."""
    if job.settings.batch:
        raise_unsupported(
            call,
            kind=Gap.NEVER,
            reason="a job with BATCH semantics has no checkpoints",
            instead="Choose RuntimeExecutionMode.STREAMING, and the job can be saved.",
        )


class AttemptControl:
    """Takes the checkpoints and savepoints of one attempt, and ends it.

    Args:
        coordinator: the job's.
        hosts: the attempt's.
        requests: the savepoints that were asked for, the oldest first; those that are begun are
            taken out.
    """

    def __init__(
        self, coordinator: CheckpointCoordinator, hosts: Hosts, requests: list[SavepointRequest]
    ) -> None:
        self._coordinator, self._hosts, self._requests = coordinator, hosts, requests
        self._begun: SavepointRequest | None = None
        self._drained_into: Folder | None = None
        self.ended = False
        """True once the job is done."""

    def run_pending(self, done: bool, wanted: bool = False) -> None:
        """Do the work that is due.

        Args:
            done: whether all subtasks have processed all their input.
            wanted: whether a checkpoint is due, whatever the clock says.

        Raises:
            BaseException: what ends the attempt.
        """
        if self._drained_into is not None:
            if done:
                step("drain: all input is processed")
                self._save(self._drained_into)
        elif done:
            self.ended = self._coordinator.finish(self._hosts)
        else:
            while self._requests and not self.ended and self._drained_into is None:
                self._begin(self._requests.pop(0))
            due = wanted or self._coordinator.due
            if due and not self.ended and self._drained_into is None:
                self._coordinator.checkpoint(self._hosts)

    def failed(self, error: BaseException) -> None:
        """Fail the pending savepoint request with the attempt's error."""
        if self._begun is not None:
            self._begun.path.set_exception(error)
            self._begun = None

    def _begin(self, request: SavepointRequest) -> None:
        self._begun = request
        if request.checkpoint:
            made = self._coordinator.checkpoint(self._hosts)
            self._begun = None
            if made:
                request.path.set_result(str(self._coordinator.last_checkpoint))
            else:
                request.path.set_exception(CheckpointError("the checkpoint could not be written"))
            return
        try:
            place = self._coordinator.savepoint_folder(request.directory)
        except Exception as error:  # noqa: BLE001 - the job continues without this savepoint
            request.path.set_exception(error)
            self._begun = None
            return
        if request.drain:
            self._drained_into = place
            self._hosts.end_sources()
            step("drain: the sources end")
        else:
            self._save(place)

    def _save(self, place: Folder) -> None:
        request = self._begun
        assert request is not None
        try:
            path = self._coordinator.savepoint(
                self._hosts, place, stop=request.stop, drained=request.drain
            )
        except CheckpointError as error:
            if request.drain:
                raise  # all windows have fired: the job can only continue from a checkpoint
            request.path.set_exception(error)
        else:
            self._begun = None
            request.path.set_result(path)
            if request.stop:
                self._coordinator.notify_last(self._hosts)
                self.ended = True
        self._begun = None


class Deliver(Protocol):
    """Brings splits to a reader, without waiting."""

    def __call__(
        self, subtask_id: int, chain: int, splits: Sequence[UnreadSplit], *, at_once: bool
    ) -> None:
        """Bring splits to a chain's source in a subtask, in the order of the calls."""
        ...


class _Source:
    """A source whose readers ask for splits.

    Args:
        enumerator: has its splits.
    """

    def __init__(self, enumerator: SplitEnumerator) -> None:
        self.enumerator = enumerator
        self.waiting: dict[_Reader, int] = {}
        """How many splits readers wait for, in the order in which they asked."""
        self.searched: int | None = None
        """When the last search was (ms)."""

    def due_in(self, now: int) -> int | None:
        """Return the milliseconds until the next search; None if there is none."""
        interval = self.enumerator.interval
        if interval is None or self.searched is None:
            return None if interval is None else 0
        return 0 if now < self.searched else max(0, self.searched + interval - now)

    def handed_out(self) -> dict[_Reader, list[UnreadSplit]]:
        """Deal splits to the readers that wait, one at a time, and return what each gets.

        Who gets something waits no more.
        """
        dealt: dict[_Reader, list[UnreadSplit]] = {}
        open_to = list(self.waiting.items())
        while open_to:
            for reader, _ in open_to:
                split = self.enumerator.take()
                if split is None:
                    open_to = []
                    break
                dealt.setdefault(reader, []).append(split)
            open_to = [(reader, count) for reader, count in open_to if count > len(dealt[reader])]
        for reader in dealt:
            del self.waiting[reader]
        return dealt


class SplitDistribution:
    """The enumerators of a job's sources, for one attempt. Its methods may be called in any thread.

    Args:
        stages: those of the job.
        restore: the checkpoint to begin with; None for a fresh start.
        configuration: says how to reach the folder.
        deliver: brings splits to readers.
        clock: says when to search for splits.
    """

    def __init__(
        self,
        stages: Sequence[StagePlan],
        restore: Restore | None,
        configuration: Mapping[str, str],
        deliver: Deliver,
        clock: Clock,
    ) -> None:
        self._deliver, self._clock = deliver, clock
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._error: BaseException | None = None
        self._sources: dict[str, _Source] = {}
        self._readers: dict[_Reader, _Source] = {}
        found = [
            (vertex, index, chain)
            for stage in stages
            for vertex in stage.vertices
            for index, chain in enumerate(vertex.chains)
            if chain.source is not None and chain.source.asked
        ]
        restored: dict[str, list[object]] = {}
        if restore is not None:
            sources = {chain.source_id for *_, chain in found}
            restored = restored_positions(restore, sources, configuration)
        for vertex, index, chain in found:
            assert chain.source is not None
            enumerator = chain.source.enumerator(restored.get(chain.source_id))
            source = self._sources[chain.source_id] = _Source(enumerator)
            for subtask in range(vertex.parallelism):
                self._readers[vertex.first_subtask_id + subtask, index] = source

    def __bool__(self) -> bool:
        return bool(self._sources)

    def request(self, subtask_id: int, chain: int, count: int) -> None:
        """Give a reader the next splits, up to ``count``; if there is none, when there is one."""
        with self._lock:
            source = self._readers[subtask_id, chain]
            source.waiting[subtask_id, chain] = count
            self._hand_out(source, at_once=True)

    def search(self) -> None:
        """Search for splits, where it is time to, and hand them out.

        Raises:
            Exception: what the attempt fails with.
        """
        for source in self._sources.values():
            now = self._clock.now()
            if source.due_in(now) == 0:
                source.searched = now
                splits = source.enumerator.search()
                with self._lock:
                    source.enumerator.found(splits)
                    self._hand_out(source, at_once=False)

    def search_in_background(self) -> None:
        """Search in a thread of its own until ``close``; ``check`` raises what fails."""
        if any(source.enumerator.interval is not None for source in self._sources.values()):
            threading.Thread(target=self._search_on, name="splits", daemon=True).start()

    def check(self) -> None:
        """Raise the error of a search in the background, or of another part."""
        if self._error is not None:
            raise self._error

    def fail(self, error: BaseException) -> None:
        """Let ``check`` raise an error."""
        self._error = self._error or error

    def close(self) -> None:
        """Search no more."""
        self._over.set()

    @contextmanager
    def checkpoint(self) -> Iterator[dict[str, list[object]]]:
        """Hold splits back while a checkpoint is ordered; ``with`` has the part of the driver.

        The part has, for the stable name of each source, what its enumerator has. Readers get the
        order of the checkpoint inside ``with``: after all splits that were handed out before, and
        before those that are handed out later.
        """
        with self._lock:
            yield {name: source.enumerator.snapshot() for name, source in self._sources.items()}

    def _hand_out(self, source: _Source, *, at_once: bool) -> None:
        for (subtask_id, chain), splits in source.handed_out().items():
            self._deliver(subtask_id, chain, splits, at_once=at_once)

    def _search_on(self) -> None:
        try:
            while not self._over.is_set():
                self.search()
                now = self._clock.now()
                waits = [source.due_in(now) for source in self._sources.values()]
                self._over.wait(min(wait for wait in waits if wait is not None) / 1000)
        except BaseException as error:  # noqa: BLE001 - the driver's thread raises it
            self.fail(error)
