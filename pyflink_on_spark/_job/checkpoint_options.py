"""Where a job is cut: how often it makes checkpoints, how much it reads in an epoch."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink_on_spark.common._option import Option, duration_option, int_option
from pyflink_on_spark.common.configuration import Configuration

NO_INTERVAL = -1
INTERVAL = duration_option("execution.checkpointing.interval", NO_INTERVAL)
EPOCH_ELEMENTS = int_option("pyflink-on-spark.epoch-elements", -1)


def checkpoint_interval(settings: Mapping[str, str]) -> int | None:
    """Return the ms from the beginning of one checkpoint to the next; None for none.

    Args:
        settings: the job's configuration.

    Raises:
        ValueError: if the option cannot be read.
    """
    return _positive(INTERVAL, settings)


def epoch_elements(settings: Mapping[str, str]) -> int | None:
    """Return how many elements each source subtask reads in an epoch at most; None for any number.

    Args:
        settings: the job's configuration.

    Raises:
        ValueError: if the option cannot be read.
    """
    return _positive(EPOCH_ELEMENTS, settings)


def _positive(option: Option[int], settings: Mapping[str, str]) -> int | None:
    value = Configuration.from_dict(dict(settings))._read(option)
    return value if value > 0 else None
