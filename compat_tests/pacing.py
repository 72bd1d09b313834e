"""Bounded streams whose watermark moves on after each element.

A small bounded input is over before the first periodic watermark. `paced` holds the input back
before each element, for longer than the watermark interval that the fixture `paced_env` sets.
"""

from __future__ import annotations

import time
from typing import Any

from pyflink.common import Configuration, Duration, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner

WATERMARK_INTERVAL_MS = 10
PAUSE_SECONDS = 0.15


class SecondField(TimestampAssigner):
    """Takes the timestamp from the second field of a tuple."""

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[1]


def timed(stream: Any, bound_ms: int = 0) -> Any:
    """Assigns the second field of each element as its timestamp."""
    bound = Duration.of_millis(bound_ms)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(bound)
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(SecondField()))


def watermark_after_every_element(env: Any) -> None:
    """Lets nothing hold elements back, and asks for watermarks often."""
    configuration = Configuration()
    configuration.set_string("python.fn-execution.bundle.size", "1")
    env.configure(configuration)
    env.get_config().set_auto_watermark_interval(WATERMARK_INTERVAL_MS)


def paced(env: Any, elements: list[Any], bound_ms: int = 0) -> Any:
    """Tuples with their timestamps in the second field, a watermark after each of them."""

    def pause(element: Any) -> Any:
        time.sleep(PAUSE_SECONDS)
        return element

    return timed(env.from_collection(elements).map(pause).rebalance(), bound_ms)
