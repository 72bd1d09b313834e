"""How often the watermarks of a job are emitted, as its configuration says."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink_on_spark._options.own import WATERMARK_INTERVAL_ELEMENTS
from pyflink_on_spark._options.pipeline import AUTO_WATERMARK_INTERVAL
from pyflink_on_spark._options.python import BUNDLE_SIZE, BUNDLE_TIME
from pyflink_on_spark._runtime.elements.watermark_rhythm import WatermarkRhythm


def watermark_rhythm(settings: Mapping[str, str], bounded: bool) -> WatermarkRhythm:
    """Return how often watermarks are emitted.

    An unbounded job follows the clock: a watermark is due after each auto-watermark interval. In a
    bounded job it is due after a number of elements, so that results repeat where input flows
    without a pause; only where elements are slow the clock counts: once the time of a bundle
    (``python.fn-execution.bundle.time``) has passed, or, if bundles are smaller than that number,
    the auto-watermark interval. The watermark of a table also follows a row that takes it further
    than the interval, as Flink's does.

    Args:
        settings: the job's configuration.
        bounded: whether all its sources end.

    Raises:
        ValueError: if an option cannot be read.
    """
    interval = AUTO_WATERMARK_INTERVAL.read(settings)
    elements = WATERMARK_INTERVAL_ELEMENTS.read(settings)
    if interval <= 0:
        return WatermarkRhythm(None, None, 0)
    if not bounded:
        return WatermarkRhythm(None, interval, interval)
    if BUNDLE_SIZE.is_set(settings) and BUNDLE_SIZE.read(settings) < elements:
        return WatermarkRhythm(elements, interval, interval)
    return WatermarkRhythm(elements, max(interval, BUNDLE_TIME.read(settings)), interval)
