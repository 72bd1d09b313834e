"""When a job that failed is started again."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping
from typing import Protocol

from pyflink_on_spark._job.checkpoint_options import checkpoint_interval
from pyflink_on_spark.common._option import (
    double_option,
    duration_option,
    int_option,
    string_option,
)
from pyflink_on_spark.common.configuration import Configuration
from pyflink_on_spark.common.restart_strategy import read_restart_strategy

_TYPE = string_option("restart-strategy.type", None)
_OLD_TYPE = string_option("restart-strategy", None)
_PREFIX = "restart-strategy.exponential-delay."
_INITIAL = duration_option(_PREFIX + "initial-backoff", 1_000)
_MAXIMUM = duration_option(_PREFIX + "max-backoff", 60_000)
_MULTIPLIER = double_option(_PREFIX + "backoff-multiplier", 1.5)
_RESET = duration_option(_PREFIX + "reset-backoff-threshold", 3_600_000)
_JITTER = double_option(_PREFIX + "jitter-factor", 0.1)
_ATTEMPTS = int_option(_PREFIX + "attempts-before-reset-backoff", 2**31 - 1)
_EXPONENTIAL = ("exponential-delay", "exponentialdelay")


class RestartStrategy(Protocol):
    """Decides after each failure."""

    def delay(self, now: int) -> int | None:
        """Return how long to wait (ms) after a failure now (ms), or None to give up."""
        ...


class NoRestart:
    """Gives up at once."""

    def delay(self, now: int) -> int | None:
        """Return None."""
        return None


class FixedDelay:
    """Starts a job again so many times.

    Args:
        attempts: how many times.
        delay_ms: how long to wait before.
    """

    def __init__(self, attempts: int, delay_ms: int) -> None:
        self._left, self._delay = attempts, delay_ms

    def delay(self, now: int) -> int | None:
        """Return how long to wait (ms), or None to give up."""
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
        """Return how long to wait (ms), or None to give up."""
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
        reset_ms: after how long without a failure it begins anew.
        jitter: by which part a time may vary, so that jobs do not start all at once.
        attempts: after how many failures it gives up.
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
        """Return how long to wait (ms), or None to give up."""
        if self._last is not None and now - self._last >= self._reset + self._current:
            self._current, self._failures = self._initial, 0
        self._last = now
        self._failures += 1
        if self._failures > self._attempts:
            return None
        wait, self._current = self._current, min(self._current * self._multiplier, self._maximum)
        return round(wait * random.uniform(1 - self._jitter, 1 + self._jitter))


def restart_strategy(settings: Mapping[str, str]) -> RestartStrategy:
    """Return the strategy that a job's configuration asks for.

    As in Flink, a job with checkpoints is started again for ever, with growing delays, if nothing
    else is said; one without fails.

    Args:
        settings: the job's configuration.

    Raises:
        ValueError: if an option cannot be read.
    """
    configuration = Configuration.from_dict(dict(settings))
    read = configuration._read
    name = (read(_TYPE) or read(_OLD_TYPE) or "").lower()
    if not name:
        name = _EXPONENTIAL[0] if checkpoint_interval(settings) else "none"
    if name in _EXPONENTIAL:
        return ExponentialDelay(
            read(_INITIAL), read(_MAXIMUM), read(_MULTIPLIER), read(_RESET), read(_JITTER),
            read(_ATTEMPTS),
        )  # fmt: skip
    if name in ("none", "off", "disable"):
        return NoRestart()
    spec = read_restart_strategy(configuration)._spec
    if spec.kind == "fixed-delay":
        return FixedDelay(spec.attempts, spec.delay_ms)
    return FailureRate(spec.attempts, spec.interval_ms, spec.delay_ms)
