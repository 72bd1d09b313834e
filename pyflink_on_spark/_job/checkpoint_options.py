"""When a job makes checkpoints: after some time, or some elements."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink_on_spark.common._option import Option, duration_option, int_option
from pyflink_on_spark.common.configuration import Configuration

NO_INTERVAL = -1
INTERVAL = duration_option("execution.checkpointing.interval", NO_INTERVAL)
CHECKPOINT_ELEMENTS = int_option("pyflink-on-spark.checkpoint-elements", -1)


def checkpoint_interval(settings: Mapping[str, str]) -> int | None:
    """Return the ms from the beginning of one checkpoint to the next; None for none.

    Args:
        settings: the job's configuration.

    Raises:
        ValueError: if the option cannot be read.
    """
    return _positive(INTERVAL, settings)


def checkpoint_elements(settings: Mapping[str, str]) -> int | None:
    """Return after how many elements a source subtask waits for a checkpoint; None for never.

    Args:
        settings: the job's configuration.

    Raises:
        ValueError: if the option cannot be read.
    """
    return _positive(CHECKPOINT_ELEMENTS, settings)


def _positive(option: Option[int], settings: Mapping[str, str]) -> int | None:
    value = Configuration.from_dict(dict(settings))._read(option)
    return value if value > 0 else None
