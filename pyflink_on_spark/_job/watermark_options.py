"""How often the watermarks of a job are emitted, as its configuration says."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink_on_spark._runtime.watermark_rhythm import WatermarkRhythm
from pyflink_on_spark.common._execution_options import AUTO_WATERMARK_INTERVAL
from pyflink_on_spark.common._option import duration_option, int_option
from pyflink_on_spark.common.configuration import Configuration

ELEMENTS = int_option("pyflink-on-spark.watermark-interval-elements", 10_000)
BUNDLE_SIZE = int_option("python.fn-execution.bundle.size", 100_000)
BUNDLE_TIME = duration_option("python.fn-execution.bundle.time", 1_000)


def watermark_rhythm(settings: Mapping[str, str], bounded: bool) -> WatermarkRhythm:
    """Return how often watermarks are emitted.

    An unbounded job follows the clock: a watermark is due after each auto-watermark interval. In a
    bounded job it is due after a number of elements, so that results repeat where input flows
    without a pause; only where elements are slow the clock counts: once the time of a bundle
    (``python.fn-execution.bundle.time``) has passed, or, if bundles are smaller than that number,
    the auto-watermark interval.

    Args:
        settings: the job's configuration.
        bounded: whether all its sources end.

    Raises:
        ValueError: if an option cannot be read.
    """
    configuration = Configuration.from_dict(dict(settings))
    interval = configuration._read(AUTO_WATERMARK_INTERVAL)
    elements = configuration._read(ELEMENTS)
    if interval <= 0:
        return WatermarkRhythm(None, None)
    if not bounded:
        return WatermarkRhythm(None, interval)
    if configuration._read(BUNDLE_SIZE) < elements:
        return WatermarkRhythm(elements, interval)
    return WatermarkRhythm(elements, max(interval, configuration._read(BUNDLE_TIME)))
