"""Strategies for the timestamps and watermarks of a stream."""

from __future__ import annotations

import abc
import logging
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn, Optional

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.recorded import note_recorded
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark.common.time import Duration, nanos_of

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class WatermarkSpec:
    """The parameters of a watermark strategy, for the engine.

    Args:
        kind: ``none`` makes no watermarks but the one at the end; for the others it is the largest
            timestamp - ``bound_ms`` - 1.
        bound_ms: how late elements may be, in ms; 0 for monotonous timestamps.
        idle_timeout_ms: after how long without elements an input counts as idle, in ms, or None.
        assigner: the user's ``TimestampAssigner``, or None.
    """

    kind: Literal["monotonous", "bounded", "none"]
    bound_ms: int = 0
    idle_timeout_ms: int | None = None
    assigner: Any = None


class WatermarkStrategy:
    """The timestamps of elements, and the watermarks that follow from the timestamps.

    Args:
        j_watermark_strategy: this package's description; use the static methods.
    """

    def __init__(self, j_watermark_strategy: Any) -> None:
        call = "WatermarkStrategy(j_watermark_strategy)"
        self._spec = own_handle(j_watermark_strategy, WatermarkSpec, call)

    def with_timestamp_assigner(self, timestamp_assigner: TimestampAssigner) -> WatermarkStrategy:
        """Take timestamps from the elements with an assigner; returns this same strategy."""
        self._spec = replace(self._spec, assigner=timestamp_assigner)
        return self

    def with_idleness(self, idle_timeout: Duration) -> WatermarkStrategy:
        """Return a strategy in which an input without elements does not hold watermarks back.

        As in PyFlink the new strategy has NO timestamp assigner: call this before
        ``with_timestamp_assigner``.

        Args:
            idle_timeout: after how long without elements an input counts as idle.

        Raises:
            ValueError: the timeout is not greater than zero.
        """
        timeout = own_handle(idle_timeout, Duration, "with_idleness(idle_timeout)")
        if nanos_of(timeout) <= 0:
            raise ValueError("idleTimeout must be greater than zero")
        return self._without_assigner("with_idleness", idle_timeout_ms=max(1, timeout._to_millis()))

    def with_watermark_alignment(
        self,
        watermark_group: str,
        max_allowed_watermark_drift: Duration,
        update_interval: Optional[Duration] = None,  # noqa: UP045
    ) -> WatermarkStrategy:
        """Return a strategy in which sources of one group wait for each other.

        On Spark: it is recorded and has no effect; sources are read in turns, a bundle at a time.

        As in PyFlink the new strategy has NO timestamp assigner: call this before
        ``with_timestamp_assigner``.

        Args:
            watermark_group: the name that the sources share.
            max_allowed_watermark_drift: how far one may be ahead of the others.
            update_interval: how often they compare themselves; None is one second.

        Raises:
            ValueError: the drift is negative, or the interval is not positive.
        """
        call = "with_watermark_alignment(watermark_group, max_allowed_watermark_drift)"
        own_handle(watermark_group, str, call)
        drift = own_handle(max_allowed_watermark_drift, Duration, call)
        interval = Duration.of_seconds(1) if update_interval is None else update_interval
        own_handle(interval, Duration, "with_watermark_alignment(..., update_interval)")
        if nanos_of(drift) < 0:
            raise ValueError("maxAllowedWatermarkDrift must be greater than or equal to zero")
        if nanos_of(interval) <= 0:
            raise ValueError("updateInterval must be positive")
        note_recorded("with_watermark_alignment()", "the sources of a job are read in turns")
        return self._without_assigner("with_watermark_alignment")

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        """Make a strategy for timestamps that never go down."""
        return WatermarkStrategy(WatermarkSpec("monotonous"))

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Duration) -> WatermarkStrategy:
        """Make a strategy for elements that come at most so much too late.

        Args:
            max_out_of_orderness: how much older than the largest timestamp an element may be.

        Raises:
            ValueError: it is negative.
        """
        call = "for_bounded_out_of_orderness(max_out_of_orderness)"
        bound = own_handle(max_out_of_orderness, Duration, call)
        if nanos_of(bound) < 0:
            raise ValueError("maxOutOfOrderness cannot be negative")
        return WatermarkStrategy(WatermarkSpec("bounded", bound_ms=bound._to_millis()))

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        """Make a strategy without watermarks, for jobs that only use processing time."""
        return WatermarkStrategy(WatermarkSpec("none"))

    def _without_assigner(self, method: str, **changes: Any) -> WatermarkStrategy:
        if self._spec.assigner is not None:
            _LOG.warning(
                "%s() returns a strategy without the timestamp assigner, as in PyFlink: "
                "call it before with_timestamp_assigner()",
                method,
            )
        return WatermarkStrategy(replace(self._spec, assigner=None, **changes))


class TimestampAssigner(abc.ABC):
    """Finds the timestamp of an element; users write subclasses.

    Example:
        >>> class Second(TimestampAssigner):
        ...     def extract_timestamp(self, value, record_timestamp):
        ...         return value[1]
        >>> strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
        >>> strategy = strategy.with_timestamp_assigner(Second())
    """

    @abc.abstractmethod
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return the timestamp of an element, in ms since 1970-01-01T00:00Z.

        Args:
            value: the element.
            record_timestamp: the timestamp that it has so far; a negative number if it has none.
        """


class AssignerWithPeriodicWatermarksWrapper:
    """Flink's old Java assigner of timestamps and watermarks.

    Args:
        j_assigner_with_periodic_watermarks: a Java object.

    On Spark: raises; there is no Java object to wrap.
    """

    def __init__(self, j_assigner_with_periodic_watermarks: Any) -> None:
        _refuse_java_assigner(j_assigner_with_periodic_watermarks)


def _refuse_java_assigner(assigner: object) -> NoReturn:
    raise_unsupported(
        f"AssignerWithPeriodicWatermarksWrapper({type(assigner).__name__})",
        kind=Gap.NEVER,
        reason="it wraps a Java object",
        instead="Use a WatermarkStrategy with a TimestampAssigner.",
    )


__getattr__ = missing_name(__name__)
