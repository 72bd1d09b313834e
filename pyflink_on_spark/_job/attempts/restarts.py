"""The restarts of a failed job."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping
from typing import Protocol

from pyflink_on_spark._compat.errors import JobExecutionError
from pyflink_on_spark._job.submission.job import Job
from pyflink_on_spark._options import restart_strategy as options
from pyflink_on_spark._runtime.contract.plan import JobSettings
from pyflink_on_spark.common.configuration import Configuration
from pyflink_on_spark.common.restart_strategy import read_restart_strategy

_EXPONENTIAL = ("exponential-delay", "exponentialdelay")
_ALREADY_COLLECTED = (
    "Job restarted: execute_and_collect() may have returned elements of the failed attempt, and "
    "the next attempt would return them again. Call env.enable_checkpointing(...), or write the "
    "stream to a sink."
)


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
