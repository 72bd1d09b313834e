"""Strategies for restarts after failures."""

from __future__ import annotations

from abc import ABCMeta
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._options import checkpointing as options
from pyflink_on_spark._options.registry import options_of
from pyflink_on_spark.common.configuration import Configuration, values_of

__all__ = ["RestartStrategies", "RestartStrategyConfiguration"]

_NAMES = {
    "none": "none",
    "off": "none",
    "disable": "none",
    "fixed-delay": "fixed-delay",
    "fixeddelay": "fixed-delay",
    "failure-rate": "failure-rate",
    "failurerate": "failure-rate",
}


@dataclass(frozen=True)
class RestartSpec:
    """The parameters of a restart strategy, for the engine; times are in ms.

    Args:
        kind: ``fallback`` leaves it to the configuration.
        attempts: how often a job is restarted, or how often in ``interval_ms``.
        interval_ms: the time over which failures are counted.
        delay_ms: how long to wait before a restart.
    """

    kind: Literal["none", "fixed-delay", "failure-rate", "fallback"]
    attempts: int = 0
    interval_ms: int = 0
    delay_ms: int = 0
    description: str = field(default="", compare=False)


class RestartStrategyConfiguration(metaclass=ABCMeta):  # noqa: B024 - as in PyFlink
    """A strategy for restarts after failures; made with ``RestartStrategies``.

    Args:
        j_restart_strategy_configuration: this package's description.
    """

    def __init__(self, j_restart_strategy_configuration: object) -> None:
        call = "RestartStrategyConfiguration(j_restart_strategy_configuration)"
        self._spec = own_handle(j_restart_strategy_configuration, RestartSpec, call)

    def get_description(self) -> str:
        """Return the strategy in words."""
        return self._spec.description

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self._spec == other._spec

    def __hash__(self) -> int:
        return hash(self._spec)


class RestartStrategies:
    """Creates restart strategies."""

    class NoRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The job fails when it fails.

        Args:
            j_restart_strategy: this package's description, or None.
        """

        def __init__(self, j_restart_strategy: Any = None) -> None:
            super().__init__(j_restart_strategy or _no_restart())

    class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The job is restarted a limited number of times.

        Args:
            restart_attempts: how many times.
            delay_between_attempts_interval: a timedelta or a number of ms.
            j_restart_strategy: this package's description, or None.

        Raises:
            TypeError: the delay is neither a timedelta nor an int.
            ValueError: a number is negative.
        """

        def __init__(
            self,
            restart_attempts: int | None = None,
            delay_between_attempts_interval: timedelta | int | None = None,
            j_restart_strategy: object = None,
        ) -> None:
            super().__init__(
                j_restart_strategy
                or _fixed_delay(restart_attempts, _millis(delay_between_attempts_interval, "delay"))
            )

        def get_restart_attempts(self) -> int:
            """Return how many times the job is restarted."""
            return self._spec.attempts

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return how long to wait before a restart."""
            return timedelta(milliseconds=self._spec.delay_ms)

    class FailureRateRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The job is restarted unless it fails too often in some time.

        Args:
            max_failure_rate: how many failures in the interval are allowed.
            failure_interval: a timedelta or a number of ms.
            delay_between_attempts_interval: a timedelta or a number of ms.
            j_restart_strategy: this package's description, or None.

        Raises:
            TypeError: an interval is neither a timedelta nor an int.
            ValueError: the rate or the interval is not positive, or the delay is negative.
        """

        def __init__(
            self,
            max_failure_rate: int | None = None,
            failure_interval: timedelta | int | None = None,
            delay_between_attempts_interval: timedelta | int | None = None,
            j_restart_strategy: Any = None,
        ) -> None:
            super().__init__(
                j_restart_strategy
                or _failure_rate(
                    max_failure_rate,
                    _millis(failure_interval, "failure_interval"),
                    _millis(delay_between_attempts_interval, "delay"),
                )
            )

        def get_max_failure_rate(self) -> int:
            """Return how many failures in the interval are allowed."""
            return self._spec.attempts

        def get_failure_interval(self) -> timedelta:
            """Return the time over which failures are counted."""
            return timedelta(milliseconds=self._spec.interval_ms)

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return how long to wait before a restart."""
            return timedelta(milliseconds=self._spec.delay_ms)

    class FallbackRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The configuration determines the strategy.

        Args:
            j_restart_strategy: this package's description, or None.
        """

        def __init__(self, j_restart_strategy: object = None) -> None:
            super().__init__(j_restart_strategy or _fall_back())

    @staticmethod
    def no_restart() -> RestartStrategies.NoRestartStrategyConfiguration:
        """Let the job fail when it fails."""
        return RestartStrategies.NoRestartStrategyConfiguration()

    @staticmethod
    def fall_back_restart() -> RestartStrategies.FallbackRestartStrategyConfiguration:
        """Return a strategy that follows the configuration."""
        return RestartStrategies.FallbackRestartStrategyConfiguration()

    @staticmethod
    def fixed_delay_restart(
        restart_attempts: int, delay_between_attempts: timedelta | int
    ) -> RestartStrategies.FixedDelayRestartStrategyConfiguration:
        """Restart the job a limited number of times.

        Args:
            restart_attempts: how many times.
            delay_between_attempts: how long to wait before: a timedelta or a number of ms.
        """
        return RestartStrategies.FixedDelayRestartStrategyConfiguration(
            restart_attempts, delay_between_attempts
        )

    @staticmethod
    def failure_rate_restart(
        failure_rate: int, failure_interval: timedelta | int, delay_interval: timedelta | int
    ) -> RestartStrategies.FailureRateRestartStrategyConfiguration:
        """Restart the job unless it fails too often in some time.

        Args:
            failure_rate: how many failures in the interval are allowed.
            failure_interval: the time over which they count: a timedelta or a number of ms.
            delay_interval: how long to wait before a restart: a timedelta or a number of ms.
        """
        return RestartStrategies.FailureRateRestartStrategyConfiguration(
            failure_rate, failure_interval, delay_interval
        )


def read_restart_strategy(configuration: Configuration) -> RestartStrategyConfiguration:
    """Return the strategy that a configuration has; fall back when it says nothing.

    Raises:
        ValueError: the strategy has no class in ``RestartStrategies``, for example
            ``exponential-delay``, or one of its options cannot be read.
    """
    name = options.STRATEGY.read(values_of(configuration))
    if name is None:
        return RestartStrategies.fall_back_restart()
    kind = _NAMES.get(name.lower())
    if kind == "none":
        return RestartStrategies.no_restart()
    values = values_of(configuration)
    if kind == "fixed-delay":
        return RestartStrategies.fixed_delay_restart(
            options.FIXED_ATTEMPTS.read(values), options.FIXED_DELAY.read(values)
        )
    if kind == "failure-rate":
        return RestartStrategies.failure_rate_restart(
            options.RATE_FAILURES.read(values),
            options.RATE_INTERVAL.read(values),
            options.RATE_DELAY.read(values),
        )
    raise ValueError(f"The restart strategy {name!r} has no class in RestartStrategies")


def write_restart_strategy(
    configuration: Configuration, strategy: RestartStrategyConfiguration
) -> None:
    """Set a strategy in a configuration, in place of the former one."""
    spec = strategy._spec
    for option in options_of(options):
        option.remove(values_of(configuration))
    if spec.kind == "fallback":
        return
    options.STRATEGY.write(values_of(configuration), spec.kind)
    if spec.kind == "fixed-delay":
        options.FIXED_ATTEMPTS.write(values_of(configuration), spec.attempts)
        options.FIXED_DELAY.write(values_of(configuration), spec.delay_ms)
    elif spec.kind == "failure-rate":
        options.RATE_FAILURES.write(values_of(configuration), spec.attempts)
        options.RATE_INTERVAL.write(values_of(configuration), spec.interval_ms)
        options.RATE_DELAY.write(values_of(configuration), spec.delay_ms)


def _no_restart() -> RestartSpec:
    return RestartSpec("none", description="Restart deactivated.")


def _fall_back() -> RestartSpec:
    return RestartSpec("fallback", description="Cluster level default restart strategy")


def _fixed_delay(attempts: int | None, delay_ms: int) -> RestartSpec:
    if (attempts := _count(attempts)) < 0:
        raise ValueError("Maximum number of restart attempts must be positive.")
    if delay_ms < 0:
        raise ValueError("Delay between restart attempts must be positive.")
    text = f"Restart with fixed delay ({delay_ms} ms). #{attempts} restart attempts."
    return RestartSpec("fixed-delay", attempts, delay_ms=delay_ms, description=text)


def _failure_rate(failures: int | None, interval_ms: int, delay_ms: int) -> RestartSpec:
    if (failures := _count(failures)) <= 0:
        raise ValueError("Maximum number of restart attempts per time unit must be greater than 0.")
    if interval_ms <= 0:
        raise ValueError("Failures interval must be greater than 0 ms.")
    if delay_ms < 0:
        raise ValueError("Delay must be at least 0 ms.")
    text = (
        f"Failure rate restart with maximum of {failures} failures within interval "
        f"{interval_ms} ms and fixed delay {delay_ms} ms."
    )
    return RestartSpec("failure-rate", failures, interval_ms, delay_ms, text)


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"The number of restarts is an int, not a {type(value).__name__}")
    return value


def _millis(value: object, what: str) -> int:
    if isinstance(value, timedelta):
        return round(value / timedelta(milliseconds=1))
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(
            f"The parameter '{what}' only supports integer and datetime.timedelta, "
            f"current input type is {type(value)}."
        )
    return value


__getattr__ = missing_name(__name__)
